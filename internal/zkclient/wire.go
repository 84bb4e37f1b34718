package zkclient

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A wireClock measures how long the server has been silent. Its times are nanoseconds since start.
type wireClock struct {
	start time.Time
	asked atomic.Int64 // when the first unanswered request was sent; 0 if every request was answered
	heard atomic.Int64 // when the last answered request was sent
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

// A wireConn is one TCP connection to a server. It observes two things that the library does not report: the session
// that the server has granted, and when the server has last answered.
type wireConn struct {
	net.Conn
	clock          *wireClock
	sessionTimeout time.Duration

	// head is the beginning of the server's first answer. It needs no lock, because the library
	// reads the whole first answer before it starts other goroutines.
	head []byte

	watchesSent chan struct{} // closed when the library has sent its watches; nil if Read does not wait for them
	sentOnce    sync.Once
	waited      bool
}

// Offsets in the first answer: length, protocol version and timeout have four bytes each, the session's ID has eight.
// A password follows.
const (
	headTimeout = 8
	headID      = 12
	headLen     = 20
)

// Offsets in a request: length, number and operation have four bytes each.
const (
	requestOp    = 8
	requestHead  = 12
	opSetWatches = 101
)

const maxAnswerDelay = 50 * time.Millisecond

// delayAnswers works around a data race in the library. When the library resumes a session, it sends its watches
// together with the number of the last change that it has seen, so that the server can report missed changes. The
// library reads this number without a lock, while the first answer may overwrite it. So Read holds back the first
// answer until the watches have been sent. As there may be no watches, Read waits no longer than maxAnswerDelay.
func (l *wireConn) delayAnswers() { l.watchesSent = make(chan struct{}) }

func (l *wireConn) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if l.watchesSent != nil && !l.waited {
		select {
		case <-l.watchesSent:
		case <-time.After(maxAnswerDelay):
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

// SetReadDeadline lets the library wait for an answer no longer than the session's timeout. The
// library's own deadline for a handshake is ten times as long as for other answers.
func (l *wireConn) SetReadDeadline(t time.Time) error {
	if latest := time.Now().Add(l.sessionTimeout); t.After(latest) {
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

// hostCycle is a zk.HostProvider that tries the servers in turn. It keeps the names of the servers, and each dial
// resolves a name again, because a restarted server may have another address. (The library's own provider resolves
// names only once.) When it has tried every server, hostCycle asks the library to pause for a second.
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
