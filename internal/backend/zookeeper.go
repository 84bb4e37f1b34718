package backend

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/tap"
)

// A ZooKeeperClient has one ZooKeeper session at a time. When the server ends
// a session the client opens the next by itself, and it reconnects whenever
// the server is back, so it serves for as long as the instance lives.
//
// Its commands pass the tap and end with their context, which *zk.Conn's do
// not. A command whose context ended first has an unknown outcome: it may be
// waiting in a queue still and reach the server later. Forget knows that.
type ZooKeeperClient struct {
	conn   *zk.Conn
	events <-chan zk.Event // closed when conn's last goroutine has ended
	dialer *Dialer
	life   context.Context // ends at Close
	end    context.CancelFunc
	work   sync.WaitGroup // Forget's goroutines
	wire   wireClock
	asked  time.Duration // the session time-out we ask for

	mu        sync.Mutex
	link      *zkLink // the TCP connection that was opened last
	session   *ZooKeeperSession
	connected bool
	up        chan struct{}   // closed while connected, and at Close
	late      []chan struct{} // commands that were left by their callers
	dialErr   error
	rounds    chan error // a whole round of servers was tried in vain
}

// A ZooKeeperSession is what ephemeral nodes belong to.
type ZooKeeperSession struct {
	ID      int64
	Timeout time.Duration // as negotiated

	alive    context.Context
	over     context.CancelCauseFunc
	watchdog *time.Timer
}

// Alive ends when the session is over: the server said so, or it has not
// answered anything for the session's time-out, after which it may have given
// our ephemeral nodes away without being able to tell us. A lost connection
// alone is not the end: within the time-out the session can be taken up again.
//
// The time is counted from when the last answered request was sent, so that
// the judgement comes before the server's own, provided that this process
// runs. One that is stopped learns nothing.
func (s *ZooKeeperSession) Alive() context.Context { return s.alive }

var (
	errZooKeeperClosed = errors.New("the ZooKeeper client is closed")
	errZooKeeperDown   = errors.New("there is no connection to ZooKeeper")
	errZooKeeperSilent = errors.New("ZooKeeper has not answered for the session's time-out")
	errNotZooKeeper    = errors.New("what answers there is not ZooKeeper")
)

const (
	defaultZooKeeperSession = 6 * time.Second
	openZooKeeperWithin     = 5 * time.Second
)

func (in *Instance) openZooKeeper(ctx context.Context) error {
	addrs := in.Config.ZooKeeperAddrs
	if len(addrs) == 0 {
		return nil
	}
	c := &ZooKeeperClient{
		dialer: in.Dialer, asked: in.Config.ZooKeeperSession,
		up: make(chan struct{}), rounds: make(chan error, 1),
	}
	if c.asked <= 0 {
		c.asked = defaultZooKeeperSession
	}
	c.wire.start = time.Now()
	c.life, c.end = context.WithCancel(context.Background())
	var err error
	c.conn, c.events, err = zk.Connect(addrs, c.asked, zk.WithDialer(c.dial), zk.WithEventCallback(c.heed),
		zk.WithHostProvider(&zkHosts{failed: c.roundFailed}), zk.WithLogger(zkLog{}), zk.WithLogInfo(false))
	if err != nil {
		c.end()
		return unreachable(NameZooKeeper, strings.Join(addrs, ","), err)
	}
	in.closers = append(in.closers, c.Close)
	ctx, cancel := context.WithTimeoutCause(ctx, openZooKeeperWithin, errors.New("it did not open a session in time"))
	defer cancel()
	select {
	case <-c.up:
	case err = <-c.rounds:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return unreachable(NameZooKeeper, strings.Join(addrs, ","), err)
	}
	in.ZooKeeper = c
	in.versions[NameZooKeeper] = c.version(ctx)
	return nil
}

// Close ends the session, which removes its ephemeral nodes at once if the
// server can be told, and returns when every goroutine of the client is gone.
func (c *ZooKeeperClient) Close() error {
	c.mu.Lock()
	if c.life.Err() != nil {
		c.mu.Unlock()
		return nil
	}
	c.end()
	link, connected, session := c.link, c.connected, c.session
	if !connected {
		close(c.up)
	}
	c.mu.Unlock()
	if session != nil {
		session.watchdog.Stop()
		session.over(errZooKeeperClosed)
	}
	if !connected && link != nil {
		link.Close() // it may be waiting for a handshake
	}
	c.conn.Close() // a second or so if the server does not answer
	if link != nil {
		link.Close()
	}
	for range c.events {
	}
	c.work.Wait()
	return nil
}

// Connected reports whether there is a session and a connection right now.
func (c *ZooKeeperClient) Connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connected
}

// SessionName is empty before the first session.
func (c *ZooKeeperClient) SessionName() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return ""
	}
	return fmt.Sprintf("0x%x", uint64(c.session.ID))
}

// Session returns the session, after waiting for the connection if it is down.
func (c *ZooKeeperClient) Session(ctx context.Context) (*ZooKeeperSession, error) {
	for {
		c.mu.Lock()
		s, connected, up := c.session, c.connected, c.up
		c.mu.Unlock()
		switch {
		case c.life.Err() != nil:
			return nil, errZooKeeperClosed
		case connected:
			return s, nil
		}
		if _, err := tap.Wait(ctx, "connection to ZooKeeper", up); err != nil {
			return nil, err
		}
	}
}

// Create makes a node and returns its path, to which the server has added a
// sequence number if flags ask for one. An error other than ZooKeeper's own
// refusals (zk.ErrNoNode, zk.ErrNodeExists, …) says nothing about the outcome.
func (c *ZooKeeperClient) Create(ctx context.Context, path string, data []byte, flags int32) (string, error) {
	return zkDo(ctx, c, "create", path+createKind(flags), func() (string, error) {
		return c.conn.Create(path, data, flags, zk.WorldACL(zk.PermAll))
	})
}

// EnsurePath makes path and its parents as persistent nodes.
func (c *ZooKeeperClient) EnsurePath(ctx context.Context, path string) error {
	for i := 1; i <= len(path); i++ {
		if i < len(path) && path[i] != '/' {
			continue
		}
		_, err := c.Create(ctx, path[:i], nil, zk.FlagPersistent)
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	return nil
}

// Children lists the names (not paths) of a node's children, with its stat.
func (c *ZooKeeperClient) Children(ctx context.Context, path string) ([]string, *zk.Stat, error) {
	type answer struct {
		names []string
		stat  *zk.Stat
	}
	a, err := zkDo(ctx, c, "getChildren", path, func() (a answer, err error) {
		a.names, a.stat, err = c.conn.Children(path)
		return a, err
	})
	return a.names, a.stat, err
}

// ChildrenW is Children, and a channel that yields when they change.
func (c *ZooKeeperClient) ChildrenW(ctx context.Context, path string) ([]string, *zk.Stat, <-chan zk.Event, error) {
	type answer struct {
		names  []string
		stat   *zk.Stat
		change <-chan zk.Event
	}
	a, err := zkDo(ctx, c, "getChildren", path+" watch", func() (a answer, err error) {
		a.names, a.stat, a.change, err = c.conn.ChildrenW(path)
		return a, err
	})
	return a.names, a.stat, a.change, err
}

// Exists returns a node's stat, or nil if there is no such node.
func (c *ZooKeeperClient) Exists(ctx context.Context, path string) (*zk.Stat, error) {
	return zkDo(ctx, c, "exists", path, func() (*zk.Stat, error) {
		ok, stat, err := c.conn.Exists(path)
		if !ok {
			stat = nil
		}
		return stat, err
	})
}

// ExistsW is Exists, and a channel that yields when the node comes, goes or
// changes. The watch on a node that never comes stays for ever: whoever waits
// for the end of a node that will not come back uses GetW.
func (c *ZooKeeperClient) ExistsW(ctx context.Context, path string) (*zk.Stat, <-chan zk.Event, error) {
	type answer struct {
		stat   *zk.Stat
		change <-chan zk.Event
	}
	a, err := zkDo(ctx, c, "exists", path+" watch", func() (a answer, err error) {
		ok, stat, change, err := c.conn.ExistsW(path)
		if ok {
			a.stat = stat
		}
		a.change = change
		return a, err
	})
	return a.stat, a.change, err
}

// Get returns a node's data and stat.
func (c *ZooKeeperClient) Get(ctx context.Context, path string) ([]byte, *zk.Stat, error) {
	type answer struct {
		data []byte
		stat *zk.Stat
	}
	a, err := zkDo(ctx, c, "getData", path, func() (a answer, err error) {
		a.data, a.stat, err = c.conn.Get(path)
		return a, err
	})
	return a.data, a.stat, err
}

// GetW returns a node's data and stat, and a channel that yields when the node
// changes or goes, or when its session does. zk.ErrNoNode leaves no watch.
func (c *ZooKeeperClient) GetW(ctx context.Context, path string) ([]byte, *zk.Stat, <-chan zk.Event, error) {
	type answer struct {
		data   []byte
		stat   *zk.Stat
		change <-chan zk.Event
	}
	a, err := zkDo(ctx, c, "getData", path+" watch", func() (a answer, err error) {
		a.data, a.stat, a.change, err = c.conn.GetW(path)
		return a, err
	})
	return a.data, a.stat, a.change, err
}

// Wait waits for a watch of this client to fire, or until ctx ends.
//
// Its barrier: a server sends a watch's event before its answer to anything
// that was asked after the change.
func (c *ZooKeeperClient) Wait(ctx context.Context, what string, fired <-chan zk.Event) error {
	_, err := tap.WaitFor(ctx, what, fired, func(context.Context) error {
		_, _, err := c.conn.Exists("/")
		return err
	})
	return err
}

// Delete removes a node in whatever version it is.
func (c *ZooKeeperClient) Delete(ctx context.Context, path string) error {
	_, err := zkDo(ctx, c, "delete", path, func() (struct{}, error) {
		return struct{}{}, c.conn.Delete(path, -1)
	})
	return err
}

// Sweep removes the children of dir whose name contains mark.
func (c *ZooKeeperClient) Sweep(ctx context.Context, dir, mark string) error {
	names, _, err := c.Children(ctx, dir)
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	for _, name := range names {
		if !strings.Contains(name, mark) {
			continue
		}
		if err := c.Delete(ctx, dir+"/"+name); err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	return err
}

// Forget sweeps for a create whose answer was lost and a delete that did not
// get through: see CleanUp.
func (c *ZooKeeperClient) Forget(ctx context.Context, dir, mark string) error {
	return c.CleanUp(ctx, dir+" marked "+mark, func(ctx context.Context) error { return c.Sweep(ctx, dir, mark) })
}

// CleanUp removes what would otherwise stay for as long as the session lives,
// though nobody knows of it. It begins when every command that its caller has
// left has been answered: a create may still be on its way to the server when
// its buyer is long gone.
//
// An error means that it could not be done under ctx. It goes on in the
// background then, past no tap, until it is done or the client is closed
// (which removes the node, too).
func (c *ZooKeeperClient) CleanUp(ctx context.Context, what string, remove func(context.Context) error) error {
	c.mu.Lock()
	c.pruneLate()
	late, connected := slices.Clone(c.late), c.connected
	c.mu.Unlock()
	err := errZooKeeperDown
	if connected {
		err = c.cleanUp(ctx, late, remove)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil || c.life.Err() != nil {
		return err
	}
	c.work.Go(func() {
		// Whatever fails a hundred times on a living connection is not the
		// network.
		for tries, pause := 0, 20*time.Millisecond; tries < 100; tries, pause = tries+1, min(2*pause, time.Second) {
			if _, err := c.Session(c.life); err == nil && c.cleanUp(c.life, late, remove) == nil {
				return
			}
			if tap.Sleep(c.life, pause) != nil {
				return
			}
		}
		slog.Warn("a ZooKeeper node could not be removed and stays until the session ends", "node", what)
	})
	return err
}

func (c *ZooKeeperClient) cleanUp(
	ctx context.Context, late []chan struct{}, remove func(context.Context) error,
) error {
	for _, answered := range late {
		if _, err := tap.Wait(ctx, "a ZooKeeper command that was left", answered); err != nil {
			return err
		}
	}
	return remove(ctx)
}

// zkDo sends a command past the tap and waits for its answer or the end of ctx.
// The library knows no context: the goroutine in which it waits instead is 5 %
// of an uncontended lock.
func zkDo[T any](ctx context.Context, c *ZooKeeperClient, name, text string, send func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var a answer
	err := tap.Do(ctx, func() *tap.Command {
		return &tap.Command{Backend: tap.ZooKeeper, Name: name, Text: name + " " + text}
	}, func(ctx context.Context) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		answers, done := make(chan answer, 1), make(chan struct{})
		go func() {
			defer close(done)
			value, err := send()
			answers <- answer{value, err}
		}()
		select {
		case a = <-answers:
			return a.err
		case <-ctx.Done():
			c.mu.Lock()
			defer c.mu.Unlock()
			c.pruneLate()
			c.late = append(c.late, done)
			return context.Cause(ctx)
		}
	})
	return a.value, err
}

func (c *ZooKeeperClient) pruneLate() {
	c.late = slices.DeleteFunc(c.late, func(done chan struct{}) bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
}

func createKind(flags int32) string {
	switch flags {
	case zk.FlagEphemeral:
		return " ephemeral"
	case zk.FlagSequence:
		return " sequential"
	case zk.FlagEphemeralSequential:
		return " ephemeral sequential"
	}
	return ""
}

// heed is told of every event by the connection's own goroutines.
func (c *ZooKeeperClient) heed(ev zk.Event) {
	if ev.Type != zk.EventSession {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.Err() != nil {
		return
	}
	switch ev.State {
	case zk.StateHasSession:
		c.established()
	case zk.StateDisconnected:
		if c.connected {
			c.connected, c.up = false, make(chan struct{})
		}
	case zk.StateExpired:
		if c.session != nil {
			c.session.watchdog.Stop()
			c.session.over(zk.ErrSessionExpired)
		}
	}
}

func (c *ZooKeeperClient) established() {
	id, timeout := c.link.granted()
	if s := c.session; s == nil || s.ID != id || s.alive.Err() != nil {
		if s != nil {
			s.watchdog.Stop()
			s.over(zk.ErrSessionExpired)
		}
		// A session that was given up too early, because the server was merely
		// slow, is a new one to those who come now: what was told to its
		// holders stays true.
		s = &ZooKeeperSession{ID: id, Timeout: timeout}
		s.alive, s.over = context.WithCancelCause(context.Background())
		s.watchdog = time.AfterFunc(timeout, func() { c.watch(s) })
		c.session = s
	} else {
		c.link.watchesFirst()
	}
	c.connected = true
	close(c.up)
}

// watch ends s when the server has been silent for too long.
func (c *ZooKeeperClient) watch(s *ZooKeeperSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.alive.Err() != nil {
		return
	}
	if left := s.Timeout - c.wire.silence(); left > 0 {
		s.watchdog.Reset(left)
		return
	}
	s.over(errZooKeeperSilent)
	if c.link != nil {
		c.link.Close() // a server that slow is asked afresh
	}
}

// dial opens the next connection; the library's own goroutine calls it.
func (c *ZooKeeperClient) dial(network, addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(c.life, timeout)
	defer cancel()
	conn, err := c.dialer.DialContext(ctx, network, addr)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		c.link.Close() // the library leaves it open when a session has expired
	}
	c.link, c.dialErr = nil, err
	if err != nil {
		return nil, err
	}
	if c.life.Err() != nil {
		conn.Close()
		return nil, errZooKeeperClosed
	}
	c.wire.asked.Store(0) // what the old connection owed us will never come
	c.link = &zkLink{Conn: conn, clock: &c.wire, patience: c.asked}
	return c.link, nil
}

func (c *ZooKeeperClient) roundFailed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.dialErr
	if err == nil && c.link != nil {
		err = c.link.refused()
	}
	if err == nil {
		err = errors.New("it opens no session")
	}
	select {
	case c.rounds <- err:
	default:
	}
}

// version asks by the one four-letter command that every server answers
// unless it is told not to.
func (c *ZooKeeperClient) version(ctx context.Context) string {
	const unnamed = "ZooKeeper"
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := c.dialer.DialContext(ctx, "tcp", c.conn.Server())
	if err != nil {
		return unnamed
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	conn.SetDeadline(deadline)
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return unnamed
	}
	answer, _ := io.ReadAll(io.LimitReader(conn, 4096))
	_, rest, ok := strings.Cut(string(answer), "ookeeper version: ")
	if !ok {
		return unnamed
	}
	number, _, _ := strings.Cut(rest, ",")
	number, _, _ = strings.Cut(number, "-") // 3.8.0-5a02a05eddb5…
	return unnamed + " " + strings.TrimSpace(number)
}

// A wireClock knows since when the server has been silent.
type wireClock struct {
	start        time.Time
	asked, heard atomic.Int64 // since start; asked 0: nothing is unanswered
}

func (w *wireClock) sent() {
	w.asked.CompareAndSwap(0, max(1, int64(time.Since(w.start))))
}

func (w *wireClock) received() {
	if asked := w.asked.Swap(0); asked != 0 {
		w.heard.Store(asked)
	}
}

func (w *wireClock) silence() time.Duration {
	return time.Since(w.start) - time.Duration(w.heard.Load())
}

// A zkLink is one TCP connection to a server. It notes what the library keeps
// to itself: the session that the server granted, and when it last answered.
type zkLink struct {
	net.Conn
	clock    *wireClock
	patience time.Duration

	mu   sync.Mutex
	head []byte // the beginning of the server's first answer

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
	maxAnswer   = 1 << 10
)

// A request: length, number and operation in four bytes each.
const (
	requestOp    = 8
	requestHead  = 12
	opSetWatches = 101
	watchesSoon  = 50 * time.Millisecond
)

// watchesFirst holds the answers back until the library has sent its watches,
// when it takes up a session again: they go with the last change that it
// knows of, so that the server can say what it missed, and it reads that
// number without a lock while the first answer may already overwrite it. If it
// has no watches, a moment passes.
func (l *zkLink) watchesFirst() { l.watchesSent = make(chan struct{}) }

func (l *zkLink) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if l.watchesSent != nil && !l.waited {
		select {
		case <-l.watchesSent:
		case <-time.After(watchesSoon):
		}
		l.waited = true
	}
	if n > 0 {
		l.clock.received()
		l.mu.Lock()
		defer l.mu.Unlock()
		if missing := headLen - len(l.head); missing > 0 {
			l.head = append(l.head, p[:min(n, missing)]...)
			if l.garbled() { // the library would make room for its "length"
				return 0, errNotZooKeeper
			}
		}
	}
	return n, err
}

func (l *zkLink) Write(p []byte) (int, error) {
	l.clock.sent()
	n, err := l.Conn.Write(p)
	if l.watchesSent != nil && len(p) >= requestHead && binary.BigEndian.Uint32(p[requestOp:]) == opSetWatches {
		l.sentOnce.Do(func() { close(l.watchesSent) })
	}
	return n, err
}

// SetReadDeadline keeps a handshake with a server that hangs from lasting
// longer than the session: the library allows ten times its usual limit.
func (l *zkLink) SetReadDeadline(t time.Time) error {
	if latest := time.Now().Add(l.patience); t.After(latest) {
		t = latest
	}
	return l.Conn.SetReadDeadline(t)
}

func (l *zkLink) garbled() bool {
	return len(l.head) >= 4 && binary.BigEndian.Uint32(l.head) > maxAnswer
}

func (l *zkLink) refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.garbled() {
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

// zkHosts goes round the servers. Unlike the library's own list it resolves
// names when it dials, so a server may come back under another address, and it
// pauses (a second, in the library) only after a whole round was in vain.
type zkHosts struct {
	servers     []string
	next, tried int
	failed      func()
}

func (h *zkHosts) Init(servers []string) error { h.servers = servers; return nil }
func (h *zkHosts) Len() int                    { return len(h.servers) }
func (h *zkHosts) Connected()                  { h.tried = 0 }

func (h *zkHosts) Next() (server string, retryStart bool) {
	if h.tried == len(h.servers) {
		h.tried, retryStart = 0, true
		h.failed()
	}
	server = h.servers[h.next]
	h.next = (h.next + 1) % len(h.servers)
	h.tried++
	return server, retryStart
}

// zkLog takes the library's remarks. What goes wrong reaches the callers as
// errors; these lines only help to debug.
type zkLog struct{}

func (zkLog) Printf(format string, args ...any) {
	if slog.Default().Enabled(context.Background(), slog.LevelDebug) {
		slog.Debug("zookeeper: " + fmt.Sprintf(format, args...))
	}
}
