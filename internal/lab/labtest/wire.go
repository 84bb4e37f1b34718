package labtest

import (
	"testing"

	"seckill/internal/lab"
)

// A Wire forwards TCP connections to a server, and can freeze or cut them.
type Wire struct {
	*lab.Relay
	target string
}

// NewWire opens a wire to the address target. The wire is closed when the test ends.
func NewWire(t testing.TB, target string) *Wire {
	t.Helper()
	r := Value(lab.ListenRelay()).Must(t)
	t.Cleanup(func() { r.Close() })
	r.PointTo(target)
	return &Wire{r, target}
}

// Freeze holds back the bytes of both directions until Pass is called.
func (w *Wire) Freeze() { w.Hold(lab.Requests, lab.Replies) }

// Cut closes every connection and refuses new connections until Pass is called.
func (w *Wire) Cut() { w.PointTo("") }

// Pass ends a freeze or a cut.
func (w *Wire) Pass() {
	w.PointTo(w.target)
	w.Release()
}
