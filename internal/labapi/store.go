package labapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"seckill/internal/web"
)

// A State is the progress of a run or a comparison. A run that a page stops during its sale is judged and becomes Done.
type State string

const (
	Preparing State = "preparing" // the service processes are restarted with the settings of the run
	Running   State = "running"
	Stopping  State = "stopping" // a page has stopped the run, which waits for the answers to its calls
	Done      State = "done"     // ended with a result
	Failed    State = "failed"   // ended without a result
)

// Ended reports whether the state is final.
func (s State) Ended() bool { return s == Done || s == Failed }

// A Record holds the fields that runs, comparisons and traces have in common.
type Record struct {
	ID      string    `json:"id"`
	State   State     `json:"state"`
	Stopped bool      `json:"stopped"` // true if a page, or the end of the lab, has stopped the entry before its end
	Started time.Time `json:"started"`
}

func (r *Record) record() *Record { return r }

// isFinal reports whether r can come from the history, which keeps only entries that have ended. The start of an entry
// may be up to a day in the future, because the clocks of machines differ.
func (r *Record) isFinal() bool {
	return r.State.Ended() && !r.Started.IsZero() && r.Started.Before(time.Now().Add(24*time.Hour))
}

// maxEntries bounds how many entries a store keeps. If a store has maxEntries entries, a new entry replaces the oldest.
const maxEntries = 50

// A store keeps the runs, the comparisons or the traces of a lab. Entries that have ended are also
// files in the history. The history may have entries of earlier labs and of other labs.
type store[T any] struct {
	entryType[T]
	server    *Server
	*notifier             // the notifier's mutex also guards the entries
	entries   []*entry[T] // oldest first; all but the last have ended
}

type entryType[T any] struct {
	kind       string // such as "run"; the names of the entries' files begin with it
	record     func(*T) *Record
	summary    func(T) T     // returns a copy of a value without its large parts
	isComplete func(*T) bool // reports whether a value from the history has everything that pages read
}

// An entry is one value of a store. Readers get a copy that shares the value's slices. So a change
// must replace a slice or append to it, and must never edit its elements.
type entry[T any] struct {
	value    T
	revision int    // the notifier's revision after the entry's last change
	stop     func() // cancels the work that changes the entry
}

func openStore[T any](server *Server, types entryType[T]) *store[T] {
	s := &store[T]{entryType: types, server: server, notifier: server.notifier}
	var kept []*entry[T]
	for id, value := range readEntries[T](server.History, s.kind) {
		e := &entry[T]{value: value}
		if !s.record(&e.value).isFinal() || !s.isComplete(&e.value) || fillLists(&e.value) != nil {
			continue // this program did not write the file, so ignore it and do not remove it
		}
		s.record(&e.value).ID = id // people may rename files, so the id is taken from the file's name
		kept = append(kept, e)
	}
	slices.SortFunc(kept, func(a, b *entry[T]) int {
		return s.record(&a.value).Started.Compare(s.record(&b.value).Started)
	})
	for _, e := range kept {
		s.addEntry(e)
	}
	return s
}

func (s *store[T]) addEntry(e *entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries = append(s.entries, e)
	if len(s.entries) > maxEntries {
		s.server.History.removeEntry(s.kind, s.record(&s.entries[0].value).ID)
		s.entries = s.entries[1:]
	}
	s.markChanged(e)
}

// perform adds an entry, runs the function work in the background, and answers the call that began the entry. When work
// has returned the final value of the entry, perform saves this value and releases the labLock.
func (s *store[T]) perform(c *gin.Context, e *entry[T], work func() T) {
	begun := e.value
	s.addEntry(e)
	go func() {
		defer e.stop()
		final := work()
		if s.server.labLock.closing.Err() != nil {
			s.record(&final).Stopped = true
		}
		s.saveEntry(final)
		s.server.labLock.release() // release first, because a page that gets the final state may start the next run
		s.changeEntry(e, func(value *T) { *value = final })
	}()
	c.Header("Location", fmt.Sprintf("/api/lab/v1/%ss/%s", s.kind, s.record(&begun).ID))
	c.JSON(http.StatusCreated, s.summary(begun))
}

func (s *store[T]) changeEntry(e *entry[T], edit func(*T)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(&e.value)
	s.markChanged(e)
}

func (s *store[T]) markChanged(e *entry[T]) { e.revision = s.nextRevision() }

func (s *store[T]) saveEntry(final T) {
	id := s.record(&final).ID
	if err := s.server.History.writeEntry(s.kind, id, final); err != nil {
		s.server.Log.Warn("the result could not be saved and will be lost when the lab ends",
			"kind", s.kind, "id", id, "error", err)
	}
}

// stopEntry cancels the work of an entry.
func (s *store[T]) stopEntry(e *entry[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.record(&e.value); r.State == Running || r.State == Preparing {
		r.State, r.Stopped = Stopping, true
		e.stop()
		s.markChanged(e)
	}
}

func (s *store[T]) findEntry(c *gin.Context) (*entry[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.entries {
		if s.record(&e.value).ID == c.Param("id") {
			return e, nil
		}
	}
	return nil, &web.Problem{Code: "unknown_" + s.kind, Status: http.StatusNotFound,
		Detail: fmt.Sprintf("There is no such %s; the last %d are kept.", s.kind, maxEntries)}
}

func (s *store[T]) answerEntry(c *gin.Context) error {
	e, err := s.findEntry(c)
	if err == nil {
		c.JSON(http.StatusOK, s.readEntry(e))
	}
	return err
}

// answerStop stops an entry. It does not wait until the entry ends, because the sale so far is judged first.
func (s *store[T]) answerStop(c *gin.Context) error {
	e, err := s.findEntry(c)
	if err == nil {
		s.stopEntry(e)
		c.JSON(http.StatusAccepted, s.summary(s.readEntry(e)))
	}
	return err
}

func (s *store[T]) readEntry(e *entry[T]) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return e.value
}

func (s *store[T]) listEntries() []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]T, 0, len(s.entries))
	for _, e := range slices.Backward(s.entries) {
		all = append(all, s.summary(e.value))
	}
	return all
}

// revisionBeforeNewest returns the revision just before the last change of the newest entry.
func (s *store[T]) revisionBeforeNewest() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.entries) == 0 {
		return s.revision
	}
	return s.entries[len(s.entries)-1].revision - 1
}

func (s *store[T]) changedSince(revision int) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changed []T
	for _, e := range s.entries {
		if e.revision > revision {
			changed = append(changed, e.value)
		}
	}
	return changed
}

// A History is the path of a folder that keeps the results of a lab after the lab has ended. Each entry is a JSON file
// that people can copy, send and delete. The first entry creates the folder. If the path is "", no results are kept.
// Several labs may use one folder at the same time.
type History string

const historyFormat = 1

type historyFile[T any] struct {
	Format int `json:"seckill_history"`
	Entry  T   `json:"entry"`
}

func (h History) fileName(kind, id string) string {
	return filepath.Join(string(h), kind+"-"+id+".json")
}

func (h History) writeEntry(kind, id string, entry any) error {
	if h == "" {
		return nil
	}
	text, err := json.Marshal(historyFile[any]{historyFormat, entry})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(h), 0o700); err != nil {
		return err
	}
	return os.WriteFile(h.fileName(kind, id), text, 0o600)
}

// removeEntry removes the file of an entry. It ignores errors, for example if a person has removed the file.
func (h History) removeEntry(kind, id string) {
	if h != "" {
		_ = os.Remove(h.fileName(kind, id))
	}
}

// readEntries returns the entries of a kind by their ids. It ignores files of other programs or versions. It also
// ignores incomplete files, which remain if a lab was killed or the disk was full.
func readEntries[T any](h History, kind string) map[string]T {
	all := map[string]T{}
	files, _ := os.ReadDir(string(h)) // without a folder, there are no entries
	for _, file := range files {
		id, found := strings.CutPrefix(strings.TrimSuffix(file.Name(), ".json"), kind+"-")
		if !found || !file.Type().IsRegular() { // skip a named pipe, because reading it would block
			continue
		}
		text, err := os.ReadFile(filepath.Join(string(h), file.Name()))
		var read historyFile[T]
		if err == nil && json.Unmarshal(text, &read) == nil && read.Format == historyFormat {
			all[id] = read.Entry
		}
	}
	return all
}

// fillLists replaces each missing list and map in an entry by an empty one, because pages cannot read null instead of a
// list.
func fillLists(entry any) error {
	text, err := jsonv2.Marshal(entry, jsonv1.DefaultOptionsV1(), jsonv2.FormatNilSliceAsNull(false),
		jsonv2.FormatNilMapAsNull(false))
	return errors.Join(err, json.Unmarshal(text, entry))
}
