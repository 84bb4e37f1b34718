package zklock

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/zkclient"
)

// ZKNode is one node that only one can create. A holder paused past the
// session time-out works on, and may delete its successor's node.
var ZKNode = catalog.Info{
	Name: "zk-node",
	Source: "C (files of one folder have different names, so creating " +
		"one is atomic)",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply, catalog.TwoFaults,
			catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.Owner, catalog.LateCommand),
	Needs: []backend.Capability{backend.ZooKeeper},
	Stock: seckill.InRow,
	Also:  []string{"zk.go", "hold.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkNode{&zkLock{zk: d.ZooKeeper}}, nil
	},
	// Not the directory in which the queues of `zk` are.
	Key: func(sku int64) string {
		return fmt.Sprintf("/seckill/locks/stock-%d.node", sku)
	},
}

type zkNode struct{ *zkLock }

// Acquire creates key. o.Lease means nothing here: the lock lives as long as
// the session. There is no fencing token: the answer to a create does not say
// which transaction it was, and to ask would be another round trip.
func (l *zkNode) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	return zkContend(ctx, o.Wait, func(
		asking context.Context, end time.Time,
	) (lock.Lease, error) {
		return l.take(ctx, asking, key, o.Wait, end)
	})
}

func (l *zkNode) take(
	ctx, asking context.Context, key string,
	wait time.Duration, end time.Time,
) (_ lock.Lease, err error) {
	session, err := l.session(asking)
	if err != nil {
		return nil, err
	}
	waiting, stop := zkWaiting(asking, session, wait, end)
	defer stop()
	me := newGUID()
	for {
		gone, err := l.create(asking, key, me)
		switch {
		case err == nil && gone == nil && session.Alive().Err() != nil:
			err = errZKGone
		case err == nil && gone == nil:
			return l.hold(ctx, session, key, me), nil
		case err == nil && wait == 0:
			return nil, errZKBusy
		case err == nil:
			err = l.zk.Wait(waiting, "end of "+key, gone)
			if err != nil {
				return nil, err // another's node: nothing of ours is there
			}
			continue
		}
		if left := l.leave(ctx, key, me); left != nil && ctx.Err() == nil {
			err = left
		}
		return nil, err
	}
}

// create makes the node. If it is another's, gone yields when it goes or
// changes, or when our session ends. The node's data say whose it is: when the
// connection breaks while we create, it may be there, and ours, all the same.
func (l *zkNode) create(
	ctx context.Context, key, me string,
) (gone <-chan zk.Event, err error) {
	err = l.patiently(ctx, func() error {
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
		// Not exists: its watch on a node that is gone stays for ever.
		whose, _, change, err := l.zk.GetW(ctx, key)
		if errors.Is(err, zk.ErrNoNode) {
			return errZKAgain
		}
		if err == nil && string(whose) != me {
			gone = change
		}
		return err
	})
	return gone, err
}

// hold is a lease that ends with the session.
func (l *zkNode) hold(
	ctx context.Context, s *zkclient.Session, key, me string,
) lock.Lease {
	hold := lock.NewHold(ctx, 0, func(ctx context.Context) error {
		was, err := l.remove(ctx, key, me)
		if err != nil {
			was, err = true, l.leave(ctx, key, me)
		}
		switch {
		case err != nil:
			return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
		case !was:
			return lock.ErrNotHeld
		}
		return nil
	})
	hold.ExpireWith(s.Alive())
	return hold
}

// remove deletes the node if it is ours. If our session ends between the two
// commands, and the client has the next one already, it is another's by then.
func (l *zkNode) remove(
	ctx context.Context, key, me string,
) (was bool, err error) {
	whose, _, err := l.zk.Get(ctx, key)
	if err == nil && string(whose) == me {
		was = true
		err = l.zk.Delete(ctx, key)
	}
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return was, err
}

// leave removes the node if it is ours, also when the buyer has gone, or in
// the background: as long as our session is alive, no one else would.
func (l *zkNode) leave(ctx context.Context, key, me string) error {
	ctx, cancel := tap.WithTimeout(
		context.WithoutCancel(ctx), zkPatience)
	defer cancel()
	return l.zk.CleanUp(ctx, func(ctx context.Context) error {
		_, err := l.remove(ctx, key, me)
		return err
	})
}
