package backend

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A zkLink is one TCP connection to a server. It notes what the library keeps
// to itself: the session that the server granted, and when it last answered.
// And it sends requests beside the library's: see zkAsk.
type zkLink struct {
	net.Conn
	clock    *wireClock
	patience time.Duration
	seen     *atomic.Int64 // the last transaction in an answer to us, on any link
	in       *bufio.Reader
	packet   []byte // the rest of what the library has not read yet
	greeted  bool   // the library has sent its connect request

	mu      sync.Mutex
	head    []byte // the beginning of the server's first answer
	garbled bool   // what answers is not ZooKeeper
	broken  bool   // nothing can be asked any more
	next    int32
	asked   map[int32]*zkQuestion // that are not answered

	watchesSent chan struct{} // nil: nobody waits for that
	sentOnce    sync.Once
	waited      bool
}

// The first answer: length, protocol version and time-out in four bytes each,
// the session's id in eight, a password.
const (
	headTimeout = 8
	headID      = 12
	headLen     = 20
	maxHead     = 1 << 10
	maxAnswer   = 1 << 26
)

// The connect request: length and protocol version in four bytes each, the last
// transaction that was seen in eight, the time-out in four, the session in eight.
const (
	connectSeen    = 8
	connectSession = 20
	connectLen     = 28
)

// A request: length, number and operation in four bytes each.
const (
	requestOp    = 8
	requestHead  = 12
	opSetWatches = 101
	watchesSoon  = 50 * time.Millisecond
)

// An answer: length and the request's number in four bytes each, the server's
// last transaction in eight, an error in four.
const (
	answerNumber = 4
	answerSeen   = 8
	answerError  = 16
	answerHead   = 20
)

// firstNumber is that of the first of our own requests. The library counts
// from 1: it would have to send a thousand million on one session to meet us.
const firstNumber = 1 << 30

func newZKLink(conn net.Conn, clock *wireClock, seen *atomic.Int64, patience time.Duration) *zkLink {
	return &zkLink{Conn: conn, clock: clock, seen: seen, patience: patience, in: bufio.NewReaderSize(conn, 4096),
		next: firstNumber, asked: map[int32]*zkQuestion{}}
}

// watchesFirst holds the answers back until the library has sent its watches,
// when it takes up a session again: they go with the last change that it
// knows of, so that the server can say what it missed, and it reads that
// number without a lock while the first answer may already overwrite it. If it
// has no watches, a moment passes.
func (l *zkLink) watchesFirst() { l.watchesSent = make(chan struct{}) }

// Read gives the library its packets. It would drop the answers to our own
// requests, but only after some work that the caller has to wait for.
func (l *zkLink) Read(p []byte) (int, error) {
	for len(l.packet) == 0 {
		if err := l.receive(); err != nil {
			l.fail()
			return 0, err
		}
	}
	n := copy(p, l.packet)
	l.packet = l.packet[n:]
	return n, nil
}

func (l *zkLink) receive() error {
	var length [4]byte
	if _, err := io.ReadFull(l.in, length[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(length[:])
	l.mu.Lock()
	first := l.head == nil
	l.garbled = first && size > maxHead || size > maxAnswer // the library would make room for it
	garbled := l.garbled
	l.mu.Unlock()
	if garbled {
		return errNotZooKeeper
	}
	packet := make([]byte, 4+size)
	copy(packet, length[:])
	if _, err := io.ReadFull(l.in, packet[4:]); err != nil {
		return err
	}
	if l.watchesSent != nil && !l.waited {
		select {
		case <-l.watchesSent:
		case <-time.After(watchesSoon):
		}
		l.waited = true
	}
	l.clock.received()
	l.mu.Lock()
	defer l.mu.Unlock()
	if first {
		l.head = packet
	}
	if first || !l.answered(packet) {
		l.packet = packet
	}
	return nil
}

// answered reports whether a packet is for one of us, and gives it to him.
func (l *zkLink) answered(packet []byte) bool {
	if len(packet) < answerHead {
		return false
	}
	number := int32(binary.BigEndian.Uint32(packet[answerNumber:]))
	q := l.asked[number]
	if q == nil {
		return false
	}
	delete(l.asked, number)
	if seen := int64(binary.BigEndian.Uint64(packet[answerSeen:])); seen > 0 {
		l.seen.Store(seen)
	}
	q.answer = packet
	close(q.done)
	return true
}

// hello puts the last transaction that we know of into a request to take up a
// session, where the library knows an older one only: a server that is behind
// must refuse us, or our own nodes might not be there yet.
func (l *zkLink) hello(p []byte) {
	l.greeted = true
	if len(p) < connectLen {
		return
	}
	if binary.BigEndian.Uint64(p[connectSession:]) == 0 {
		l.seen.Store(0) // a new session owes nothing to the old one
		return
	}
	if seen := l.seen.Load(); seen > int64(binary.BigEndian.Uint64(p[connectSeen:])) {
		binary.BigEndian.PutUint64(p[connectSeen:], uint64(seen))
	}
}

func (l *zkLink) Write(p []byte) (int, error) {
	if !l.greeted {
		l.hello(p)
	}
	l.clock.sent()
	n, err := l.Conn.Write(p)
	if l.watchesSent != nil && len(p) >= requestHead && binary.BigEndian.Uint32(p[requestOp:]) == opSetWatches {
		l.sentOnce.Do(func() { close(l.watchesSent) })
	}
	return n, err
}

// ask sends a request of our own. Nil, without an error: the connection had
// been lost before, and nothing was sent.
func (l *zkLink) ask(request zkRequest) (*zkQuestion, error) {
	q := &zkQuestion{done: make(chan struct{})}
	l.mu.Lock()
	if l.broken {
		l.mu.Unlock()
		return nil, nil
	}
	number := l.next
	l.next = max(firstNumber, l.next+1) // and round
	l.asked[number] = q
	l.mu.Unlock()
	if _, err := l.Write(request.numbered(number)); err != nil {
		l.Close() // nobody knows how much of it was sent
		return nil, err
	}
	return q, nil
}

// fail ends what was asked: what became of it, nobody knows.
func (l *zkLink) fail() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
	for _, q := range l.asked {
		close(q.done)
	}
	clear(l.asked)
}

func (l *zkLink) Close() error {
	err := l.Conn.Close()
	l.fail()
	return err
}

// SetReadDeadline keeps a handshake with a server that hangs from lasting
// longer than the session: the library allows ten times its usual limit.
func (l *zkLink) SetReadDeadline(t time.Time) error {
	if latest := time.Now().Add(l.patience); t.After(latest) {
		t = latest
	}
	return l.Conn.SetReadDeadline(t)
}

func (l *zkLink) refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.garbled {
		return errNotZooKeeper
	}
	return nil
}

func (l *zkLink) granted() (id int64, timeout time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.head) < headLen {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint64(l.head[headID:])),
		time.Duration(binary.BigEndian.Uint32(l.head[headTimeout:])) * time.Millisecond
}
