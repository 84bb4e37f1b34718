package explore

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/tap"
)

// A SentCommand is one recorded command or wait of a buyer. Its texts are normalized, and
// its times are microseconds since the recorder began.
type SentCommand struct {
	Who        string `json:"who"`
	Backend    string `json:"backend"` // one of the values of tap.Command.Backend
	Text       string `json:"command"`
	Result     string `json:"result,omitempty"` // the error of the command; "" after success
	Reply      string `json:"reply,omitempty"`
	At         int64  `json:"start_us"`
	Took       int64  `json:"took_us"`              // the duration; up to the Snapshot if the command has not returned
	Background bool   `json:"background,omitempty"` // the goroutine that renews a lock sent the command

	Command *tap.Command `json:"-"`
	Done    bool         `json:"-"`
}

// A HeldPeriod is the time from the grant of a lock to the call of its release. The
// lock has failed if the periods of two buyers overlap.
type HeldPeriod struct {
	Who  string `json:"who"`
	From int64  `json:"from_us"`
	To   int64  `json:"to_us"` // the time of the Snapshot if the lock is still held
}

// A Recorder records the commands of several buyers and the times at which each holds the lock. All
// times are of one clock. It is safe for concurrent use.
type Recorder struct {
	mu    sync.Mutex
	names *Normalizer
	began time.Time
	list  []*SentCommand
	held  []HeldPeriod
}

// NewRecorder returns a Recorder whose clock starts now.
func NewRecorder(names *Normalizer) *Recorder {
	return &Recorder{names: names, began: time.Now()}
}

func (r *Recorder) elapsed() int64 { return time.Since(r.began).Microseconds() }

// Snapshot returns the commands so far, in the order in which they were sent, and the
// periods during which the lock was held.
func (r *Recorder) Snapshot() (list []SentCommand, held []HeldPeriod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.list {
		sent := *s
		if !sent.Done {
			sent.Took = r.elapsed() - sent.At
		}
		list = append(list, sent)
	}
	held = slices.Clone(r.held)
	for i := range held {
		if held[i].To == 0 {
			held[i].To = r.elapsed()
		}
	}
	return list, held
}

// A Gate is the tap.Tap and LockObserver of one buyer. It records the buyer's commands and locks. It also stops the
// buyer before one command, which a function selects (see NewGate), until Open is called.
type Gate struct {
	*Recorder
	Reached chan struct{} // closed when the buyer has stopped at the gate
	Open    func()        // lets the buyer go on

	who          string
	isBackground bool // the Gate is that of a background goroutine, which it never stops
	stopAt       func(n int, c *tap.Command) bool
	reach        func()
	opened       chan struct{}
	n            atomic.Int64 // number of the buyer's commands so far, without those of its background goroutines
}

// NewGate returns a Gate that stops the buyer before the first command for which the function
// stopAt returns true. The argument n is the number of the command, from 0.
func NewGate(r *Recorder, who string, stopAt func(n int, c *tap.Command) bool) *Gate {
	g := &Gate{Recorder: r, who: who, stopAt: stopAt, Reached: make(chan struct{}), opened: make(chan struct{})}
	g.Open = sync.OnceFunc(func() { close(g.opened) })
	g.reach = sync.OnceFunc(func() { close(g.Reached) })
	return g
}

// Fork implements tap.Forker.
func (g *Gate) Fork() (tap.Tap, func()) {
	return &Gate{Recorder: g.Recorder, who: g.who, isBackground: true}, func() {}
}

func (g *Gate) Before(_ context.Context, c *tap.Command) error {
	if !g.isBackground && g.stopAt(int(g.n.Add(1)-1), c) {
		g.reach()
		<-g.opened
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &SentCommand{Who: g.who, Backend: c.Backend, Command: c, Text: g.names.Normalize(DescribeCommand(c)),
		Background: g.isBackground, At: g.elapsed()}
	c.Private = s
	g.list = append(g.list, s)
	return nil
}

func (g *Gate) After(_ context.Context, c *tap.Command, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := c.Private.(*SentCommand)
	s.Took, s.Done, s.Reply = g.elapsed()-s.At, true, g.names.NormalizeReply(c)
	if err != nil {
		s.Result = g.names.Normalize(err.Error())
	}
	return err
}

func (g *Gate) LockGranted(bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = append(g.held, HeldPeriod{Who: g.who, From: g.elapsed()})
}

func (g *Gate) LockReleasing() (released func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.held {
		if h := &g.held[i]; h.Who == g.who && h.To == 0 {
			h.To = g.elapsed()
		}
	}
	return func() {}
}

// Commands returns the commands that the buyer has sent so far, without those of its background goroutines.
func (g *Gate) Commands() []*tap.Command {
	var list []*tap.Command
	sent, _ := g.Snapshot()
	for _, s := range sent {
		if s.Who == g.who && !s.Background {
			list = append(list, s.Command)
		}
	}
	return list
}
