package observe

import (
	"context"
	"slices"
	"sync"
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
