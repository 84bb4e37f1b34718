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
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Redlock asks five independent Redis servers and has the lock when three of
// them agree, without a wait for the others: one may be lost, or hang, and the
// lock is neither lost nor slow. One that forgets its vote gives a second
// majority if the holder had just three; a holder paused past its lease works
// on beside its successor.
var Redlock = catalog.Info{
	Name: "redlock",
	Source: "A, C (third Redis way): the RedLock algorithm " +
		"(S. Sanfilippo, \"Distributed Locks with Redis\")",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.RedisQuorum},
	Redis: []string{"SET", "EVALSHA", "EVAL", "GET", "DEL"},
	Stock: seckill.InRow,
	Also:  []string{"redsync.go", "answers.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		l := &redsyncLock{nodes: len(d.RedisNodes), maxAttempt: redlockMaxAttempt,
			ttl: d.Settings.LockLease}
		var pools []redsyncredis.Pool
		for _, node := range d.RedisNodes {
			v := &voter{redis: node, background: &d.Background}
			l.voters, pools = append(l.voters, v), append(pools, v)
		}
		l.sync = redsync.New(pools...)
		return l, nil
	},
	Key: stockKey,
}

// An attempt may last a twentieth of the lease, where the answers of a node
// that does not answer could decide it.
const redlockMaxAttempt = 0.05

// A voter is one of the five, as redsync asks it. A command goes on when its
// buyer does, with the votes of others; what frees a key is sent when what
// takes it has ended. A node that leaves commands unanswered is not asked, and
// what it may have taken is freed when it answers again.
type voter struct {
	redis           *redis.Client
	background      *sync.RWMutex
	silent          atomic.Bool // a command was overdue, and no PING answered since
	attempts        sync.Map    // by token: a channel, closed when its SET ends
	pendingReleases sync.Map    // by token: what frees a key once it answers again
}

var errSilent = errors.New("this node has not answered for a while")

// Get implements redsync's Pool.
func (v *voter) Get(ctx context.Context) (redsyncredis.Conn, error) {
	return &vote{ctx: ctx, of: v}, nil
}

// A vote is one command. redsync sends no others.
type vote struct {
	redsyncredis.Conn
	ctx context.Context
	of  *voter
}

func (v *vote) SetNX(
	key, token string, ttl time.Duration,
) (ok bool, err error) {
	ended, _ := v.of.attempts.Load(token)
	defer close(ended.(chan struct{}))
	if v.of.silent.Load() {
		v.of.attempts.Delete(token)
		return false, errSilent
	}
	limit := time.Duration(redlockMaxAttempt * float64(ttl))
	c, done := v.of.connectFor(v.ctx, limit)
	ok, err = c.SetNX(key, token, ttl)
	done(err)
	return ok, err
}

func (v *vote) Eval(
	script *redsyncredis.Script, keyAndToken ...any,
) (any, error) {
	token := keyAndToken[1]
	ended, asked := v.of.attempts.Load(token)
	if asked {
		<-ended.(chan struct{})
		v.of.attempts.Delete(token)
	}
	if v.of.silent.Load() {
		if asked {
			v.of.pendingReleases.Store(token, func() { v.Eval(script, keyAndToken...) })
		}
		return nil, errSilent
	}
	c, done := v.of.connectFor(v.ctx, time.Second)
	answer, err := c.Eval(script, keyAndToken...)
	done(err)
	return answer, err
}

// Close implements redsync's Conn, of which none is kept.
func (v *vote) Close() error { return nil }

// begin is a connection for one command. Call done with what it answered.
func (v *voter) connectFor(
	ctx context.Context, limit time.Duration,
) (c redsyncredis.Conn, done func(error)) {
	v.background.RLock()
	if !tap.TimeStands(ctx) {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := tap.WithTimeout(ctx, limit)
	c, _ = goredis.NewPool(v.redis).Get(ctx) // which connects when it is used
	return c, func(err error) {
		cancel()
		v.background.RUnlock()
		if isOverdue(err) && v.silent.CompareAndSwap(false, true) {
			go v.awaitAnswer()
		}
	}
}

// listen waits until the node answers again, or refuses to.
func (v *voter) awaitAnswer() {
	v.background.RLock()
	for isOverdue(v.redis.Ping(context.Background()).Err()) {
	}
	v.background.RUnlock()
	v.silent.Store(false)
	v.pendingReleases.Range(func(token, free any) bool {
		v.pendingReleases.Delete(token)
		free.(func())()
		return true
	})
}

func isOverdue(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, redis.ErrPoolTimeout)
}
