package labapi

import (
	"log/slog"
	"slices"
	"sync"

	"seckill/internal/history"
)

// A book keeps the runs of this process. Whoever watches it is woken by a
// closed channel and reads what is there then: a slow watcher misses steps in
// between, and never holds up a run.
type book struct {
	folder  *history.Folder
	log     *slog.Logger
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
	mishaps *mishaps // nil: it was on in another process
}

const maxRuns = 50

// openBook reads the runs that the history has.
func openBook(folder *history.Folder, log *slog.Logger) *book {
	b := &book{folder: folder, log: log, changed: make(chan struct{})}
	skipped := history.Load(folder, history.Run, func(id string, r Run) error {
		if err := r.check(); err != nil {
			return err
		}
		r.ID = id
		b.entries = append(b.entries, &entry{Run: r})
		return nil
	})
	for _, why := range skipped {
		log.Warn("a file of the history is left out", "why", why)
	}
	slices.SortFunc(b.entries, func(a, b *entry) int { return a.Started.Compare(b.Started) })
	b.makeRoom(maxRuns)
	for i, e := range b.entries { // a page that opens is given the newest whole, as ever
		e.edition = i + 1
	}
	b.edition = len(b.entries)
	return b
}

// begin enters a run.
func (b *book) begin(r Run, stop func()) *entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.makeRoom(maxRuns - 1)
	e := &entry{Run: r, stop: stop}
	b.entries = append(b.entries, e)
	b.announce(e)
	return e
}

// makeRoom forgets the oldest runs.
func (b *book) makeRoom(keep int) {
	for len(b.entries) > keep {
		_ = b.folder.Remove(history.Run, b.entries[0].ID) // it will be tried again after the next start
		b.entries = slices.Delete(b.entries, 0, 1)
	}
}

// keep writes a run that has ended into the history, or says why it could not.
func (b *book) keep(ended Run) (notKept string) {
	err := b.folder.Put(history.Run, ended.ID, ended)
	switch {
	case err != nil:
		b.log.Warn("a run is not kept", "run", ended.ID, "error", err)
		return err.Error()
	case b.folder.Dir() == "":
		return "the lab was started without a folder for its history"
	}
	return ""
}

// let says through what faults are added to a run.
func (b *book) let(e *entry, m *mishaps) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e.mishaps = m
}

// mishapsOf is nil for a run that was on in another process.
func (b *book) mishapsOf(e *entry) *mishaps {
	b.mu.Lock()
	defer b.mu.Unlock()
	return e.mishaps
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
	if e != nil && (e.State == Running || e.State == Preparing) {
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
	return e.whole()
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
	r := reader{edition: b.edition, lab: b.lab}
	if n := len(b.entries); n > 0 {
		r.edition = b.entries[n-1].edition - 1
	}
	return b.summaries(), r
}

// news is what a watcher has not seen yet.
type news struct {
	lab      bool  // what the runs run on has changed
	runs     []Run // whose state changed, oldest first
	snapshot *Run  // the newest run, with the points since
	changed  <-chan struct{}
}

// A reader remembers what one watcher has seen.
type reader struct {
	lab     int
	edition int
	steps   int   // of the newest run,
	points  []int // and of its lanes
}

// next returns the news for r and remembers them as seen.
func (b *book) next(r *reader) news {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := news{changed: b.changed, lab: b.lab > r.lab}
	r.lab = b.lab
	for i, e := range b.entries {
		newest := i == len(b.entries)-1
		switch {
		case e.edition > r.edition:
			n.runs = append(n.runs, e.whole())
		case newest && e.steps > r.steps:
			progress := e.since(r.points)
			n.snapshot = &progress
		}
		if newest {
			r.steps, r.points = e.steps, e.points()
		}
	}
	r.edition = b.edition
	return n
}
