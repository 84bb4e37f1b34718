package labapi

import (
	"slices"
	"sync"
)

// A book keeps the runs of this process. Whoever watches it is woken by a
// closed channel and reads what is there then: a slow watcher misses steps in
// between, and never holds up a run.
type book struct {
	mu      sync.Mutex
	entries []*entry // oldest first
	edition int      // counts changes of state, of any run
	lab     int      // counts changes of what they run on
	changed chan struct{}
}

type entry struct {
	Run
	edition int // the book's when this run's state last changed
	steps   int // counts changes of this run, of any kind
	stop    func()
}

const maxRuns = 50

func newBook() *book { return &book{changed: make(chan struct{})} }

// begin enters a run.
func (b *book) begin(r Run, stop func()) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.entries) == maxRuns {
		b.entries = slices.Delete(b.entries, 0, 1)
	}
	e := &entry{Run: r, stop: stop}
	b.entries = append(b.entries, e)
	b.announce(e)
	return e
}

// change edits a run under the lock. announce says that its state is another.
func (b *book) change(e *entry, edit func(*Run) (announce bool)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.steps++
	if edit(&e.Run) {
		b.announce(e)
	} else {
		b.wake()
	}
}

// stop asks a run to end, or whichever is on if e is nil.
func (b *book) stop(e *entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e == nil && len(b.entries) > 0 {
		e = b.entries[len(b.entries)-1]
	}
	if e != nil && e.State == Running {
		e.State, e.Stopped = Stopping, true
		e.stop()
		b.announce(e)
	}
}

func (b *book) announce(e *entry) {
	b.edition++
	e.edition = b.edition
	b.wake()
}

func (b *book) announceLab() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lab++
	b.wake()
}

// nudge has watchers look again, for what is not in the book.
func (b *book) nudge() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake()
}

func (b *book) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *book) find(id string) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.entries {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// read copies a run as it is now.
func (b *book) read(e *entry) Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := e.Run
	r.Points = slices.Clone(r.Points)
	return r
}

// list copies all runs without their course, newest first.
func (b *book) list() []Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.summaries()
}

func (b *book) summaries() []Run {
	runs := make([]Run, 0, len(b.entries))
	for _, e := range slices.Backward(b.entries) {
		runs = append(runs, e.summary())
	}
	return runs
}

// open is list for a watcher, who will be given the newest run in full next.
func (b *book) open() ([]Run, reader) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.summaries(), reader{edition: b.edition - 1, lab: b.lab}
}

// news is what a watcher has not seen yet.
type news struct {
	lab      bool      // what the runs run on has changed
	runs     []Run     // whose state changed, oldest first
	snapshot *snapshot // the newest run's progress since
	changed  <-chan struct{}
}

// A snapshot is how far the newest run has come.
type snapshot struct {
	Run
	From int `json:"from"` // index of the first of Points
}

// A reader remembers what one watcher has seen.
type reader struct {
	lab     int
	edition int
	run     string
	steps   int // of that run, as the points
	points  int
}

// next returns the news for r and remembers them as seen.
func (b *book) next(r *reader) news {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := news{changed: b.changed, lab: b.lab > r.lab}
	r.lab = b.lab
	for _, e := range b.entries {
		if e.edition > r.edition {
			run := e.Run
			run.Points = slices.Clone(run.Points)
			n.runs = append(n.runs, run)
			r.run, r.steps, r.points = run.ID, e.steps, len(run.Points)
		}
	}
	r.edition = b.edition
	if len(b.entries) == 0 {
		return n
	}
	if e := b.entries[len(b.entries)-1]; e.ID == r.run && e.steps > r.steps {
		s := &snapshot{Run: e.Run, From: r.points}
		s.Points = slices.Clone(e.Points[r.points:])
		r.steps, r.points = e.steps, len(e.Points)
		n.snapshot = s
	}
	return n
}
