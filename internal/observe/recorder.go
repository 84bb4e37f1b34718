package observe

import (
	"context"
	"slices"
	"sync"
	"time"

	"seckill/internal/tap"
)

// A Sent is one command of a buyer, or one wait, as it was seen.
type Sent struct {
	Who     string
	Command *tap.Command
	Text    string // plain
	Renewer bool
	At      time.Duration // since the recorder began
	Took    time.Duration // 0 while it is under way
	Done    bool
	Err     error  // what came back
	Reply   string // plain
}

// A Hold is a time during which a buyer surely had the lock: from the grant to the
// call of its release. Two that overlap are a lock that failed.
type Hold struct {
	Who      string
	From, To time.Duration // To is 0 while they have it
}

// A Recorder keeps what several buyers send and when they have the lock, on one
// clock. It is for several goroutines.
type Recorder struct {
	mu     sync.Mutex
	names  *Names
	began  time.Time
	limit  int // entries; 0: none
	list   []Sent
	held   []Hold
	places map[*tap.Command]int
	cut    bool
}

// NewRecorder keeps the first limit entries; 0: all.
func NewRecorder(names *Names, limit int) *Recorder {
	return &Recorder{names: names, began: time.Now(), limit: limit, places: map[*tap.Command]int{}}
}

// Start sets the clock to 0.
func (r *Recorder) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began = time.Now()
}

// Now is the recorder's time.
func (r *Recorder) Now() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.began)
}

// Plain is Names.Plain.
func (r *Recorder) Plain(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names.Plain(text)
}

// Sent notes that a buyer sends c.
func (r *Recorder) Sent(ctx context.Context, who string, c *tap.Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limit > 0 && len(r.list) == r.limit {
		r.cut = true
		return
	}
	r.places[c] = len(r.list)
	r.list = append(r.list, Sent{Who: who, Command: c, Text: r.names.Plain(Describe(c)), Renewer: tap.IsBackground(ctx),
		At: time.Since(r.began)})
}

// Answered notes what came back.
func (r *Recorder) Answered(c *tap.Command, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, known := r.places[c]
	if !known {
		return
	}
	delete(r.places, c)
	s := &r.list[at]
	s.Took, s.Done, s.Err, s.Reply = time.Since(r.began)-s.At, true, err, r.names.Reply(c)
}

// granted notes that a buyer has the lock.
func (r *Recorder) granted(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, Hold{Who: who, From: time.Since(r.began)})
}

// releases notes that a buyer is about to give the lock back.
func (r *Recorder) releases(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.held {
		if h := &r.held[i]; h.Who == who && h.To == 0 {
			h.To = time.Since(r.began)
		}
	}
}

// Held is when the lock was had so far.
func (r *Recorder) Held() []Hold {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.held)
}

// List is all that was seen so far, and whether something did not fit.
func (r *Recorder) List() (list []Sent, cut bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list = slices.Clone(r.list)
	for i := range list {
		if !list[i].Done {
			list[i].Took = time.Since(r.began) - list[i].At
		}
	}
	return list, r.cut
}
