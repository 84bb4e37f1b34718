package zkclient

import (
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

// A Client has one ZooKeeper session at a time. It reconnects when the
// server is back, and opens a new session when the server ended the last one, so
// it lives as long as its instance.
//
// Unlike those of *zk.Conn, its commands pass the tap and end with their
// context. A command whose context ended first has an unknown outcome: it may
// still wait in a queue and reach the server later. Forget takes that into
// account.
type Client struct {
	options Options
	conn    *zk.Conn
	events  <-chan zk.Event // closed when conn's last goroutine has ended
	life    context.Context // ends at Close
	end     context.CancelFunc
	work    sync.WaitGroup // goroutines of CleanUp
	wire    wireClock

	mu        sync.Mutex
	link      *wireConn // the TCP connection that was opened last
	session   *Session
	connected bool
	up        chan struct{}   // closed while connected, and at Close
	late      []chan struct{} // commands whose callers stopped waiting
}

// A Session is what ephemeral nodes belong to.
type Session struct {
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
func (s *Session) Alive() context.Context { return s.alive }

var (
	errClosed       = errors.New("the ZooKeeper client is closed")
	errNotConnected = errors.New("there is no connection to ZooKeeper")
	errSilent       = errors.New("ZooKeeper has not answered for the session's time-out")
)

// Options say how a Client reaches its servers.
type Options struct {
	Servers        []string // host:port
	SessionTimeout time.Duration
	Dial           func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Open connects to one of the servers and waits for a session until ctx ends.
func Open(ctx context.Context, o Options) (*Client, error) {
	c := &Client{options: o, up: make(chan struct{})}
	c.wire.start = time.Now()
	c.life, c.end = context.WithCancel(context.Background())
	var err error
	c.conn, c.events, err = zk.Connect(o.Servers, o.SessionTimeout, zk.WithDialer(c.dial), zk.WithEventCallback(c.handleEvent),
		zk.WithHostProvider(&hostCycle{}), zk.WithLogger(log.New(io.Discard, "", 0))) // errors are returned
	if err != nil {
		c.end()
		return nil, err
	}
	select {
	case <-c.up:
		return c, nil
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), c.Close())
	}
}

// Server returns the address of the server that the client is, or was last, connected to.
func (c *Client) Server() string { return c.conn.Server() }

// Close ends the session, which removes its ephemeral nodes at once if the
// server can be told, and returns when every goroutine of the client is gone.
func (c *Client) Close() error {
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
		session.over(errClosed)
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
func (c *Client) Connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connected
}

// Session returns the session, after waiting for the connection if it is down.
func (c *Client) Session(ctx context.Context) (*Session, error) {
	for {
		c.mu.Lock()
		s, connected, up := c.session, c.connected, c.up
		c.mu.Unlock()
		switch {
		case c.life.Err() != nil:
			return nil, errClosed
		case connected:
			return s, nil
		}
		if _, err := tap.Wait(ctx, "connection to ZooKeeper", up); err != nil {
			return nil, err
		}
	}
}

// handleEvent handles the connection's events, on the library's goroutines.
func (c *Client) handleEvent(ev zk.Event) {
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

func (c *Client) noteConnected() {
	id, timeout := c.link.grantedSession()
	if s := c.session; s == nil || s.ID != id || s.alive.Err() != nil {
		if s != nil {
			s.watchdog.Stop()
			s.over(zk.ErrSessionExpired)
		}
		// If a session was declared dead too early because the server was slow,
		// it counts as a new one: its earlier holders were told that it ended.
		s = &Session{ID: id, Timeout: timeout}
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
func (c *Client) Expire() {
	for _, state := range []zk.State{zk.StateDisconnected, zk.StateExpired, zk.StateHasSession} {
		c.handleEvent(zk.Event{Type: zk.EventSession, State: state})
	}
}

// watchSession ends s when the server was silent for the session's time-out.
func (c *Client) watchSession(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.alive.Err() != nil {
		return
	}
	if left := s.Timeout - c.wire.silentFor(); left > 0 {
		s.watchdog.Reset(left)
		return
	}
	s.over(errSilent)
	if c.link != nil {
		c.link.Close() // connect again, perhaps to a faster server
	}
}

// dial opens the next connection, on the library's goroutine.
func (c *Client) dial(network, addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(c.life, timeout)
	defer cancel()
	conn, err := c.options.Dial(ctx, network, addr)
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
		return nil, errClosed
	}
	c.wire.asked.Store(0) // the old connection's answers will never come
	c.link = &wireConn{Conn: conn, clock: &c.wire, limit: c.options.SessionTimeout}
	return c.link, nil
}

var serverVersion = regexp.MustCompile(`version: (\d[\d.]*)`)

// AskServer asks a server for its version and whether it leads others, by the one
// four-letter word that servers allow by default. While a server waits for the rest of
// its ensemble, it has no version.
func AskServer(ctx context.Context, addr string) (version string, leads bool, err error) {
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
	said := serverVersion.FindStringSubmatch(string(answer))
	if said == nil {
		return "", false, fmt.Errorf("srvr says %q", answer)
	}
	return "ZooKeeper " + said[1], strings.Contains(string(answer), "Mode: leader"), nil
}
