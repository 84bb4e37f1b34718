package etcdlock

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// EtcdNode is one key, which only one contender can create. Each release wakes
// all waiters. A holder that is paused past its lease works on beside its
// successor.
var EtcdNode = catalog.Info{
	Name: "etcd-node",
	Source: "C (its prose on etcd, and its listing without the flaw): " +
		"one key, created in a transaction",
	Guarantees: catalog.Leased.Holds(catalog.Owner, catalog.NodeLoss),
	Needs:      []backend.Capability{backend.Etcd},
	Also:       []string{"session.go", "contender.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &etcdNode{newSessions(d.Etcd, d.Settings.LockLease)}, nil
	},
	Key: stockPath,
}

type etcdNode struct{ *sessions }

// Acquire puts key if it does not exist. The fencing token is the key's create
// revision, which grows with each grant.
//
// The listing of article C sends the same transaction and is no lock. If the
// key exists, the listing reads the key's create revision, takes it for the
// contender's own and compares it with the owner's: they are always equal, so
// everybody enters. (In etcd's library each contender first puts a key of its
// own.) A revision identifies a contender only if the contender wrote it. Here
// the transaction's answer decides: did it put the key or not?
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
