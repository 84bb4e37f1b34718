package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// A supervisor is the lab's end of its supervisor process.
type supervisor struct {
	cmd    *exec.Cmd
	pipe   io.WriteCloser
	stderr tail
	lost   chan struct{} // closed when the process has ended

	mu       sync.Mutex
	requests *json.Encoder
	last     int
	answers  map[int]chan answer
	children map[int]*running
}

// An answer is a report and, if a process was started, that process.
type answer struct {
	report
	started *running
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
	s := &supervisor{cmd: exec.Command(executable, supervisorArg), lost: make(chan struct{}),
		answers: map[int]chan answer{}, children: map[int]*running{}}
	s.cmd.SysProcAttr = supervisorAttributes()
	s.cmd.Stderr = &s.stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if s.pipe, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	s.requests = json.NewEncoder(s.pipe)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the lab's supervisor: %w", err)
	}
	go s.receive(out)
	return s, nil
}

// receive handles reports until the process ends.
func (s *supervisor) receive(out io.Reader) {
	lines := json.NewDecoder(out)
	for {
		var r report
		if err := lines.Decode(&r); err != nil {
			break
		}
		s.handle(r)
	}
	s.cmd.Process.Kill() // it has ended, or sends something else than reports
	s.cmd.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.children {
		if p, err := os.FindProcess(c.pid); err == nil {
			p.Kill() // on systems without a death signal
		}
		c.end("killed with the supervisor")
	}
	close(s.lost)
}

func (s *supervisor) handle(r report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ID == 0 {
		s.children[r.PID].end(r.Ended)
		delete(s.children, r.PID)
		return
	}
	a := answer{report: r}
	if r.PID != 0 {
		a.started = &running{pid: r.PID, done: make(chan struct{})}
		s.children[r.PID] = a.started
	}
	s.answers[r.ID] <- a
	delete(s.answers, r.ID)
}

func (c *running) end(how string) {
	c.ended = how
	close(c.done)
}

// ask sends a request and waits for its answer.
func (s *supervisor) ask(ctx context.Context, r request) (answer, error) {
	answered := make(chan answer, 1)
	s.mu.Lock()
	s.last++
	r.ID = s.last
	s.answers[r.ID] = answered
	err := s.requests.Encode(r)
	s.mu.Unlock()
	if err != nil {
		return answer{}, errSupervisorLost
	}
	select {
	case a := <-answered:
		if a.Error != "" {
			return a, errors.New(a.Error)
		}
		return a, nil
	case <-s.lost:
		return answer{}, s.lostError()
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

func (s *supervisor) lostError() error {
	if text := s.stderr.String(); text != "" {
		return fmt.Errorf("%w; it wrote: %s", errSupervisorLost, text)
	}
	return errSupervisorLost
}

// start runs a command. If ctx ends first, the process may have been started; it
// ends with the lab.
func (s *supervisor) start(ctx context.Context, c command) (*running, error) {
	a, err := s.ask(ctx, request{Start: &c})
	return a.started, err
}

func (s *supervisor) control(ctx context.Context, r *running, do action) error {
	_, err := s.ask(ctx, request{Control: &control{r.pid, do}})
	return err
}

// shutDown ends every process and waits until the last has ended.
func (s *supervisor) shutDown(ctx context.Context) error {
	s.mu.Lock()
	err := s.requests.Encode(request{Bye: true})
	s.pipe.Close()
	s.mu.Unlock()
	select {
	case <-s.lost:
		if err != nil {
			return s.lostError()
		}
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

// A tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	end []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p...)
	t.end = t.end[max(0, len(t.end)-2000):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.end))
}
