package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/tap"
)

// A ZooKeeperClient has one ZooKeeper session at a time. It reconnects when the
// server is back, and opens a new session when the server ended the last one, so
// it lives as long as its instance.
//
// Unlike those of *zk.Conn, its commands pass the tap and end with their
// context. A command whose context ended first has an unknown outcome: it may
// still wait in a queue and reach the server later. Forget takes that into
// account.
type ZooKeeperClient struct {
	conn   *zk.Conn
	events <-chan zk.Event // closed when conn's last goroutine has ended
	dialer *Dialer
	life   context.Context // ends at Close
	end    context.CancelFunc
	work   sync.WaitGroup // goroutines of CleanUp
	wire   wireClock
	asked  time.Duration // the session time-out we ask for

	mu        sync.Mutex
	link      *zkLink // the TCP connection that was opened last
	session   *ZooKeeperSession
	connected bool
	up        chan struct{}   // closed while connected, and at Close
	late      []chan struct{} // commands whose callers stopped waiting
}

// A ZooKeeperSession is what ephemeral nodes belong to.
type ZooKeeperSession struct {
	ID      int64
	Timeout time.Duration // as negotiated

	alive    context.Context
	over     context.CancelCauseFunc
	watchdog *time.Timer
}

// Alive ends when the session is over: the server said so, or it answered
// nothing for the session's time-out, after which it may have removed our
// ephemeral nodes. A lost connection alone is not the end: within the time-out
// the session can be resumed.
//
// The time runs from when the last answered request was sent, so Alive ends
// before the server's session does. A process that is stopped meanwhile notices
// only when it runs again.
func (s *ZooKeeperSession) Alive() context.Context { return s.alive }

var (
	errZooKeeperClosed = errors.New("the ZooKeeper client is closed")
	errZooKeeperDown   = errors.New("there is no connection to ZooKeeper")
	errZooKeeperSilent = errors.New("ZooKeeper has not answered for the session's time-out")
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
		dialer: in.Dialer, asked: cmp.Or(in.Config.ZooKeeperSession, defaultZooKeeperSession),
		up: make(chan struct{}),
	}
	if err := in.Dialer.dialAny(ctx, tap.ZooKeeper, zk.FormatServers(addrs)...); err != nil {
		return explainUnreachable(NameZooKeeper, strings.Join(addrs, ","), err)
	}
	c.wire.start = time.Now()
	c.life, c.end = context.WithCancel(context.Background())
	var err error
	c.conn, c.events, err = zk.Connect(addrs, c.asked, zk.WithDialer(c.dial), zk.WithEventCallback(c.handleEvent),
		zk.WithHostProvider(&zkHosts{}), zk.WithLogger(log.New(io.Discard, "", 0))) // its errors are returned
	if err != nil {
		c.end()
		return explainUnreachable(NameZooKeeper, strings.Join(addrs, ","), err)
	}
	in.closers = append(in.closers, c.Close)
	ctx, cancel := context.WithTimeoutCause(ctx, openZooKeeperWithin, fmt.Errorf("no session: %w", errSilent))
	defer cancel()
	select {
	case <-c.up:
	case <-ctx.Done():
		return explainUnreachable(NameZooKeeper, strings.Join(addrs, ","), context.Cause(ctx))
	}
	in.ZooKeeper = c
	ctx, cancel = context.WithTimeout(ctx, time.Second)
	defer cancel()
	if in.versions[NameZooKeeper], _, err = AskZooKeeper(ctx, c.conn.Server()); err != nil {
		in.versions[NameZooKeeper] = "ZooKeeper" // its words may be forbidden
	}
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

// handleEvent handles the connection's events, on the library's goroutines.
func (c *ZooKeeperClient) handleEvent(ev zk.Event) {
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
		c.noteConnected()
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

func (c *ZooKeeperClient) noteConnected() {
	id, timeout := c.link.grantedSession()
	if s := c.session; s == nil || s.ID != id || s.alive.Err() != nil {
		if s != nil {
			s.watchdog.Stop()
			s.over(zk.ErrSessionExpired)
		}
		// If a session was declared dead too early because the server was slow,
		// it counts as a new one: its earlier holders were told that it ended.
		s = &ZooKeeperSession{ID: id, Timeout: timeout}
		s.alive, s.over = context.WithCancelCause(context.Background())
		s.watchdog = time.AfterFunc(timeout, func() { c.watchSession(s) })
		c.session = s
	} else {
		c.link.watchesFirst()
	}
	c.connected = true
	close(c.up)
}

// Expire has the client believe that the server has ended its session and given it another,
// for a proof that has removed the nodes of the first.
func (c *ZooKeeperClient) Expire() {
	for _, state := range []zk.State{zk.StateDisconnected, zk.StateExpired, zk.StateHasSession} {
		c.handleEvent(zk.Event{Type: zk.EventSession, State: state})
	}
}

// watchSession ends s when the server was silent for the session's time-out.
func (c *ZooKeeperClient) watchSession(s *ZooKeeperSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.alive.Err() != nil {
		return
	}
	if left := s.Timeout - c.wire.silentFor(); left > 0 {
		s.watchdog.Reset(left)
		return
	}
	s.over(errZooKeeperSilent)
	if c.link != nil {
		c.link.Close() // connect again, perhaps to a faster server
	}
}

// dial opens the next connection, on the library's goroutine.
func (c *ZooKeeperClient) dial(network, addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(c.life, timeout)
	defer cancel()
	conn, err := c.dialer.dial(ctx, tap.ZooKeeper, network, addr)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		c.link.Close() // the library leaves it open when a session has expired
	}
	c.link = nil
	if err != nil {
		return nil, err
	}
	if c.life.Err() != nil {
		conn.Close()
		return nil, errZooKeeperClosed
	}
	c.wire.asked.Store(0) // the old connection's answers will never come
	c.link = &zkLink{Conn: conn, clock: &c.wire, limit: c.asked}
	return c.link, nil
}

var zookeeperSays = regexp.MustCompile(`version: (\d[\d.]*)`)

// AskZooKeeper asks a server for its version and whether it leads others, by the one
// four-letter word that servers allow by default. While a server waits for the rest of
// its ensemble, it has no version.
func AskZooKeeper(ctx context.Context, addr string) (version string, leads bool, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", false, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return "", false, err
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return "", false, err
	}
	said := zookeeperSays.FindStringSubmatch(string(answer))
	if said == nil {
		return "", false, fmt.Errorf("srvr says %q", answer)
	}
	return "ZooKeeper " + said[1], strings.Contains(string(answer), "Mode: leader"), nil
}
