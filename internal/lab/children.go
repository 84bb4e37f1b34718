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

// children are the servers and service processes of a lab. If the program panics or is killed, its keeper kills these
// processes and removes the lab's folder. The keeper is a shell. Its command line contains neither the name of the
// program nor that of the folder, so `pkill -f` with these names does not kill the keeper.
type children struct {
	keeper *exec.Cmd      // nil if there is no shell, as in a container; a container ends its processes itself
	tell   io.WriteCloser // the keeper's standard input; the keeper kills the processes when this input ends

	mu     sync.Mutex // guards the fields all and closed; also locked while a process starts
	all    map[*running]bool
	closed bool // if true, no more processes may start
}

// A running is one process of the operating system. A restart makes a new one.
type running struct {
	process *os.Process
	done    chan struct{} // closed when the process has ended
	ended   string        // how the process ended; set before done is closed
}

//go:embed keeper.sh
var keeperScript string

func newChildren(folder string, env []string) (*children, error) {
	c := &children{all: map[*running]bool{}, keeper: exec.Command("/bin/sh", "-c", keeperScript)}
	c.keeper.Env, c.keeper.Dir = env, "/"
	c.keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
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

func (c *children) startChild(cmd *exec.Cmd, logFile string) (*running, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	// The signals of the terminal do not reach another process group. So Ctrl-C reaches only this program, which ends
	// the services before the servers.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
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
		cmd.Wait() // ignore the error, which only repeats ProcessState
		r.ended = cmd.ProcessState.String()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.all, r)
		fmt.Fprintln(c.tell, "ended", r.process.Pid)
	}()
	return r, nil
}

// killAll kills all processes and waits until they have ended. After this call, no process can be started.
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
		_ = c.keeper.Wait() // ignore the error, which means that someone has killed the keeper
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

// finishTimeout bounds how long a service process may take to complete its purchases.
const finishTimeout = 10 * time.Second
