package etcdlock

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// EtcdNode is one key, which only one contender can create. Each release wakes
// all waiters. A holder that is paused past its lease goes on selling while
// the next holder has the lock.
var EtcdNode = family.Strategy(catalog.Info{
	Name: "etcd-node",
	Source: "C (its prose on etcd, and its listing without the flaw): " +
		"one key, created in a transaction",
	Guarantees: catalog.Leased.Holds(catalog.Owner, catalog.NodeLoss),
	Also:       []string{"session.go", "contender.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &etcdNode{&sessions{
			etcd: d.Etcd, ttl: d.Settings.LockLease}}, nil
	},
})

type etcdNode struct{ *sessions }

// Acquire puts key if it does not exist. The fencing token is the key's create
// revision, which grows with each grant.
//
// The listing of article C (see docs/architecture.md) sends the same
// transaction and is no lock. If the key exists, the listing reads the key's
// create revision twice: once as the contender's own, once as the owner's. The
// two are always equal, so every contender enters. (In etcd's library each
// contender first puts a key of its own, so the two revisions differ.) Here a
// contender has the lock only if its transaction has put the key.
func (l *etcdNode) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	return l.acquire(ctx, o, func(me *contender) (uint64, error) {
		me.key = key
		for {
			got, err := me.putKey([]clientv3.Cmp{isMissing(key)})
			switch {
			case err != nil:
				return 0, err
			case got.Succeeded:
				return uint64(got.Header.Revision), nil
			case o.Wait == 0:
				return 0, seckill.ErrBusy
			}
			_, err = me.waitUntilGone(key, got.Header.Revision)
			if err != nil {
				return 0, err
			}
		}
	})
}
