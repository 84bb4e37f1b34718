package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/rpc"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// A supervisor is the lab's end of its supervisor process.
type supervisor struct {
	cmd    *exec.Cmd
	pipe   io.WriteCloser // closed: it ends
	client *rpc.Client
	lost   chan struct{} // closed when the process has ended
	asked  atomic.Bool   // to end
}

// A running process, from its start to its end.
type running struct {
	pid   int
	done  chan struct{} // closed when it ended
	ended string        // how, once done is closed
	asked atomic.Bool   // the lab told it to end
}

var errSupervisorLost = errors.New("the lab's supervisor process has ended, and all its servers with it: start the lab again")

func startSupervisor(executable string) (*supervisor, error) {
	if !hooked {
		return nil, errors.New("main (in tests: TestMain) must call lab.RunSupervisorIfAsked first")
	}
	s := &supervisor{cmd: exec.Command(executable, supervisorArg), lost: make(chan struct{})}
	s.cmd.SysProcAttr = supervisorAttributes()
	s.cmd.Stderr = os.Stderr // where it says nothing, unless it crashes
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.pipe, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the lab's supervisor: %w", err)
	}
	s.client = rpc.NewClient(struct {
		io.Reader
		io.WriteCloser
	}{out, s.pipe})
	go func() {
		s.cmd.Wait()
		close(s.lost)
	}()
	return s, nil
}

// call asks the process, by one of the methods of supervising.
func (s *supervisor) call(ctx context.Context, method string, args, answer any) error {
	select {
	case c := <-s.client.Go(rpcName+"."+method, args, answer, make(chan *rpc.Call, 1)).Done:
		var refused rpc.ServerError
		if c.Error == nil || errors.As(c.Error, &refused) {
			return c.Error
		}
		return errSupervisorLost
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start runs a command. If ctx ends first, the process may have been started; it
// ends with the lab.
func (s *supervisor) start(ctx context.Context, c Command) (*running, error) {
	r := &running{done: make(chan struct{})}
	if err := s.call(ctx, "Start", c, &r.pid); err != nil {
		return nil, err
	}
	go func() {
		defer close(r.done)
		if s.call(context.Background(), "Wait", r.pid, &r.ended) == nil {
			return
		}
		r.ended = "killed with the supervisor"
		if p, err := os.FindProcess(r.pid); err == nil && !s.asked.Load() {
			p.Kill() // on systems without a death signal
		}
	}()
	return r, nil
}

func (s *supervisor) control(ctx context.Context, r *running, do action) error {
	return s.call(ctx, "Control", Control{r.pid, do}, new(bool))
}

// shutDown ends every process and waits until the last has ended.
func (s *supervisor) shutDown(ctx context.Context) error {
	select {
	case <-s.lost:
		return errSupervisorLost
	default:
	}
	s.asked.Store(true)
	s.pipe.Close()
	select {
	case <-s.lost:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the lab's processes have not ended yet (their supervisor, process %d, goes on ending them): %w",
			s.cmd.Process.Pid, ctx.Err())
	}
}

// discard ends a supervisor that has made no folder, or may be about to, and
// kills a program that is no supervisor.
func (s *supervisor) discard() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if s.shutDown(ctx) != nil {
		s.cmd.Process.Kill()
		<-s.lost
	}
}
