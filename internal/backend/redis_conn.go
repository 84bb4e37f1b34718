package backend

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9"

	"seckill/internal/tap"
)

// A command that was sent may have run, whether its reply came or not, so it
// is not sent again: a silent repeat deducts, or gives back, twice. MaxRetries
// -1 sees to that for one server. The client of a Cluster repeats all the same,
// as often as it follows redirections (MaxRedirects), whenever an error looks
// like a lost connection or a time-out. So here an error of a connection that
// was open does not look like that: go-redis closes the connection, and repeats
// nothing. What it still tries again has provably not run: a dial that failed
// reached nobody, and MOVED, ASK and the like are a server's refusal.

// dialRedis opens a connection whose errors are noAnswer.
func (in *Instance) dialRedis(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := in.Dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return redisConn{c}, nil
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

// watchCluster has the tap see every command to every node, each time that it
// is sent, and not only what the Cluster's client was asked for.
func watchCluster(c *redis.ClusterClient) {
	c.OnNewNode(func(node *redis.Client) { node.AddHook(tap.RedisHook{Node: node.Options().Addr}) })
	c.AddHook(onceHook{})
}

// onceHook forbids the repetition of pipelines: for an error of its first
// command alone go-redis would send all of one again. (A transaction that was
// refused has run nothing.)
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
