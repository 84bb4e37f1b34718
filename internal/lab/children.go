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

// children are the servers and service processes of a lab. None of them outlives the program, even if the program
// panics or is killed: a keeper, which is a shell, kills the remaining processes and removes the lab's folder.
// The keeper's command line has neither the name of the program nor of the folder, so `pkill -f` does not find it.
type children struct {
	keeper *exec.Cmd      // nil if there is no shell, as in a container, whose processes all end with it
	tell   io.WriteCloser // the keeper's standard input; the keeper begins its work when this is closed

	mu     sync.Mutex // guards all and closed; also locked while a process starts
	all    map[*running]bool
	closed bool // no more processes may start
}

// A running is one process from its start to its end.
type running struct {
	process *os.Process
	done    chan struct{} // closed when the process has ended
	ended   string        // how the process ended; set before done is closed
}

// exitedWell is the value of running.ended of a process that succeeded.
const exitedWell = "exit status 0"

//go:embed keeper.sh
var keeperScript string

func newChildren(folder string, env []string) (*children, error) {
	c := &children{all: map[*running]bool{}, keeper: exec.Command("/bin/sh", "-c", keeperScript)}
	c.keeper.Env, c.keeper.Dir = env, "/"
	c.keeper.SysProcAttr = newProcessGroup()
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

// newProcessGroup keeps the signals of the terminal from a process. Ctrl-C reaches the program only, which ends
// its children in order.
func newProcessGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// startChild starts a command and appends its output to a file.
func (c *children) startChild(cmd *exec.Cmd, logFile string) (*running, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = log, log, newProcessGroup()
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
		cmd.Wait() // the error of Wait only repeats ProcessState
		r.ended = cmd.ProcessState.String()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, r)
		fmt.Fprintln(c.tell, "ended", r.process.Pid)
	}()
	return r, nil
}

// killAll kills all processes and waits until they have ended. No more processes may start.
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

func (c *children) dismissKeeper() {
	c.tell.Close()
	if c.keeper != nil {
		_ = c.keeper.Wait() // an error means that the keeper was killed
	}
}

func (r *running) awaitExit(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finishTimeout bounds how long a service process may complete its purchases.
const finishTimeout = 10 * time.Second
