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

// A Client has one ZooKeeper session at a time. It reconnects after a lost connection. When the
// server has ended the session, the Client opens a new one.
//
// Unlike the commands of *zk.Conn, the commands of a Client pass the tap and end with their context. A command whose
// context has ended has an unknown outcome, because it may still wait in a queue and reach the server later. CleanUp
// waits for such commands.
type Client struct {
	options Options
	conn    *zk.Conn
	events  <-chan zk.Event // closed when the last goroutine of conn has ended
	life    context.Context // ended by Close
	end     context.CancelFunc
	work    sync.WaitGroup // counts the goroutines of CleanUp
	wire    wireClock

	mu sync.Mutex
	state
}

// state is the part of a Client that its mutex mu guards.
type state struct {
	link      *wireConn // the most recent TCP connection
	session   *Session
	connected bool
	up        chan struct{}   // closed while the client is connected, and after Close
	late      []chan struct{} // for each command whose context ended early, a channel that is closed when the command ends
}

// A Session owns ephemeral nodes: the server removes them when the session ends.
type Session struct {
	ID      int64
	Timeout time.Duration // the timeout that the server has granted

	alive    context.Context
	over     context.CancelCauseFunc
	watchdog *time.Timer
}

// Alive returns a context that ends when the server has ended the session. The context also ends when the server has
// not answered for the session's timeout, because the server may then have removed our ephemeral nodes. A lost
// connection does not end the session, which can be resumed within the timeout.
//
// The timeout is counted from the time at which the last answered request was sent. The server begins to count later,
// so Alive ends before the session. A process that is stopped notices the end only when it runs again.
func (s *Session) Alive() context.Context { return s.alive }

var (
	errClosed       = errors.New("the ZooKeeper client is closed")
	errNotConnected = errors.New("not connected to ZooKeeper")
	errSilent       = errors.New("ZooKeeper has not answered within the session's timeout")
)

// Options say how a Client reaches its servers.
type Options struct {
	Servers        []string // host:port
	SessionTimeout time.Duration
	Dial           func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Open connects to one of the servers and waits for a session until ctx ends.
func Open(ctx context.Context, o Options) (*Client, error) {
	c := &Client{options: o, state: state{up: make(chan struct{})}}
	c.wire.start = time.Now()
	c.life, c.end = context.WithCancel(context.Background())
	var err error
	noLog := log.New(io.Discard, "", 0) // the log is not needed, because the library also returns the errors that it logs
	c.conn, c.events, err = zk.Connect(o.Servers, o.SessionTimeout, zk.WithDialer(c.dial),
		zk.WithEventCallback(c.handleEvent), zk.WithHostProvider(&hostCycle{}), zk.WithLogger(noLog))
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

// Server returns the address of the server of the current or the last connection.
func (c *Client) Server() string { return c.conn.Server() }

// Close ends the session and returns when every goroutine of the client has ended. If the server can be reached, it
// removes the ephemeral nodes of the session at once.
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
		link.Close() // the library may be waiting for the answer to its handshake, and this ends the wait
	}
	c.conn.Close() // this call takes about a second if the server does not answer
	if link != nil {
		link.Close()
	}
	for range c.events {
	}
	c.work.Wait()
	return nil
}

// Connected reports whether the client has a session and a connection.
func (c *Client) Connected() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connected
}

// Session returns the current session. While there is no connection, it waits for one.
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

// handleEvent handles an event of the connection. Goroutines of the library call it.
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
		// The server may resume a session that the watchdog has already ended here. The client then makes a new
		// Session with the same ID, because users of the old Session have been told that it ended.
		s = &Session{ID: id, Timeout: timeout}
		s.alive, s.over = context.WithCancelCause(context.Background())
		s.watchdog = time.AfterFunc(timeout, func() { c.watchSession(s) })
		c.session = s
	} else {
		c.link.delayAnswers()
	}
	c.connected = true
	close(c.up)
}

// Expire makes the client believe that the server has ended its session and granted a new one. Package explore calls
// Expire to simulate the end of a session, after it has removed the session's nodes.
func (c *Client) Expire() {
	for _, state := range []zk.State{zk.StateDisconnected, zk.StateExpired, zk.StateHasSession} {
		c.handleEvent(zk.Event{Type: zk.EventSession, State: state})
	}
}

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
		c.link.Close() // the library then connects again, perhaps to a faster server
	}
}

// dial opens the next connection. A goroutine of the library calls it.
func (c *Client) dial(network, addr string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(c.life, timeout)
	defer cancel()
	conn, err := c.options.Dial(ctx, network, addr)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil {
		c.link.Close() // The library leaves the old connection open when a session has expired.
	}
	c.link = nil
	if err != nil {
		return nil, err
	}
	if c.life.Err() != nil {
		conn.Close()
		return nil, errClosed
	}
	c.wire.asked.Store(0) // Requests on the old connection get no answer, so they do not count as unanswered.
	c.link = &wireConn{Conn: conn, clock: &c.wire, sessionTimeout: c.options.SessionTimeout}
	return c.link, nil
}

var serverVersion = regexp.MustCompile(`version: (\d[\d.]*)`)

// maxAnswer limits the answer to the command srvr, in bytes. A ZooKeeper server sends about 200.
const maxAnswer = 4 << 10

// AskServer asks a server for its version and whether it leads an ensemble. It sends srvr, the only four-letter
// command that servers allow by default. A server that still waits for its ensemble does not answer with a version.
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
	answer, err := io.ReadAll(io.LimitReader(conn, maxAnswer))
	if err != nil {
		return "", false, err
	}
	match := serverVersion.FindStringSubmatch(string(answer))
	if match == nil {
		return "", false, fmt.Errorf("the answer to srvr is %.200q", answer)
	}
	return "ZooKeeper " + match[1], strings.Contains(string(answer), "Mode: leader"), nil
}
