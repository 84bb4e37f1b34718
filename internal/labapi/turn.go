package labapi

import (
	"fmt"
	"net/http"
	"sync"

	"seckill/internal/web"
)

// A turn at driving the lab belongs to one run, comparison or trace at a time:
// two at once would share processors and disturb each other's figures.
type turn struct {
	mu   sync.Mutex
	what string // as people say it; empty: nothing is on
}

// take gives the turn to what, named as in "a run of naive", until release is
// called; a second call does nothing. The error says what has the turn.
func (t *turn) take(what string) (release func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.what != "" {
		return nil, &web.Problem{Code: "run_in_progress", Status: http.StatusConflict,
			Detail: fmt.Sprintf("The lab is busy with %s. Stop that, or wait for its end.", t.what)}
	}
	t.what = what
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.what = ""
	}), nil
}

var labCloses = &web.Problem{Code: "lab_closes", Status: http.StatusServiceUnavailable,
	Detail: "The lab is being stopped, so nothing begins any more."}
