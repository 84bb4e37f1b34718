package zkclient

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A wireClock measures how long the server has been silent.
type wireClock struct {
	start        time.Time
	asked, heard atomic.Int64 // since start; asked 0: nothing is unanswered
}

func (w *wireClock) noteSent() {
	w.asked.CompareAndSwap(0, max(1, int64(time.Since(w.start))))
}

func (w *wireClock) noteReceived() {
	if asked := w.asked.Swap(0); asked != 0 {
		w.heard.Store(asked)
	}
}

func (w *wireClock) silentFor() time.Duration {
	return time.Since(w.start) - time.Duration(w.heard.Load())
}

// A wireConn is one TCP connection to a server. It reads what the library does not
// tell: the session that the server granted, and when it last answered.
type wireConn struct {
	net.Conn
	clock *wireClock
	limit time.Duration

	head []byte // the beginning of the server's first answer: complete before the library reads on another goroutine

	watchesSent chan struct{} // nil: not awaited
	sentOnce    sync.Once
	waited      bool
}

// The first answer: length, protocol version and time-out in four bytes each,
// the session's id in eight, a password.
const (
	headTimeout = 8
	headID      = 12
	headLen     = 20
)

// A request: length, number and operation in four bytes each.
const (
	requestOp    = 8
	requestHead  = 12
	opSetWatches = 101
	watchesSoon  = 50 * time.Millisecond
)

// watchesFirst delays answers until the library has sent its watches when it
// resumes a session. They carry the number of the last change it has seen, so
// that the server can report what it missed, and the library reads that number
// without a lock while the first answer may overwrite it. Without watches the
// delay is watchesSoon.
func (l *wireConn) watchesFirst() { l.watchesSent = make(chan struct{}) }

func (l *wireConn) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if l.watchesSent != nil && !l.waited {
		select {
		case <-l.watchesSent:
		case <-time.After(watchesSoon):
		}
		l.waited = true
	}
	if n > 0 {
		l.clock.noteReceived()
		if missing := headLen - len(l.head); missing > 0 {
			l.head = append(l.head, p[:min(n, missing)]...)
		}
	}
	return n, err
}

func (l *wireConn) Write(p []byte) (int, error) {
	l.clock.noteSent()
	n, err := l.Conn.Write(p)
	if l.watchesSent != nil && len(p) >= requestHead && binary.BigEndian.Uint32(p[requestOp:]) == opSetWatches {
		l.sentOnce.Do(func() { close(l.watchesSent) })
	}
	return n, err
}

// SetReadDeadline bounds a handshake with a hanging server by the session's
// time-out: the library allows ten times its usual limit.
func (l *wireConn) SetReadDeadline(t time.Time) error {
	if latest := time.Now().Add(l.limit); t.After(latest) {
		t = latest
	}
	return l.Conn.SetReadDeadline(t)
}

func (l *wireConn) grantedSession() (id int64, timeout time.Duration) {
	if len(l.head) < headLen {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint64(l.head[headID:])),
		time.Duration(binary.BigEndian.Uint32(l.head[headTimeout:])) * time.Millisecond
}

// hostCycle cycles through the servers. Unlike the library's list it resolves
// names when it dials, since a server may come back under another address, and
// pauses (the library's second) only after every server was tried.
type hostCycle struct {
	servers     []string
	next, tried int
}

func (h *hostCycle) Init(servers []string) error { h.servers = servers; return nil }
func (h *hostCycle) Len() int                    { return len(h.servers) }
func (h *hostCycle) Connected()                  { h.tried = 0 }

func (h *hostCycle) Next() (server string, retryStart bool) {
	if h.tried == len(h.servers) {
		h.tried, retryStart = 0, true
	}
	server = h.servers[h.next]
	h.next = (h.next + 1) % len(h.servers)
	h.tried++
	return server, retryStart
}
