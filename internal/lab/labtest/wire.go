package labtest

import (
	"testing"

	"seckill/internal/lab"
)

// A Wire passes TCP connections on to a server, until it is told otherwise.
type Wire struct {
	*lab.Relay
	target string
}

// NewWire opens a wire to target that lasts as long as the test.
func NewWire(t testing.TB, target string) *Wire {
	t.Helper()
	r, err := lab.ListenRelay()
	Must(t, err)
	t.Cleanup(func() { r.Close() })
	r.Point(target)
	return &Wire{r, target}
}

// Freeze stops every byte in both directions; Pass lets them through, late.
func (w *Wire) Freeze() { w.Hold(lab.Requests, lab.Replies) }

// Cut closes every connection, and every new one at once.
func (w *Wire) Cut() { w.Point("") }

// Pass ends a freeze or a cut.
func (w *Wire) Pass() {
	w.Point(w.target)
	w.Flow()
}
