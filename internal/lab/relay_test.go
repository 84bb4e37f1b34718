package lab

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo is a server that says what it was told, and tells the test.
type echo struct {
	listener net.Listener
	told     chan string // "" when a client has gone
}

func newEcho(t *testing.T) *echo {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{listener, make(chan string, 100)}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buffer := make([]byte, 100)
				for {
					n, err := c.Read(buffer)
					e.told <- string(buffer[:n])
					if err != nil {
						return
					}
					c.Write(buffer[:n])
				}
			}()
		}
	}()
	return e
}

// A client of an echo behind a relay.
func throughRelay(t *testing.T) (*echo, *Relay, net.Conn) {
	e := newEcho(t)
	r, err := ListenRelay(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	r.Point(e.listener.Addr().String())
	c, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	say(t, c, "hello")
	if got := hear(t, c); got != "hello" || <-e.told != "hello" {
		t.Fatalf("before any trouble: %q", got)
	}
	return e, r, c
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, c net.Conn) string {
	t.Helper()
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	buffer := make([]byte, 100)
	n, err := c.Read(buffer)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return string(buffer[:n]) // "" if the connection has ended
}

// heldBack waits until data is held back.
func heldBack(t *testing.T, r *Relay) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		r.mu.Lock()
		n := r.ways[Requests].held + r.ways[Replies].held
		r.mu.Unlock()
		if n > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("nothing was held back")
}

func TestTroubles(t *testing.T) {
	t.Run("partition", func(t *testing.T) {
		e, r, c := throughRelay(t)
		r.Hold(Requests, Replies)
		say(t, c, "now")
		heldBack(t, r)
		if len(e.told) > 0 {
			t.Errorf("the server was told %q", <-e.told)
		}
		r.Flow()
		if n := r.Held(); n != 3 {
			t.Errorf("%d bytes were held back, want 3", n)
		}
		if got := hear(t, c); got != "now" || <-e.told != "now" {
			t.Errorf("afterwards %q arrives", got)
		}
	})
	t.Run("replies are lost", func(t *testing.T) {
		e, r, c := throughRelay(t)
		r.Hold(Replies)
		say(t, c, "do")
		if did := <-e.told; did != "do" {
			t.Errorf("the server was told %q", did)
		}
		heldBack(t, r)
		r.Drop()
		if n := r.Held(); n != 2 {
			t.Errorf("%d bytes were lost, want 2", n)
		}
		if got := hear(t, c); got != "" {
			t.Errorf("the client hears %q", got)
		}
	})
	t.Run("nothing is sent", func(t *testing.T) {
		_, r, _ := throughRelay(t)
		r.Hold(Requests, Replies)
		r.Flow()
		if n := r.Held(); n != 0 {
			t.Errorf("%d bytes met it", n)
		}
	})
}
