package labapi

import "sync"

// A line is where several wait for each other.
type line struct {
	mu      sync.Mutex
	missing int
	open    chan struct{}
}

func newLine(n int) *line { return &line{missing: n, open: make(chan struct{})} }

// pass counts one who has come, or will not come.
func (l *line) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.missing--; l.missing == 0 {
		close(l.open)
	}
}
