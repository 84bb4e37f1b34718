package labapi

import (
	"fmt"
	"net/http"
	"sync"
)

// A turn at driving the lab is had by one thing at a time: a run, a comparison,
// a trace. Two at once would share processors and disturb each other's figures.
type turn struct {
	mu   sync.Mutex
	what string // what is on, as people say it; empty: nothing
}

// take gives the turn to what, which is named as in "a run of naive", until it
// calls release; a second call does nothing. When something else has the turn,
// release is nil and other says what.
func (t *turn) take(what string) (release func(), other string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.what != "" {
		return nil, t.what
	}
	t.what = what
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.what = ""
	}), ""
}

var labCloses = problem{Code: "lab_closes", Status: http.StatusServiceUnavailable,
	Detail: "The lab is being stopped, so nothing begins any more."}

// inProgress refuses what would need the turn while other has it.
func inProgress(other string) problem {
	return problem{Code: "run_in_progress", Status: http.StatusConflict,
		Detail: fmt.Sprintf("There is %s on. Stop it, or wait for its end.", other)}
}
