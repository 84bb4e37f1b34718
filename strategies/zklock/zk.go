package zklock

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/zkclient"
)

// ZK is the queue of ephemeral sequential nodes. A holder paused past the
// session time-out works on beside its successor.
var ZK = catalog.Info{
	Name: "zk",
	Source: "A (its section on ZooKeeper), C, D: ephemeral sequential " +
		"nodes, as Curator's InterProcessMutex has them",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.ZooKeeper},
	Stock: seckill.InRow,
	Also:  []string{"hold.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkFirst}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("/seckill/locks/stock-", sku)
	},
}

// A zkLock is a queue of nodes. Its turn is what a contender does from the
// moment its node is there until it is at the front.
type zkLock struct {
	zk   *zkclient.Client
	turn func(*zkPlace) (fence uint64, err error)
}

// A zkPlace is a contender's node in the queue.
type zkPlace struct {
	*zkLock
	key, node string
	once      bool            // it does not wait
	asking    context.Context // of its commands
	waiting   context.Context // of its waits: ends with its time, too
}

const (
	// A command is asked again so often when the connection breaks.
	zkRetries = 2
	// An acquisition takes so much longer than its wait, at most, when the
	// server answers late or not at all; so long it tries to clean up.
	zkPatience = 2 * time.Second
)

var (
	errZKBusy  = errors.New("the wait is over")
	errZKGone  = errors.New("our node is gone, or our session")
	errZKAgain = errors.New("something changed while we looked")
	errZKDown  = errors.New("ZooKeeper does not answer")
)

// Acquire queues for key. A holder that passes its lease's context on acquires
// the lock again at once (reentrancy): Go has no thread that could own a lock,
// so the context says who asks. A lock is no protection between two goroutines
// that work under the same lease.
//
// o.Lease means nothing here: the lock lives as long as the session.
func (l *zkLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	if h, ok := ctx.Value(zkHeld{l, key}).(*zkHold); ok && h.enter() {
		return h.lease(ctx), nil
	}
	return zkContend(ctx, o.Wait, func(
		asking context.Context, end time.Time,
	) (lock.Lease, error) {
		return l.queue(ctx, asking, key, o.Wait, end)
	})
}

// zkContend makes attempts until one succeeds or the wait is over.
func zkContend(
	ctx context.Context, wait time.Duration,
	attempt func(asking context.Context, end time.Time) (lock.Lease, error),
) (lock.Lease, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	end := time.Now().Add(wait)
	asking, cancel := ctx, context.CancelFunc(func() {})
	if wait >= 0 {
		asking, cancel = context.WithDeadlineCause(
			ctx, end.Add(zkPatience), errZKDown)
	}
	defer cancel()
	for {
		lease, err := attempt(asking, end)
		switch {
		case err == nil:
			return lease, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, errZKBusy):
			return nil, seckill.ErrBusy
		case !errors.Is(err, errZKGone):
			return nil, fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
		case wait >= 0 && time.Now().After(end):
			return nil, seckill.ErrBusy
		}
		// A new session, or the lock was cleared: once more.
	}
}

// zkWaiting is the context of a wait. It ends with its time, and with the
// session: while we wait we want to hear of that, too.
func zkWaiting(
	asking context.Context, session *zkclient.Session,
	wait time.Duration, end time.Time,
) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancelCause(asking)
	deaf := context.AfterFunc(session.Alive(), func() { stop(errZKGone) })
	var timer *time.Timer
	if wait >= 0 {
		timer = time.AfterFunc(time.Until(end), func() { stop(errZKBusy) })
	}
	return ctx, func() {
		deaf()
		if timer != nil {
			timer.Stop()
		}
		stop(nil)
	}
}

// queue creates one node and sees it through to the front. Unless it gets
// there, it takes the node away again.
func (l *zkLock) queue(
	ctx, asking context.Context, key string,
	wait time.Duration, end time.Time,
) (_ lock.Lease, err error) {
	// The session comes first: should it end between the two, the node is
	// the next one's and stays, and the lease only ends too early.
	session, err := l.session(asking)
	if err != nil {
		return nil, err
	}
	h := &zkHold{lock: l, key: key, guid: newGUID(), depth: 1}
	defer func() {
		if err != nil {
			if left := h.leave(ctx); left != nil && ctx.Err() == nil {
				err = left // we cannot tell whether it was busy
			}
		}
	}()
	if h.node, err = l.create(asking, key, h.guid); err != nil {
		return nil, err
	}

	waiting, stop := zkWaiting(asking, session, wait, end)
	defer stop()
	h.fence, err = l.turn(&zkPlace{l, key, h.node, wait == 0, asking, waiting})
	if err != nil {
		return nil, err
	}
	h.alive = session.Alive()
	if h.alive.Err() != nil {
		return nil, errZKGone
	}
	return h.lease(ctx), nil
}

// zkFirst waits until no node is ahead.
func zkFirst(p *zkPlace) (fence uint64, err error) {
	for {
		fence, gone, err := p.look()
		switch {
		case err != nil:
			return 0, err
		case gone == nil: // we are first
			return fence, nil
		case p.once:
			return 0, errZKBusy
		}
		// Being told is not being first: the node ahead may have belonged
		// to a waiter that gave up, with others still ahead of it.
		err = p.zk.Wait(p.waiting, "node ahead in "+p.key, gone)
		if err != nil {
			return 0, err
		}
	}
}

// session returns at once while there is a connection. Otherwise it waits a
// moment: a server that was restarted is taken up again within that.
func (l *zkLock) session(
	ctx context.Context,
) (*zkclient.Session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, zkPatience, errZKDown)
	defer cancel()
	return l.zk.Session(ctx)
}

// create makes our node and returns its name. The guid in the name is the
// protection: when the connection breaks while we create, the node may be
// there all the same, and is found by it instead of being made twice, which
// would have us wait for ourselves.
func (l *zkLock) create(
	ctx context.Context, key, guid string,
) (name string, err error) {
	prefix := key + "/_c_" + guid + "-lock-"
	for failures := 0; ; {
		path, err := l.zk.Create(ctx, prefix, nil,
			zk.FlagEphemeralSequential)
		if err == nil {
			return path[len(key)+1:], nil
		}
		if failures++; failures > zkRetries || ctx.Err() != nil {
			return "", err
		}
		if errors.Is(err, zk.ErrNoNode) { // the first buyer ever
			if err := l.zk.EnsurePath(ctx, key); err != nil {
				return "", err
			}
			continue
		}
		if _, err := l.session(ctx); err != nil {
			return "", err
		}
		names, _, err := l.zk.Children(ctx, key)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return "", err
		}
		for _, name := range names {
			if strings.Contains(name, guid) {
				return name, nil
			}
		}
	}
}

// look lists the queue. If nodes are ahead of ours, gone yields when the
// last of them has gone or changed, or when our session ends.
//
// Otherwise the lock is ours, and the fencing token is the transaction that
// last changed the list. It costs no command of its own, as the node's czxid
// would, and it grows with every grant: the next holder's list lacks our node,
// so it was changed after this one was read.
func (p *zkPlace) look() (fence uint64, gone <-chan zk.Event, err error) {
	err = p.patiently(p.asking, func() error {
		names, stat, err := p.zk.Children(p.asking, p.key)
		if errors.Is(err, zk.ErrNoNode) {
			return errZKGone
		}
		if err != nil {
			return err
		}
		ahead, here := predecessor(names, p.node)
		if !here { // its session ended, or it was removed
			return errZKGone
		}
		if ahead == "" {
			fence, gone = uint64(stat.Pzxid), nil
			return nil
		}
		// Not exists: its watch on a node that is gone stays for ever.
		_, _, gone, err = p.zk.GetW(p.asking, p.key+"/"+ahead)
		if errors.Is(err, zk.ErrNoNode) {
			return errZKAgain
		}
		return err
	})
	return fence, gone, err
}

// patiently asks again when the connection breaks: our node keeps its place
// while it is down.
func (l *zkLock) patiently(ctx context.Context, ask func() error) error {
	for failures := 0; ; {
		err := ask()
		switch {
		case errors.Is(err, errZKAgain):
			continue
		case err == nil, errors.Is(err, errZKGone), failures == zkRetries:
			return err
		}
		failures++
		if _, err := l.session(ctx); err != nil {
			return err
		}
	}
}

// predecessor finds the node right ahead of own, and whether own is listed.
// The sequence number alone decides, so that clients which put something else
// in front of it queue with ours. It is a signed 32-bit counter that the
// server lets overflow: of two numbers the earlier is the one from which the
// other is less than half a round away.
func predecessor(names []string, own string) (ahead string, here bool) {
	mine, _ := sequence(own)
	var nearest int32
	for _, name := range names {
		if name == own {
			here = true
			continue
		}
		n, ok := sequence(name)
		if !ok {
			continue // no contender
		}
		behind := n - mine // wraps round like the server's counter
		if behind < 0 && (ahead == "" || behind > nearest) {
			ahead, nearest = name, behind
		}
	}
	return ahead, here
}

// sequence reads the number that the server put behind a node's name: ten
// digits, or a minus and at least nine.
func sequence(name string) (n int32, ok bool) {
	front := strings.TrimRight(name, "0123456789")
	digits := name[len(front):]
	switch {
	case len(digits) < 9:
		return 0, false
	case len(digits) == 9: // -123456789
		if !strings.HasSuffix(front, "-") {
			return 0, false
		}
		digits = "-" + digits
	case len(digits) == 10 && digits[0] != '0' &&
		strings.HasSuffix(front, "--"): // lock--1234567890
		digits = "-" + digits
	default: // the prefix may end in digits of its own
		digits = digits[len(digits)-10:]
	}
	v, err := strconv.ParseInt(digits, 10, 32)
	return int32(v), err == nil
}

// newGUID has 32 hexadecimal digits, as Curator's has.
func newGUID() string {
	var b [16]byte
	rand.Read(b[:])
	return fmt.Sprintf("%x", b)
}
