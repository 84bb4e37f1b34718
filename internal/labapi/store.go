package labapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/history"
	"seckill/internal/web"
)

// A State of a run or a comparison. One that was stopped is judged like any
// other, so that it ends as Done, too.
type State string

const (
	Preparing State = "preparing" // the service processes are started as it wants them
	Running   State = "running"
	Stopping  State = "stopping" // a page asked it to; buyers under way are waited for
	Done      State = "done"     // it has a result
	Failed    State = "failed"   // it has none
	Removed   State = "removed"  // it is no longer in the history
)

// Ended reports whether nothing more will happen.
func (s State) Ended() bool { return s == Done || s == Failed }

// A Record is what runs and comparisons have in common.
type Record struct {
	ID      string    `json:"id"`
	State   State     `json:"state"`
	Stopped bool      `json:"stopped"` // a page ended it early
	Started time.Time `json:"started"`
	// NotKept says why it is not on disk, and will be gone with the lab.
	NotKept string `json:"not_kept,omitempty"`
}

func (r *Record) record() *Record { return r }

// recorded is a pointer to a Run or to a Comparison.
type recorded[T any] interface {
	*T
	record() *Record
	whole() T     // a copy
	summary() T   // a copy without what is large
	lighten()     // drops what is read from its file when it is asked for
	check() error // refuses what was read and is no whole entry
}

// A store keeps runs, or comparisons: those of this lab, and those that ended,
// also in labs before it, as files of the history.
type store[T any, P recorded[T]] struct {
	kind    history.Kind
	most    int // are kept; then the oldest make room
	folder  *history.Folder
	log     *slog.Logger
	bell    *bell
	skipped []string // files that could not be read

	mu      sync.Mutex
	entries []*entry[T, P] // oldest first
	clock   int            // counts changes
}

type entry[T any, P recorded[T]] struct {
	value   T
	changed int // the store's clock when the state last changed,
	stepped int // and when anything else did
	stop    func()
}

func (e *entry[T, P]) record() *Record { return P(&e.value).record() }

// openStore reads the history.
func openStore[T any, P recorded[T]](of *Server, kind history.Kind, most int) *store[T, P] {
	s := &store[T, P]{kind: kind, most: most, folder: of.History, log: of.Log, bell: of.bell}
	skipped := history.Load(s.folder, s.kind, func(id string, value T) error {
		read := P(&value)
		if err := read.check(); err != nil {
			return err
		}
		read.record().ID = id
		read.lighten()
		s.entries = append(s.entries, &entry[T, P]{value: value})
		return nil
	})
	for _, why := range skipped {
		s.log.Warn("a file of the history is left out", "why", why)
		s.skipped = append(s.skipped, why.Error())
	}
	slices.SortFunc(s.entries, func(a, b *entry[T, P]) int { return a.record().Started.Compare(b.record().Started) })
	s.makeRoom(s.most)
	for _, e := range s.entries {
		s.clock++
		e.changed = s.clock
	}
	return s
}

// begin enters a run or a comparison; stop asks it to end.
func (s *store[T, P]) begin(value T, stop func()) *entry[T, P] {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(s.most - 1)
	e := &entry[T, P]{value: value, stop: stop}
	s.entries = append(s.entries, e)
	s.announce(e)
	return e
}

// change edits an entry; step does, and reports whether its state changed.
// A page is told of all that changed, and of the progress of the others.
func (s *store[T, P]) change(e *entry[T, P], edit func(P)) {
	s.step(e, func(p P) bool { edit(p); return true })
}

func (s *store[T, P]) step(e *entry[T, P], edit func(P) (changed bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if edit(&e.value) {
		s.announce(e)
		return
	}
	s.clock++
	e.stepped = s.clock
	s.bell.ring()
}

func (s *store[T, P]) announce(e *entry[T, P]) {
	s.clock++
	e.changed = s.clock
	s.bell.ring()
}

// keep writes what has ended into the history, and returns what stays of it in
// memory: all, if that fails.
func (s *store[T, P]) keep(ended T) T {
	r := P(&ended).record()
	err := s.folder.Put(s.kind, r.ID, ended)
	switch {
	case err != nil:
		s.log.Warn("a result is not kept", "kind", s.kind, "id", r.ID, "error", err)
		r.NotKept = err.Error()
	case s.folder.Dir() == "":
		r.NotKept = "the lab was started without a folder for its history"
	default:
		P(&ended).lighten()
	}
	return ended
}

// stop asks e to end, or all that are on if e is nil.
func (s *store[T, P]) stop(e *entry[T, P]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.entries {
		r := it.record()
		if (e == nil || it == e) && (r.State == Running || r.State == Preparing) {
			r.State, r.Stopped = Stopping, true
			it.stop()
			s.announce(it)
		}
	}
}

// makeRoom removes the oldest that have ended.
func (s *store[T, P]) makeRoom(keep int) {
	over := -keep
	for _, e := range s.entries {
		if e.record().State != Removed {
			over++
		}
	}
	for _, e := range s.entries {
		if r := e.record(); over > 0 && r.State.Ended() {
			over--
			_ = s.folder.Remove(s.kind, r.ID) // the next lab tries again
			s.clear(e)
		}
	}
}

// remove takes one that has ended out of the history.
func (s *store[T, P]) remove(e *entry[T, P]) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.folder.Remove(s.kind, e.record().ID); err != nil {
		return err
	}
	s.clear(e)
	return nil
}

// clear leaves what tells open pages that the entry is gone.
func (s *store[T, P]) clear(e *entry[T, P]) {
	r := *e.record()
	var gone T
	*P(&gone).record() = Record{ID: r.ID, State: Removed, Started: r.Started}
	e.value = gone
	s.announce(e)
}

// find returns nil for an unknown id.
func (s *store[T, P]) find(id string) *entry[T, P] {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if r := e.record(); r.ID == id && r.State != Removed {
			return e
		}
	}
	return nil
}

// unknown are the codes of what is not there.
var unknown = map[history.Kind]string{history.Run: "unknown_run", history.Comparison: "unknown_comparison", history.Trace: "unknown_trace"}

// at finds what a call names.
func (s *store[T, P]) at(c *gin.Context) (*entry[T, P], error) {
	if e := s.find(c.Param("id")); e != nil {
		return e, nil
	}
	return nil, &web.Problem{Code: unknown[s.kind], Status: http.StatusNotFound,
		Detail: fmt.Sprintf("There is no such %s; the last %d are kept.", s.kind, s.most)}
}

func (s *store[T, P]) read(e *entry[T, P]) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return P(&e.value).whole()
}

// list returns summaries, newest first.
func (s *store[T, P]) list() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]T, 0, len(s.entries))
	for _, e := range slices.Backward(s.entries) {
		if e.record().State != Removed {
			all = append(all, P(&e.value).summary())
		}
	}
	return all
}

// open is the clock for a new page: it will be told of all that are on, and of
// the newest in any case if newest.
func (s *store[T, P]) open(newest bool) (seen int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen = s.clock
	for i, e := range s.entries {
		state := e.record().State
		if !state.Ended() && state != Removed || newest && i == len(s.entries)-1 {
			seen = min(seen, e.changed-1)
		}
	}
	return seen
}

// next shows a page all that is new to it, oldest first: entries whose state
// changed, and the progress of others. show must not keep the pointer.
func (s *store[T, P]) next(seen *int, show func(p P, changed bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.changed > *seen || e.stepped > *seen {
			show(&e.value, e.changed > *seen)
		}
	}
	*seen = s.clock
}

// A bell wakes all pages. They read what is there then: a slow page misses
// steps in between, and never holds up a run.
type bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

func newBell() *bell { return &bell{rung: make(chan struct{})} }

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}

// next is closed when the bell rings next. Ask before you look for news.
func (b *bell) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}
