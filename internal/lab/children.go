package lab

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Children are the processes of a lab: its servers and services. None outlives the
// program, however that ends (a panic, kill -9): the keeper, a shell, then kills what is
// left and removes the lab's folder. Its command line has neither the program's name nor
// the folder's, so `pkill -f` does not find it.
type children struct {
	keeper *exec.Cmd      // nil: there is no shell, as in a container, which ends as a whole
	tell   io.WriteCloser // to the keeper; closed: it goes to work

	mu     sync.Mutex // also held while one starts
	all    map[*running]bool
	closed bool // no more may start
}

// A running process, from its start to its end.
type running struct {
	process *os.Process
	done    chan struct{} // closed when it ended
	ended   string        // how, once done is closed
}

// endedWell is how a process ends that succeeded.
const endedWell = "exit status 0"

//go:embed keeper.sh
var keeperScript string

func newChildren(folder string, env []string) (*children, error) {
	c := &children{all: map[*running]bool{}, keeper: exec.Command("/bin/sh", "-c", keeperScript)}
	c.keeper.Env, c.keeper.Dir = env, "/"
	c.keeper.SysProcAttr = ownGroup()
	var err error
	if c.tell, err = c.keeper.StdinPipe(); err == nil {
		err = c.keeper.Start()
	}
	switch {
	case err == nil:
		_, err = fmt.Fprintln(c.tell, folder)
	case errors.Is(err, fs.ErrNotExist):
		c.keeper, err = nil, nil
	}
	return c, err
}

// ownGroup is out of reach of the terminal's signals: Ctrl-C is for the program, which
// ends its children in order.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// startChild runs a command, whose output is appended to a file.
func (c *children) startChild(cmd *exec.Cmd, logFile string) (*running, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, ownGroup()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.New("the lab has been stopped")
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	r := &running{process: cmd.Process, done: make(chan struct{})}
	c.all[r] = true
	fmt.Fprintln(c.tell, "began", r.process.Pid)
	go func() {
		defer close(r.done)
		cmd.Wait() // its error repeats ProcessState
		r.ended = cmd.ProcessState.String()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, r)
		fmt.Fprintln(c.tell, "ended", r.process.Pid)
	}()
	return r, nil
}

// killAll kills what still runs, whose data goes with the folder, and waits for all. No more
// may start.
func (c *children) killAll(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	all := slices.Collect(maps.Keys(c.all))
	c.mu.Unlock()
	for _, r := range all {
		_ = r.process.Kill()
	}
	for _, r := range all {
		if err := r.awaitExit(ctx); err != nil {
			return fmt.Errorf("process %d of the lab has not ended yet: %w", r.process.Pid, err)
		}
	}
	return nil
}

// dismissKeeper ends the keeper.
func (c *children) dismissKeeper() {
	c.tell.Close()
	if c.keeper != nil {
		_ = c.keeper.Wait() // it may have been killed
	}
}

// sendTerm asks a process to end. A paused one cannot.
func (r *running) sendTerm() error {
	_ = r.process.Signal(syscall.SIGCONT)
	return r.process.Signal(syscall.SIGTERM)
}

func (r *running) awaitExit(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finishing bounds how long a service completes the purchases in flight.
const finishing = 10 * time.Second
