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

// A keeper is the lab's end of its keeper process.
type keeper struct {
	cmd    *exec.Cmd
	pipe   io.WriteCloser
	errors tail
	lost   chan struct{} // closed when the process is gone

	mu       sync.Mutex
	orders   *json.Encoder
	last     int
	answers  map[int]chan answer
	children map[int]*running
}

// An answer is a report and, if it tells of a start, what was started.
type answer struct {
	report
	started *running
}

// A running process, from its start to its end.
type running struct {
	pid   int
	done  chan struct{} // closed when it ended
	ended string        // how, when done is closed
	asked atomic.Bool   // the lab told it to end
}

var errKeeperLost = errors.New("the lab's keeper process is gone, and all its servers with it: start the lab again")

func startKeeper(executable string) (*keeper, error) {
	if !hooked {
		return nil, errors.New("main (in tests: TestMain) must call lab.RunKeeperIfAsked first")
	}
	k := &keeper{cmd: exec.Command(executable), lost: make(chan struct{}),
		answers: map[int]chan answer{}, children: map[int]*running{}}
	k.cmd.Env = append(os.Environ(), keeperEnv+"=1")
	k.cmd.SysProcAttr = keeperAttributes()
	k.cmd.Stderr = &k.errors
	out, err := k.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if k.pipe, err = k.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	k.orders = json.NewEncoder(k.pipe)
	if err := k.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the lab's keeper: %w", err)
	}
	go k.listen(out)
	return k, nil
}

func (k *keeper) listen(out io.Reader) {
	lines := json.NewDecoder(out)
	for {
		var r report
		if err := lines.Decode(&r); err != nil {
			break
		}
		k.hear(r)
	}
	k.cmd.Process.Kill() // it talks no more, or nonsense
	k.cmd.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.children {
		if p, err := os.FindProcess(c.pid); err == nil {
			p.Kill() // where no death signal does it
		}
		c.end("killed with the keeper")
	}
	close(k.lost)
}

func (k *keeper) hear(r report) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.ID == 0 {
		k.children[r.PID].end(r.Ended)
		delete(k.children, r.PID)
		return
	}
	a := answer{report: r}
	if r.PID != 0 {
		a.started = &running{pid: r.PID, done: make(chan struct{})}
		k.children[r.PID] = a.started
	}
	k.answers[r.ID] <- a
	delete(k.answers, r.ID)
}

func (c *running) end(how string) {
	c.ended = how
	close(c.done)
}

// ask sends an order and waits for its answer.
func (k *keeper) ask(ctx context.Context, o order) (answer, error) {
	answered := make(chan answer, 1)
	k.mu.Lock()
	k.last++
	o.ID = k.last
	k.answers[o.ID] = answered
	err := k.orders.Encode(o)
	k.mu.Unlock()
	if err != nil {
		return answer{}, errKeeperLost
	}
	select {
	case a := <-answered:
		if a.Error != "" {
			return a, errors.New(a.Error)
		}
		return a, nil
	case <-k.lost:
		return answer{}, k.lostError()
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
}

func (k *keeper) lostError() error {
	if said := k.errors.String(); said != "" {
		return fmt.Errorf("%w; its last words: %s", errKeeperLost, said)
	}
	return errKeeperLost
}

// start runs a command. When ctx ends first it may have been started; it ends
// with the lab.
func (k *keeper) start(ctx context.Context, c command) (*running, error) {
	a, err := k.ask(ctx, order{Start: &c})
	return a.started, err
}

func (k *keeper) instruct(ctx context.Context, r *running, what instruction) error {
	_, err := k.ask(ctx, order{Signal: &request{r.pid, what}})
	return err
}

// goodbye ends everything and waits until it has ended.
func (k *keeper) goodbye(ctx context.Context) error {
	k.mu.Lock()
	err := k.orders.Encode(order{Bye: true})
	k.pipe.Close()
	k.mu.Unlock()
	select {
	case <-k.lost:
		if err != nil {
			return k.lostError()
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the lab's processes have not ended yet (their keeper, process %d, goes on ending them): %w",
			k.cmd.Process.Pid, ctx.Err())
	}
}

// dismiss ends a keeper that has nothing to keep, though it may be about to
// make a folder, and kills what only looked like one.
func (k *keeper) dismiss() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if k.goodbye(ctx) != nil {
		k.cmd.Process.Kill()
		<-k.lost
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
