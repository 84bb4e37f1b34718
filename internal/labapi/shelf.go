package labapi

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"seckill/internal/history"
)

// A shelf keeps comparisons: their summaries in memory, the results of those
// that have ended in the history. What cannot be written there stays in memory.
type shelf struct {
	mu      sync.Mutex
	entries []*shelved // the oldest first
	edition int        // counts changes of any kind
	folder  *history.Folder
	skipped []string // files that could not be read
	wake    func()   // tells the pages that there is something new
}

type shelved struct {
	Comparison
	edition int // the shelf's when this one last changed
	stop    func()
}

// maxComparisons are kept; then the oldest makes room.
const maxComparisons = 100

// openShelf reads the history.
func openShelf(folder *history.Folder, wake func()) *shelf {
	s := &shelf{folder: folder, wake: wake}
	skipped := history.Load(folder, history.Comparison, func(id string, c Comparison) error {
		if c.Result == nil || !c.State.Ended() {
			return errors.New("it has no result")
		}
		if err := c.Result.Check(); err != nil {
			return err
		}
		c.ID = id
		s.entries = append(s.entries, &shelved{Comparison: c.summary()})
		return nil
	})
	slices.SortFunc(s.entries, func(a, b *shelved) int { return a.Started.Compare(b.Started) })
	for _, err := range append(folder.Strangers(), skipped...) {
		s.skipped = append(s.skipped, err.Error())
	}
	return s
}

// begin puts a comparison on the shelf that has just started.
func (s *shelf) begin(c Comparison, stop func()) *shelved {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := &shelved{Comparison: c, stop: stop}
	s.entries = append(s.entries, e)
	s.announce(e)
	return e
}

// change edits a comparison under the lock.
func (s *shelf) change(e *shelved, edit func(*Comparison)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(&e.Comparison)
	s.announce(e)
}

// keep writes a comparison that has ended into the history, and returns what
// stays of it in memory: not the result, unless it could not be written.
func (s *shelf) keep(c Comparison) Comparison {
	err := s.folder.Put(history.Comparison, c.ID, c)
	switch {
	case err != nil:
		c.NotKept = err.Error()
	case s.folder.Dir() == "":
		c.NotKept = "the lab was started without a folder for its history"
	default:
		c.Result = nil
	}
	return c
}

// end is the last change of a comparison that was on.
func (s *shelf) end(e *shelved, c Comparison) {
	s.change(e, func(it *Comparison) { *it = c })
	s.makeRoom()
}

func (s *shelf) makeRoom() {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := -maxComparisons
	for _, e := range s.entries {
		if e.State != Removed {
			over++
		}
	}
	for _, e := range s.entries {
		if over > 0 && e.State.Ended() {
			over--
			_ = s.folder.Remove(history.Comparison, e.ID) // it will be tried again after the next start
			s.clear(e)
		}
	}
}

// remove takes one that has ended out of the history.
func (s *shelf) remove(e *shelved) error {
	if err := s.folder.Remove(history.Comparison, e.ID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear(e)
	return nil
}

// clear leaves what tells pages that are open that it is gone.
func (s *shelf) clear(e *shelved) {
	e.Comparison = Comparison{ID: e.ID, State: Removed, Started: e.Started}
	s.announce(e)
}

// stop asks whichever is on, or e alone, to end.
func (s *shelf) stop(e *shelved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, it := range s.entries {
		if (e == nil || it == e) && it.State == Running {
			it.State, it.Stopped = Stopping, true
			it.stop()
			s.announce(it)
		}
	}
}

func (s *shelf) announce(e *shelved) {
	s.edition++
	e.edition = s.edition
	s.wake()
}

func (s *shelf) find(id string) *shelved {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.ID == id && e.State != Removed {
			return e
		}
	}
	return nil
}

// read is a comparison with its result, if it has ended.
func (s *shelf) read(e *shelved) (Comparison, error) {
	s.mu.Lock()
	c := e.Comparison
	s.mu.Unlock()
	if !c.State.Ended() {
		return c.summary(), nil
	}
	if c.Result != nil {
		return c, nil
	}
	var kept Comparison
	err := s.folder.Get(history.Comparison, c.ID, &kept)
	if err == nil && kept.Result == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return c, fmt.Errorf("the result is not in the history any more: %w", err)
	}
	c.Result = kept.Result
	return c, c.Result.Check()
}

// list is every comparison without its result, the newest first.
func (s *shelf) list() []Comparison {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Comparison, 0, len(s.entries))
	for _, e := range slices.Backward(s.entries) {
		if e.State != Removed {
			all = append(all, e.summary())
		}
	}
	return all
}

// open is where a new watcher begins: he will be told of what is on.
func (s *shelf) open() (seen int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen = s.edition
	for _, e := range s.entries {
		if e.State != Removed && !e.State.Ended() {
			seen = min(seen, e.edition-1)
		}
	}
	return seen
}

// next is what has changed since a watcher looked last, the oldest first.
func (s *shelf) next(seen *int) (changed []Comparison) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if e.edition > *seen {
			changed = append(changed, e.summary())
		}
	}
	*seen = s.edition
	return changed
}

// state is how far e has come.
func (e *shelved) state(s *shelf) State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.State
}
