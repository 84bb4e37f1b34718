package backend

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

// ErrKilled is the error of every dial after Dialer.Kill.
var ErrKilled = errors.New("this instance was killed")

// A Dialer opens every network connection of one instance. The method Kill simulates the death of the process.
type Dialer struct {
	wrap func(net.Conn) net.Conn // Config.WrapConn

	mu    sync.Mutex
	conns map[*trackedConn]bool
	dead  bool
}

const dialTimeout = 3 * time.Second

// dial opens a connection to a server of the given backend (tap.SQL, tap.Redis and so on). Its other parameters are
// those of net.Dialer.DialContext.
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
	tracked := &trackedConn{Conn: c, dialer: d, backend: backend}
	d.conns[tracked] = true
	return tracked, nil
}

// dialAny returns nil if one of the servers accepts a connection. Otherwise it returns the error from dialing the last
// server. Some clients never return such an error, because they dial again forever.
func (d *Dialer) dialAny(ctx context.Context, backend string, addrs ...string) error {
	var last error
	for _, addr := range addrs {
		conn, err := d.dial(ctx, backend, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		last = err
	}
	return last
}

// Kill simulates the death of the instance's process. It closes the connections without ending the sessions on the
// servers, and every later dial fails. Instance.Close must still be called.
func (d *Dialer) Kill() {
	d.mu.Lock()
	d.dead = true
	d.mu.Unlock()
	d.Cut()
}

// Cut closes every open connection, as a broken cable would, and returns their number. New connections can be opened.
func (d *Dialer) Cut() int {
	d.mu.Lock()
	open := d.conns
	d.conns = map[*trackedConn]bool{}
	d.mu.Unlock()
	for c := range open {
		c.Conn.Close()
	}
	return len(open)
}

type trackedConn struct {
	net.Conn
	dialer  *Dialer
	backend string
}

// SyscallConn lets go-redis and the MySQL driver check whether the server has closed an idle connection. A command that
// they send on a closed connection would have an unknown outcome.
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

// LocalPorts returns the local ports of the open connections to a backend (tap.SQL, tap.Redis and
// so on). A server's list of clients shows these ports.
func (d *Dialer) LocalPorts(backend string) []string {
	var ports []string
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		if c.backend != backend {
			continue
		}
		if _, port, err := net.SplitHostPort(c.LocalAddr().String()); err == nil { // a Unix socket has no port, so skip it
			ports = append(ports, port)
		}
	}
	return ports
}
