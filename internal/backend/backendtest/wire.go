// Package backendtest plays faults between a client and a real server.
package backendtest

import (
	"net"
	"sync"
	"testing"

	"seckill/internal/backend"
)

// A Wire passes TCP connections on to a server, until it is told otherwise.
type Wire struct {
	Addr   string // where clients connect
	target string
	listen net.Listener
	work   sync.WaitGroup

	mu    sync.Mutex
	turn  *sync.Cond
	state wireState
	conns map[net.Conn]struct{}
}

type wireState int

const (
	passing wireState = iota
	frozen            // connections stay open, nothing gets through
	cut               // connections are closed, new ones too
	closed
)

// NewWire opens a wire to target that lasts as long as the test.
func NewWire(t testing.TB, target string) *Wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &Wire{Addr: l.Addr().String(), target: target, listen: l, conns: map[net.Conn]struct{}{}}
	w.turn = sync.NewCond(&w.mu)
	w.work.Go(w.serve)
	t.Cleanup(func() {
		l.Close()
		w.set(closed)
		w.work.Wait()
	})
	return w
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
func (w *Wire) Freeze() { w.set(frozen) }

// Cut closes every connection, and every new one at once.
func (w *Wire) Cut() { w.set(cut) }

// Pass ends a freeze or a cut.
func (w *Wire) Pass() { w.set(passing) }

func (w *Wire) set(s wireState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.state = s
	if s == cut || s == closed {
		for c := range w.conns {
			c.Close()
		}
	}
	w.turn.Broadcast()
}

// wait returns when bytes may pass; false: the connection is to end.
func (w *Wire) wait() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.state == frozen {
		w.turn.Wait()
	}
	return w.state == passing
}

func (w *Wire) serve() {
	for {
		client, err := w.listen.Accept()
		if err != nil {
			return
		}
		if !w.hold(client) {
			client.Close()
			continue
		}
		w.work.Go(func() {
			defer w.drop(client)
			if !w.wait() {
				return
			}
			server, err := net.Dial("tcp", w.target)
			if err != nil {
				return
			}
			if !w.hold(server) {
				server.Close()
				return
			}
			defer w.drop(server)
			w.work.Go(func() {
				w.copy(client, server)
				client.Close()
			})
			w.copy(server, client)
		})
	}
}

func (w *Wire) copy(to, from net.Conn) {
	chunk := make([]byte, 32<<10)
	for {
		n, err := from.Read(chunk)
		if n > 0 {
			if !w.wait() {
				return
			}
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// hold notes a connection, unless there is to be none.
func (w *Wire) hold(c net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == cut || w.state == closed {
		return false
	}
	w.conns[c] = struct{}{}
	return true
}

func (w *Wire) drop(c net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, c)
	c.Close()
}
