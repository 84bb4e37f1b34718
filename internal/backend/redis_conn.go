package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"

	"seckill/internal/tap"
)

// A command that was sent may have run even if its reply was lost, so it must
// not be repeated silently: that deducts, or gives back, twice. For one server
// MaxRetries -1 is enough. A Cluster's client also repeats, up to MaxRedirects
// times, after errors that look like a lost connection or a time-out. The errors
// of open connections are therefore disguised here: go-redis closes the
// connection and repeats nothing. It still repeats what has provably not run: a
// failed dial, and refusals such as MOVED and ASK.

// dialRedis opens connections whose errors are noAnswer.
func (in *Instance) dialRedis(encrypted bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := in.Dialer.dial(ctx, tap.Redis, network, addr)
		if err != nil {
			return nil, err
		}
		if !encrypted {
			return struct {
				redisConn
				syscall.Conn // see trackedConn
			}{redisConn{c}, c.(syscall.Conn)}, nil
		}
		host, _, _ := net.SplitHostPort(addr) // for which the certificate must be, by one of the system's authorities
		t := tls.Client(c, &tls.Config{ServerName: host})
		if err := t.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		// It has no SyscallConn: a server may send session tickets at any time, which
		// go-redis would take for an answer without a question. A connection that
		// was closed while it was idle is noticed by the next command, whose outcome is
		// then unknown.
		return redisConn{t}, nil
	}
}

type redisConn struct{ net.Conn }

func (c redisConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, unanswered(err)
}

func (c redisConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, unanswered(err)
}

func unanswered(err error) error {
	if err == nil {
		return nil
	}
	return &noAnswer{err}
}

// noAnswer is the error of an open connection. It hides what go-redis repeats
// a command for: io.EOF and Timeout().
type noAnswer struct{ err error }

func (e *noAnswer) Error() string { return e.err.Error() }

func (e *noAnswer) Is(target error) bool {
	return target != io.EOF && target != io.ErrUnexpectedEOF && errors.Is(e.err, target)
}
