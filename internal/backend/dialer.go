package backend

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// ErrKilled is the error of every dial after Kill.
var ErrKilled = errors.New("this instance was killed")

// A Dialer opens every network connection of one instance, so that the death of
// its process can be simulated: Kill closes the sockets as a crash would and
// refuses every later connection.
type Dialer struct {
	wrap func(net.Conn) net.Conn // see Config.WrapConn

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	dead  bool
}

// dialTimeout bounds every dial.
const dialTimeout = 3 * time.Second

// dial connects to a server of a backend like net.Dialer.DialContext.
func (d *Dialer) dial(ctx context.Context, backend, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	dead := d.dead
	d.mu.Unlock()
	if dead {
		return nil, ErrKilled
	}
	c, err := (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	if d.wrap != nil {
		c = d.wrap(c)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		c.Close()
		return nil, ErrKilled
	}
	if d.conns == nil {
		d.conns = map[net.Conn]struct{}{}
	}
	tracked := &trackedConn{Conn: c, dialer: d, backend: backend}
	d.conns[tracked] = struct{}{}
	return tracked, nil
}

// dialAny dials until one of the servers takes a connection. The clients of some backends
// would try servers that refuse them again and again, and not say why.
func (d *Dialer) dialAny(ctx context.Context, backend string, addrs ...string) (err error) {
	for _, addr := range addrs {
		var conn net.Conn
		if conn, err = d.dial(ctx, backend, "tcp", addr); err == nil {
			return conn.Close()
		}
	}
	return err
}

// Kill closes every open connection and refuses new ones for ever.
func (d *Dialer) Kill() {
	d.mu.Lock()
	d.dead = true
	d.mu.Unlock()
	d.Cut()
}

// Cut closes every open connection, as a broken cable would. New ones may be
// opened.
func (d *Dialer) Cut() (closed int) {
	d.mu.Lock()
	open := d.conns
	d.conns = nil
	d.mu.Unlock()
	for c := range open {
		c.(*trackedConn).Conn.Close()
	}
	return len(open)
}

type trackedConn struct {
	net.Conn
	dialer  *Dialer
	backend string
}

// SyscallConn lets go-redis and the MySQL driver check, before they use an idle
// connection, whether the server has closed it: the outcome of a command sent on
// a closed one is unknown.
func (c *trackedConn) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}

func (c *trackedConn) Close() error {
	c.dialer.mu.Lock()
	delete(c.dialer.conns, c)
	c.dialer.mu.Unlock()
	return c.Conn.Close()
}

// LocalPorts are the ports at this end of the open connections to a backend (tap.SQL, …), by
// which a server's list of its clients tells them apart. A connection to another backend may
// have the same port.
func (d *Dialer) LocalPorts(backend string) (ports []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		if c.(*trackedConn).backend != backend {
			continue
		}
		if _, port, err := net.SplitHostPort(c.LocalAddr().String()); err == nil { // a Unix socket has none
			ports = append(ports, port)
		}
	}
	return ports
}
