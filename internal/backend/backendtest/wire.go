// Package backendtest plays faults between a client and a real server.
package backendtest

import (
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// A Wire passes TCP connections on to a server, until it is told otherwise.
type Wire struct {
	Addr   string // where clients connect
	target string
	relay  *lab.Relay
}

// NewWire opens a wire to target that lasts as long as the test.
func NewWire(t testing.TB, target string) *Wire {
	t.Helper()
	r, err := lab.ListenRelay(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	r.Point(target)
	return &Wire{r.Addr(), target, r}
}

// NewRedisWire opens a wire to a Redis whose address may have credentials, and
// gives the address that leads there through the wire.
func NewRedisWire(t testing.TB, target string) (w *Wire, address string) {
	t.Helper()
	a, err := backend.ParseRedis(target)
	if err != nil {
		t.Fatal(err)
	}
	w = NewWire(t, a.Host)
	a.Host = w.Addr
	return w, a.String()
}

// Freeze stops every byte in both directions; Pass lets them through, late.
func (w *Wire) Freeze() { w.relay.Hold(lab.Requests, lab.Replies) }

// Cut closes every connection, and every new one at once.
func (w *Wire) Cut() { w.relay.Point("") }

// Pass ends a freeze or a cut.
func (w *Wire) Pass() {
	w.relay.Point(w.target)
	w.relay.Flow()
}
