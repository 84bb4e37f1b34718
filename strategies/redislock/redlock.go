package redislock

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-redsync/redsync/v4"
	redsyncredis "github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/tap"
)

// Redlock asks five independent Redis servers, and has the lock as soon as
// three of them agree. If one server is lost or hangs, the lock is neither
// lost nor delayed. If a server forgets its vote and the holder had only
// three, another buyer can get three votes, too. And a holder that is paused
// past its lease goes on selling while the next holder has the lock.
var Redlock = family.Strategy(catalog.Info{
	Name: "redlock",
	Source: "A, C (third Redis way): the RedLock algorithm " +
		"(S. Sanfilippo, \"Distributed Locks with Redis\")",
	Guarantees: catalog.Leased.Holds(catalog.Owner, catalog.NodeLoss),
	Needs:      []backend.Capability{backend.RedisQuorum},
	Redis:      []string{"SET", "EVALSHA", "EVAL", "GET", "DEL"},
	Also:       []string{"redsync.go", "answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		l := &redsyncLock{
			nodes:      len(d.RedisNodes),
			maxAttempt: redlockMaxAttempt,
			ttl:        d.Settings.LockLease,
		}
		var pools []redsyncredis.Pool
		for _, node := range d.RedisNodes {
			v := &voter{redis: node, background: &d.Background}
			l.voters, pools = append(l.voters, v), append(pools, v)
		}
		l.sync = redsync.New(pools...)
		return l, nil
	},
})

// redlockMaxAttempt bounds the time of an attempt, as a fraction of the lease.
// The bound matters if an attempt needs the vote of a node that does not
// answer.
const redlockMaxAttempt = 0.05

// A voter sends redsync's commands to one of the five nodes, by three rules:
//
//  1. When a buyer has enough votes of other nodes, a command to this node is
//     not cancelled.
//  2. A release is sent when the SET of the same token has ended, because a
//     release that overtakes the SET would leave the key in place.
//  3. A node that has not answered a command is silent. A silent node gets no
//     commands. Releases for this node are kept until the node answers again.
type voter struct {
	redis           *redis.Client
	background      *sync.RWMutex
	silent          atomic.Bool // true from a time-out until the next answer
	attempts        sync.Map    // maps a token to a channel, closed after SET
	pendingReleases sync.Map    // the kept releases, by token
}

var errSilent = errors.New("this node has not answered for a while")

func (v *voter) Get(ctx context.Context) (redsyncredis.Conn, error) {
	return &voterConn{ctx: ctx, node: v}, nil
}

// A voterConn carries one command: redsync asks for one per command.
type voterConn struct {
	redsyncredis.Conn
	ctx  context.Context
	node *voter
}

// SetNX asks the node for its vote.
func (c *voterConn) SetNX(
	key, token string, ttl time.Duration,
) (ok bool, err error) {
	ended, _ := c.node.attempts.Load(token)
	defer close(ended.(chan struct{}))
	if c.node.silent.Load() {
		c.node.attempts.Delete(token)
		return false, errSilent
	}
	limit := time.Duration(redlockMaxAttempt * float64(ttl))
	conn, done := c.node.connectFor(c.ctx, limit)
	ok, err = conn.SetNX(key, token, ttl)
	done(err)
	return ok, err
}

// Eval runs redsync's script that releases the lock.
func (c *voterConn) Eval(
	script *redsyncredis.Script, keyAndToken ...any,
) (any, error) {
	v, token := c.node, keyAndToken[1]
	ended, asked := v.attempts.Load(token)
	if asked {
		<-ended.(chan struct{})
	}
	if v.silent.Load() {
		if asked {
			v.keepRelease(script, keyAndToken)
		}
		return nil, errSilent
	}
	conn, done := v.connectFor(c.ctx, time.Second)
	answer, err := conn.Eval(script, keyAndToken...)
	if done(err) {
		v.keepRelease(script, keyAndToken)
	} else {
		v.attempts.Delete(token)
	}
	return answer, err
}

func (c *voterConn) Close() error { return nil }

// connectFor returns a connection for one command that may take up to limit.
// After the command, the caller must call done with the command's error. done
// reports whether the answer is overdue.
//
// If the clock is stopped (see tap.ClockStopped), there is no time limit.
func (v *voter) connectFor(
	ctx context.Context, limit time.Duration,
) (c redsyncredis.Conn, done func(error) bool) {
	v.background.RLock()
	clockStopped := tap.ClockStopped(ctx)
	if !clockStopped {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := tap.WithTimeout(ctx, limit)
	c, _ = goredis.NewPool(v.redis).Get(ctx) // Get never returns an error
	return c, func(err error) bool {
		cancel()
		v.background.RUnlock()
		overdue := isOverdue(err) && !clockStopped
		if overdue && v.silent.CompareAndSwap(false, true) {
			go v.awaitAnswer()
		}
		return overdue
	}
}

// awaitAnswer sends PINGs until the node answers, and then the kept releases.
func (v *voter) awaitAnswer() {
	v.background.RLock()
	for isOverdue(v.redis.Ping(context.Background()).Err()) {
	}
	v.background.RUnlock()
	v.silent.Store(false)
	v.sendReleases()
}

// keepRelease keeps a release until the node answers. The node may have
// answered since the caller's check, so keepRelease checks again.
func (v *voter) keepRelease(script *redsyncredis.Script, keyAndToken []any) {
	v.pendingReleases.Store(keyAndToken[1], func() {
		c := &voterConn{ctx: context.Background(), node: v}
		c.Eval(script, keyAndToken...)
	})
	if !v.silent.Load() {
		v.sendReleases()
	}
}

func (v *voter) sendReleases() {
	v.pendingReleases.Range(func(token, _ any) bool {
		if send, kept := v.pendingReleases.LoadAndDelete(token); kept {
			send.(func())()
		}
		return true
	})
}

func isOverdue(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, redis.ErrPoolTimeout)
}
