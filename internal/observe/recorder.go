package observe

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/tap"
)

// A Sent is one command of a buyer, or one wait, as it was seen. Its texts are plain,
// its times microseconds since the recorder began.
type Sent struct {
	Who        string `json:"who"`
	Backend    string `json:"backend"` // as the tap names them
	Text       string `json:"command"`
	Result     string `json:"result,omitempty"` // an error
	Reply      string `json:"reply,omitempty"`  // what it answered
	At         int64  `json:"start_us"`
	Took       int64  `json:"took_us"`              // so far, while it is under way
	Background bool   `json:"background,omitempty"` // of a lock's renewer

	Command *tap.Command `json:"-"`
	Done    bool         `json:"-"`
}

// A Hold is a time during which a buyer surely had the lock: from the grant to the
// call of its release. Two that overlap are a lock that failed.
type Hold struct {
	Who  string `json:"who"`
	From int64  `json:"from_us"`
	To   int64  `json:"to_us"` // so far, while they have it
}

// A Recorder keeps what several buyers send and when they have the lock, on one
// clock. It is for several goroutines.
type Recorder struct {
	mu    sync.Mutex
	names *Names
	began time.Time
	list  []*Sent
	held  []Hold
}

// NewRecorder begins now.
func NewRecorder(names *Names) *Recorder {
	return &Recorder{names: names, began: time.Now()}
}

// now is the recorder's time. The caller holds mu.
func (r *Recorder) now() int64 { return time.Since(r.began).Microseconds() }

// Sent notes that a buyer sends c.
func (r *Recorder) Sent(ctx context.Context, who string, c *tap.Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &Sent{Who: who, Backend: c.Backend, Command: c, Text: r.names.Plain(Describe(c)), Background: tap.IsBackground(ctx), At: r.now()}
	c.Own = s
	r.list = append(r.list, s)
}

// Answered notes what came back.
func (r *Recorder) Answered(c *tap.Command, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := c.Own.(*Sent)
	s.Took, s.Done, s.Reply = r.now()-s.At, true, r.names.Reply(c)
	if err != nil {
		s.Result = r.names.Plain(err.Error())
	}
}

// granted notes that a buyer has the lock.
func (r *Recorder) granted(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, Hold{Who: who, From: r.now()})
}

// releases notes that a buyer is about to give the lock back.
func (r *Recorder) releases(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.held {
		if h := &r.held[i]; h.Who == who && h.To == 0 {
			h.To = r.now()
		}
	}
}

// List is what was sent so far, in the order in which it was, and when the lock was had.
func (r *Recorder) List() (list []Sent, held []Hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.list {
		sent := *s
		if !sent.Done {
			sent.Took = r.now() - sent.At
		}
		list = append(list, sent)
	}
	held = slices.Clone(r.held)
	for i := range held {
		if held[i].To == 0 {
			held[i].To = r.now()
		}
	}
	return list, held
}

// A Gate is the tap.Tap and Holder of one buyer: it records what they send and when
// they have the lock, and stops them before the first command of their own that it
// is asked about, until it is opened.
type Gate struct {
	*Recorder
	Reached chan struct{} // closed when the buyer stands there
	Open    func()        // lets the buyer go on

	who    string
	at     func(n int, c *tap.Command) bool
	stands func()
	opened chan struct{}
	n      atomic.Int64 // commands of the buyer's own so far
}

// NewGate stops a buyer before the first command for which at says so; n counts
// from 0. Nil never does.
func NewGate(r *Recorder, who string, at func(n int, c *tap.Command) bool) *Gate {
	if at == nil {
		at = func(int, *tap.Command) bool { return false }
	}
	g := &Gate{Recorder: r, who: who, at: at, Reached: make(chan struct{}), opened: make(chan struct{})}
	g.Open = sync.OnceFunc(func() { close(g.opened) })
	g.stands = sync.OnceFunc(func() { close(g.Reached) })
	return g
}

// Before implements tap.Tap.
func (g *Gate) Before(ctx context.Context, c *tap.Command) error {
	if tap.IsBackground(ctx) {
		g.Sent(ctx, g.who, c)
		return nil
	}
	if g.at(int(g.n.Add(1)-1), c) {
		g.stands()
		<-g.opened
	}
	g.Sent(ctx, g.who, c)
	return nil
}

// After implements tap.Tap.
func (g *Gate) After(_ context.Context, c *tap.Command, err error) error {
	g.Answered(c, err)
	return err
}

// Holds implements Holder.
func (g *Gate) Holds(bool) { g.granted(g.who) }

// Frees implements Holder.
func (g *Gate) Frees() { g.releases(g.who) }

// Freed implements Holder.
func (g *Gate) Freed() {}

// Commands are those of the buyer's own that were sent so far.
func (g *Gate) Commands() (list []*tap.Command) {
	sent, _ := g.List()
	for _, s := range sent {
		if s.Who == g.who && !s.Background {
			list = append(list, s.Command)
		}
	}
	return list
}
