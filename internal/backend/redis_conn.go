package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"

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
		c, err := in.Dialer.DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		if !encrypted {
			return redisConn{c}, nil
		}
		t := tls.Client(c, trusting(addr))
		if err := t.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		return redisTLS{redisConn{t}}, nil
	}
}

// redisTLS has no SyscallConn: a server may send session tickets at any time, which
// go-redis would take for an answer without a question. A connection that
// was closed while it was idle is noticed by the next command, whose outcome is
// then unknown.
type redisTLS struct{ net.Conn }

type redisConn struct{ net.Conn }

func (c redisConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, unanswered(err)
}

func (c redisConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, unanswered(err)
}

// SyscallConn: see trackedConn.
func (c redisConn) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
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

// watchCluster shows the tap every command to every node each time it is sent,
// not only the Cluster client's calls.
func watchCluster(c *redis.ClusterClient) {
	c.OnNewNode(func(node *redis.Client) { node.AddHook(tap.RedisHook{Node: node.Options().Addr}) })
	c.AddHook(onceHook{})
}

// onceHook forbids the repetition of pipelines: go-redis would send a whole one
// again after an error of its first command. A refused transaction has run
// nothing and may be repeated.
type onceHook struct{}

func (onceHook) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (onceHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (onceHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if len(cmds) == 0 || strings.EqualFold(cmds[0].Name(), "multi") {
			return next(ctx, cmds)
		}
		sent := make([]redis.Cmder, len(cmds))
		for i, cmd := range cmds {
			sent[i] = once{cmd}
		}
		return next(ctx, sent)
	}
}

type once struct{ redis.Cmder }

func (once) NoRetry() bool { return true }
