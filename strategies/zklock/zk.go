package zklock

import (
	"context"
	"errors"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/zkclient"
)

// ZK is a queue of ephemeral sequential nodes:
//
//  1. A contender creates a node. The server appends a rising number to the
//     name, and deletes the node when the contender's session ends.
//  2. The contender lists the nodes. If no node has a lower number, it has the
//     lock. Otherwise it watches the node right ahead of its own.
//  3. When the watched node is deleted, the contender lists the nodes again.
//
// A holder that is paused past the session's time-out goes on selling while
// the next holder has the lock.
var ZK = family.Strategy(catalog.Info{
	Name: "zk",
	Source: "A (its section on ZooKeeper), C, D: ephemeral sequential " +
		"nodes, as Curator's InterProcessMutex has them",
	Guarantees: catalog.Leased.Holds(catalog.Owner, catalog.NodeLoss),
	Also:       []string{"nodes.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkWaitUntilFirst}, nil
	},
})

// A zkLock is a queue of nodes. The function waitTurn waits until the
// contender has the lock. Each strategy has its own waitTurn.
type zkLock struct {
	zk       *zkclient.Client
	waitTurn func(*zkContender) (fence uint64, err error)
}

type zkContender struct {
	*zkLock
	key, guid, node string
	once            bool            // true if the buyer does not wait
	asking          context.Context // context of commands
	waiting         context.Context // context of waits: see lock.WaitContext
}

const (
	// zkRetries bounds the repetitions of a command after a lost connection.
	zkRetries = 2
	// zkTimeout is how much longer than its wait an acquisition may take if
	// the server is slow or silent. It also bounds a clean-up.
	zkTimeout = 2 * time.Second
)

var (
	errZKAgain = errors.New("the queue changed while we read it")
	errZKDown  = errors.New("ZooKeeper does not answer")
)

// Acquire queues for key. A holder that calls it again with the context of its
// lease gets the lock again at once. o.Lease has no effect: the lock lives as
// long as the session.
func (l *zkLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	if lease, err := lock.Again(ctx, l, key); lease != nil || err != nil {
		return lease, err
	}
	asking, cancel := zkCommandContext(ctx, o.Wait)
	defer cancel()
	return lock.LineUp(ctx, o.Wait, func(end time.Time) (lock.Lease, error) {
		return l.queue(ctx, asking, key, o.Wait, end)
	})
}

// zkCommandContext returns the context for the commands of an acquisition. It
// ends with errZKDown when the wait and then zkTimeout have passed.
func zkCommandContext(
	ctx context.Context, wait time.Duration,
) (context.Context, context.CancelFunc) {
	if wait < 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, wait+zkTimeout, errZKDown)
}

func (l *zkLock) queue(
	ctx, asking context.Context, key string,
	wait time.Duration, end time.Time,
) (_ lock.Lease, err error) {
	// Read the session before creating the node. If this session ends before
	// the node is created, the node belongs to the next session. Then the
	// lease ends too early, which is safe.
	session, err := l.session(asking)
	if err != nil {
		return nil, err
	}
	waiting, stop := lock.WaitContext(asking, session.Alive(), wait, end)
	defer stop()
	me := &zkContender{zkLock: l, key: key, guid: newGUID(), once: wait == 0,
		asking: asking, waiting: waiting}
	defer func() {
		if err != nil {
			if left := me.leave(ctx); left != nil && ctx.Err() == nil {
				// Our node may still block the lock, so return leave's error.
				err = left
			}
		}
	}()
	if me.node, err = l.createNode(asking, key, me.guid); err != nil {
		return nil, err
	}
	fence, err := l.waitTurn(me)
	if err == nil && session.Alive().Err() != nil {
		err = lock.ErrPlaceLost
	}
	if err != nil {
		return nil, err
	}
	// The client ends the session before the server does, because it counts
	// from the time at which the last answered request was sent. So a running
	// holder learns of the end before another buyer can get the lock.
	hold := lock.NewReentrant(ctx, l, key, fence, me.release)
	hold.ExpireWith(session.Alive())
	return hold, nil
}

func zkWaitUntilFirst(me *zkContender) (uint64, error) {
	for {
		fence, gone, err := me.watchAhead()
		switch {
		case err != nil:
			return 0, err
		case gone == nil: // we are first
			return fence, nil
		case me.once:
			return 0, seckill.ErrBusy
		}
		// List the nodes again after this wait. The deleted node may have been
		// that of a waiter that gave up, with other nodes still ahead of it.
		err = me.zk.Wait(me.waiting, "node ahead in "+me.key, gone)
		if err != nil {
			return 0, err
		}
	}
}

// watchAhead lists the queue. If nodes are ahead of ours, it returns a
// channel, gone. This channel receives an event when the nearest of these
// nodes is deleted or changed, or when our session ends.
//
// If no node is ahead, gone is nil and the lock is ours. The fencing token is
// the number of the transaction that last changed the list, which is part of
// the reply. The token grows with every grant, because the next holder reads
// the list after our node was deleted.
func (me *zkContender) watchAhead() (
	fence uint64, gone <-chan zk.Event, err error,
) {
	err = me.repeat(me.asking, func() error {
		names, stat, err := me.zk.Children(me.asking, me.key)
		if errors.Is(err, zk.ErrNoNode) {
			return lock.ErrPlaceLost
		}
		if err != nil {
			return err
		}
		ahead, here := predecessor(names, me.node)
		if !here { // our session ended, or somebody deleted our node
			return lock.ErrPlaceLost
		}
		if ahead == "" {
			fence, gone = uint64(stat.Pzxid), nil
			return nil
		}
		// GetW fails if the node is gone. ExistsW would wait for its creation.
		_, _, gone, err = me.zk.GetW(me.asking, me.key+"/"+ahead)
		if errors.Is(err, zk.ErrNoNode) {
			return errZKAgain
		}
		return err
	})
	return fence, gone, err
}

// repeat calls the function ask. If the connection breaks, it calls ask again,
// because our node is still in the queue. After errZKAgain it calls ask again,
// too.
func (l *zkLock) repeat(ctx context.Context, ask func() error) error {
	for failures := 0; ; {
		err := ask()
		switch {
		case errors.Is(err, errZKAgain):
			continue
		case err == nil, errors.Is(err, lock.ErrPlaceLost),
			failures == zkRetries:
			return err
		}
		failures++
		if _, err := l.session(ctx); err != nil {
			return err
		}
	}
}

// session returns the client's session at once if there is a connection.
// Otherwise it waits for up to zkTimeout. In this time the client can
// reconnect to a server that was restarted.
func (l *zkLock) session(
	ctx context.Context,
) (*zkclient.Session, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, zkTimeout, errZKDown)
	defer cancel()
	return l.zk.Session(ctx)
}
