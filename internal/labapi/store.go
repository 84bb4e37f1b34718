package labapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/game"
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
)

// Ended reports whether nothing more will happen.
func (s State) Ended() bool { return s == Done || s == Failed }

// A Record is what runs, comparisons and traces have in common.
type Record struct {
	ID      string    `json:"id"`
	State   State     `json:"state"`
	Stopped bool      `json:"stopped"` // a page ended it early
	Started time.Time `json:"started"`
}

func (r *Record) record() *Record { return r }

// hasEnded reports whether r is as it was when it ended. Nothing else is kept.
func (r *Record) hasEnded() bool {
	return r.State.Ended() && !r.Started.IsZero() && r.Started.Before(time.Now().Add(24*time.Hour)) // clocks differ
}

// recorded is a pointer to what a store keeps. Readers share the slices of a value, so a
// change replaces them, or only adds to them.
type recorded[T any] interface {
	*T
	record() *Record
	summary() T    // a copy without what is large
	isWhole() bool // it has what a page reads of every one that ended
}

// most is how many of each kind are kept. Then the oldest makes room.
const most = 50

// A store keeps runs, or comparisons, or traces: those of this lab, and those that
// ended, also in labs before it, as files of the history.
type store[T any, P recorded[T]] struct {
	kind   kind
	folder History
	log    *slog.Logger
	bell   *bell

	mu      sync.Mutex
	entries []*entry[T, P] // oldest first; only the newest may be on
	clock   int            // counts changes
}

type entry[T any, P recorded[T]] struct {
	value   T
	changed int    // the store's clock when it last did
	stop    func() // asks it to end
}

func (e *entry[T, P]) record() *Record { return P(&e.value).record() }

// openStore reads the history.
func openStore[T any, P recorded[T]](of *Server, kind kind) *store[T, P] {
	s := &store[T, P]{kind: kind, folder: of.History, log: of.Log, bell: of.bell}
	for id, value := range entriesOf[T](s.folder, s.kind) {
		e := &entry[T, P]{value: value}
		if !e.record().hasEnded() || !P(&e.value).isWhole() || !fillLists(reflect.ValueOf(&e.value)) {
			continue // somebody's own: it is left alone, too
		}
		e.record().ID = id // as its file is called
		s.entries = append(s.entries, e)
	}
	slices.SortFunc(s.entries, func(a, b *entry[T, P]) int { return a.record().Started.Compare(b.record().Started) })
	s.makeRoom(most)
	for _, e := range s.entries {
		s.clock++
		e.changed = s.clock
	}
	return s
}

// makeRoom removes the oldest, so that so many are left.
func (s *store[T, P]) makeRoom(left int) {
	for ; len(s.entries) > left; s.entries = s.entries[1:] {
		s.folder.removeEntry(s.kind, s.entries[0].record().ID)
	}
}

// addEntry takes in what has begun.
func (s *store[T, P]) addEntry(e *entry[T, P]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(most - 1)
	s.entries = append(s.entries, e)
	s.announceChange(e)
}

// begin starts what outlives its request: fill gives the entry its value, and perform
// returns the value it ends with. The turn at driving the lab is the caller's until
// this, and released at the end.
func begin[T any, P recorded[T]](s *Server, c *gin.Context, in *store[T, P], release func(),
	fill func(context.Context, *entry[T, P]), perform func(context.Context, *entry[T, P]) T) (*entry[T, P], error) {
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.closing.Err() != nil { // nothing begins any more
		release()
		return nil, game.LabCloses
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &entry[T, P]{stop: stop}
	fill(ctx, e)
	in.addEntry(e)
	begun := in.readEntry(e)
	s.ongoing.Go(func() {
		defer stop()
		defer release()
		ended := perform(ctx, e)
		in.keepEnded(ended)
		release() // first: a page that is told of the end may begin another, and finds this one in the history
		in.changeEntry(e, func(value P) { *value = ended })
	})
	c.Header("Location", fmt.Sprintf("/api/lab/v1/%ss/%s", in.kind, P(&begun).record().ID))
	c.JSON(http.StatusCreated, P(&begun).summary())
	return e, nil
}

// changeEntry edits an entry, and pages are told of it.
func (s *store[T, P]) changeEntry(e *entry[T, P], edit func(P)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(&e.value)
	s.announceChange(e)
}

func (s *store[T, P]) announceChange(e *entry[T, P]) {
	s.clock++
	e.changed = s.clock
	s.bell.ringBell()
}

// keepEnded writes what has ended into the history.
func (s *store[T, P]) keepEnded(ended T) {
	id := P(&ended).record().ID
	if err := s.folder.writeEntry(s.kind, id, ended); err != nil {
		s.log.Warn("a result will be gone with the lab: it cannot be kept", "kind", s.kind, "id", id, "error", err)
	}
}

// stopEntry asks e to end, or what is on if e is nil.
func (s *store[T, P]) stopEntry(e *entry[T, P]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.entries {
		r := it.record()
		if (e == nil || it == e) && (r.State == Running || r.State == Preparing) {
			r.State, r.Stopped = Stopping, true
			it.stop()
			s.announceChange(it)
		}
	}
}

// unknown are the codes of what is not there.
var unknown = map[kind]string{kindRun: "unknown_run", kindComparison: "unknown_comparison", kindTrace: "unknown_trace"}

// entryAt finds what a call names.
func (s *store[T, P]) entryAt(c *gin.Context) (*entry[T, P], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.record().ID == c.Param("id") {
			return e, nil
		}
	}
	return nil, &web.Problem{Code: unknown[s.kind], Status: http.StatusNotFound,
		Detail: fmt.Sprintf("There is no such %s; the last %d are kept.", s.kind, most)}
}

// answerEntry answers with what a call names, as a whole.
func (s *store[T, P]) answerEntry(c *gin.Context) error {
	e, err := s.entryAt(c)
	if err == nil {
		c.JSON(http.StatusOK, s.readEntry(e))
	}
	return err
}

// stopOne asks what a call names to end. What happened so far is judged, so it ends a
// moment later.
func (s *store[T, P]) stopOne(c *gin.Context) error {
	e, err := s.entryAt(c)
	if err == nil {
		s.stopEntry(e)
		stopping := s.readEntry(e)
		c.JSON(http.StatusAccepted, P(&stopping).summary())
	}
	return err
}

func (s *store[T, P]) readEntry(e *entry[T, P]) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.value
}

// listEntries returns summaries, newest first.
func (s *store[T, P]) listEntries() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]T, 0, len(s.entries))
	for _, e := range slices.Backward(s.entries) {
		all = append(all, P(&e.value).summary())
	}
	return all
}

// clockBeforeLast is the clock of a page that has the list: the newest is still news to it.
func (s *store[T, P]) clockBeforeLast() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.entries) == 0 {
		return s.clock
	}
	return s.entries[len(s.entries)-1].changed - 1
}

// changedSince are all that changed since, oldest first, and the clock now.
func (s *store[T, P]) changedSince(since int) (changed []T, now int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.changed > since {
			changed = append(changed, e.value)
		}
	}
	return changed, s.clock
}

// A bell wakes all pages. They read what is there then: a slow page misses
// steps in between, and never holds up a run.
type bell struct {
	mu   sync.Mutex
	rung chan struct{}
}

func newBell() *bell { return &bell{rung: make(chan struct{})} }

func (b *bell) ringBell() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.rung)
	b.rung = make(chan struct{})
}

// nextRing is closed when the bell rings next. Ask before you look for news.
func (b *bell) nextRing() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rung
}
