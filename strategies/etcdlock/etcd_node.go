package etcdlock

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// EtcdNode is one key that only one can create. Every release wakes all
// waiters. A holder paused past its lease works on beside its successor.
var EtcdNode = catalog.Info{
	Name: "etcd-node",
	Source: "C (its prose on etcd, and its listing without the flaw): " +
		"one key, created in a transaction",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.Etcd},
	Stock: seckill.InRow,
	Also:  []string{"session.go", "contender.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &etcdNode{newSessions(d.Etcd, d.Settings.LockLease)}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("/seckill/locks/stock-", sku)
	},
}

type etcdNode struct{ *sessions }

// Acquire puts key if it is not there. The fencing token is its create
// revision: every grant is a later one's.
//
// The article's listing does the same transaction, and is no lock. If the key
// is there, it takes the create revision that it reads for its own, where the
// library has every contender put a key of its own first. It then asks whether
// the owner's revision is "its own": that it always is, so the loser walks in.
// A revision identifies me only if it is the revision of something that I
// wrote. Here the transaction's own word decides: did it put the key or not?
func (l *etcdNode) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	return l.contend(ctx, o, func(me *contender) (uint64, error) {
		me.key = key
		for {
			got, err := me.put([]clientv3.Cmp{none(key)})
			switch {
			case err != nil:
				return 0, err
			case got.Succeeded:
				return uint64(got.Header.Revision), nil
			case o.Wait == 0:
				return 0, errBusy
			}
			_, err = me.untilGone(key, got.Header.Revision)
			if err != nil {
				return 0, err
			}
		}
	})
}
