package backend

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// A server that is behind what we have been told must not take our session.
func TestZooKeeperLinkSaysWhatWasSeen(t *testing.T) {
	hello := func(session, seen uint64) []byte {
		p := make([]byte, connectLen+20)
		binary.BigEndian.PutUint64(p[connectSeen:], seen)
		binary.BigEndian.PutUint64(p[connectSession:], session)
		return p
	}
	for name, c := range map[string]struct {
		session, library uint64
		ours             int64
		want             uint64
	}{
		"we know more":         {7, 10, 12, 12},
		"the library does":     {7, 14, 12, 14},
		"a new session":        {0, 0, 12, 0},
		"nothing asked before": {7, 10, 0, 10},
	} {
		near, far := net.Pipe()
		var seen atomic.Int64
		seen.Store(c.ours)
		l := newZKLink(near, &wireClock{start: time.Now()}, &seen, time.Second)
		go l.Write(hello(c.session, c.library))
		got := make([]byte, connectLen+20)
		if _, err := far.Read(got); err != nil {
			t.Fatal(err)
		}
		if n := binary.BigEndian.Uint64(got[connectSeen:]); n != c.want {
			t.Errorf("%s: the server is told %d, want %d", name, n, c.want)
		}
		l.Close()
		far.Close()
	}
}

// Whoever has asked when the connection is lost is told so; who comes later
// has sent nothing.
func TestZooKeeperLinkIsLost(t *testing.T) {
	near, far := net.Pipe()
	var seen atomic.Int64
	l := newZKLink(near, &wireClock{start: time.Now()}, &seen, time.Second)
	l.greeted = true
	go far.Read(make([]byte, 1000))
	q, err := l.ask(deleteRequest("/a"))
	if err != nil {
		t.Fatal(err)
	}
	far.Close()
	if _, err := l.Read(make([]byte, 4)); err == nil {
		t.Fatal("read from a closed connection")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case <-q.done:
	case <-ctx.Done():
		t.Fatal("nobody told him")
	}
	if _, err := q.reader(); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Errorf("he is told %v, want %v", err, zk.ErrConnectionClosed)
	}
	if q, err := l.ask(deleteRequest("/a")); q != nil || err != nil {
		t.Errorf("asked after the end: %v, %v; want nothing sent", q, err)
	}
}

// An answer that is cut off is an error, not a panic, and nothing is made up.
func TestCutOffAnswers(t *testing.T) {
	whole := []byte{0, 0, 0, 2, 0, 0, 0, 1, 'a', 0, 0, 0, 1, 'b'}
	whole = append(whole, make([]byte, 68)...)
	for n := range len(whole) {
		r := &juteReader{rest: whole[:n]}
		if r.listing(); r.err == nil {
			t.Errorf("%d of %d bytes were read without an error", n, len(whole))
		}
	}
	r := &juteReader{rest: whole}
	if l := r.listing(); r.err != nil || !slices.Equal(l.names, []string{"a", "b"}) || len(r.rest) > 0 {
		t.Errorf("%v, %v, %d bytes left", l.names, r.err, len(r.rest))
	}
}
