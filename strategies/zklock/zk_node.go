package zklock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// ZKNode is one node, which only one contender can create. A holder that is
// paused past the session's time-out goes on selling while the next holder has
// the lock. It may then delete the next holder's node.
var ZKNode = family.Strategy(catalog.Info{
	Name: "zk-node",
	Source: "C (files of one folder have different names, so creating " +
		"one is atomic)",
	Guarantees: catalog.Leased.Holds(catalog.NodeLoss).Breaks(catalog.Owner),
	Also:       []string{"zk.go", "nodes.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkNode{&zkLock{zk: d.ZooKeeper}}, nil
	},
	// The strategy `zk` uses stock-N as a directory, so use another name.
	Key: func(sku int64) string {
		return fmt.Sprintf("/seckill/locks/stock-%d.node", sku)
	},
})

type zkNode struct{ *zkLock }

// Acquire creates the node named key. o.Lease has no effect, because the lock
// lives as long as the session. There is no fencing token: the reply to a
// create does not contain the transaction's number, and a read of this number
// would need another round trip.
func (l *zkNode) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	asking, cancel := zkCommandContext(ctx, o.Wait)
	defer cancel()
	return lock.LineUp(ctx, o.Wait, func(end time.Time) (lock.Lease, error) {
		return l.waitForNode(ctx, asking, key, o.Wait, end)
	})
}

func (l *zkNode) waitForNode(
	ctx, asking context.Context, key string,
	wait time.Duration, end time.Time,
) (lock.Lease, error) {
	session, err := l.session(asking)
	if err != nil {
		return nil, err
	}
	waiting, stop := lock.WaitContext(asking, session.Alive(), wait, end)
	defer stop()
	me := newGUID()
	for {
		gone, err := l.createOrWatch(asking, key, me)
		switch {
		case err == nil && gone == nil && session.Alive().Err() != nil:
			err = lock.ErrPlaceLost
		case err == nil && gone == nil:
			hold := lock.NewHold(ctx, 0, func(ctx context.Context) error {
				return l.releaseNode(ctx, key, me)
			})
			hold.ExpireWith(session.Alive())
			return hold, nil
		case err == nil && wait == 0:
			return nil, seckill.ErrBusy
		case err == nil:
			err = l.zk.Wait(waiting, "end of "+key, gone)
			if err != nil {
				return nil, err // our node does not exist, so delete nothing
			}
			continue
		}
		if left := l.leave(ctx, key, me); left != nil && ctx.Err() == nil {
			// Our node may still block the lock, so return leave's error.
			err = left
		}
		return nil, err
	}
}

// createOrWatch creates the node. If another contender has the node,
// createOrWatch returns a channel, gone. This channel receives an event when
// the node is deleted or changed, or when our session ends. The node's data
// names its owner. If the connection breaks during a create, the data shows
// whether the node is ours.
func (l *zkNode) createOrWatch(
	ctx context.Context, key, me string,
) (gone <-chan zk.Event, err error) {
	err = l.repeat(ctx, func() error {
		_, err := l.zk.Create(ctx, key, []byte(me), zk.FlagEphemeral)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNoNode): // the first buyer ever
			if err := l.zk.EnsurePath(ctx, path.Dir(key)); err != nil {
				return err
			}
			return errZKAgain
		case !errors.Is(err, zk.ErrNodeExists):
			return err
		}
		// GetW fails if the node is gone. ExistsW would wait for its creation.
		owner, _, change, err := l.zk.GetW(ctx, key)
		if errors.Is(err, zk.ErrNoNode) {
			return errZKAgain
		}
		if err == nil && string(owner) != me {
			gone = change
		}
		return err
	})
	return gone, err
}

func (l *zkNode) releaseNode(ctx context.Context, key, me string) error {
	deleted, err := l.deleteOwn(ctx, key, me)
	if err != nil {
		deleted, err = true, l.leave(ctx, key, me)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	case !deleted:
		return lock.ErrNotHeld
	}
	return nil
}

// deleteOwn reads the node and deletes it if the node is ours. If our session
// ends between the two commands, ZooKeeper deletes our node, and another
// contender can create it. If the client then has a new session, deleteOwn
// deletes the node of that contender.
func (l *zkNode) deleteOwn(
	ctx context.Context, key, me string,
) (deleted bool, err error) {
	owner, _, err := l.zk.Get(ctx, key)
	if err == nil && string(owner) == me {
		deleted = true
		err = l.zk.Delete(ctx, key)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return deleted, err
}

// leave deletes the node if the node is ours, even when the buyer has left,
// because the node would otherwise stay as long as our session. If the command
// fails, the client tries again in the background.
func (l *zkNode) leave(ctx context.Context, key, me string) error {
	ctx, cancel := tap.WithTimeout(context.WithoutCancel(ctx), zkTimeout)
	defer cancel()
	return l.zk.CleanUp(ctx, func(ctx context.Context) error {
		_, err := l.deleteOwn(ctx, key, me)
		return err
	})
}
