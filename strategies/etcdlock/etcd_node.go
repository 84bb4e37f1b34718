package etcdlock

import (
	"context"
	"embed"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed etcd_node.go session.go
//go:embed etcd_node.en.md etcd_node.zh.md
var etcdNodeFiles embed.FS

// EtcdNode is one key that only one can create.
var EtcdNode = catalog.Info{
	Name:   "etcd-node",
	Title:  "etcd, one key",
	Family: "etcdlock",
	Source: "C (its prose on etcd, and its listing without the flaw): " +
		"one key, created in a transaction",
	Idea: "A transaction puts the lock's key if there is none. Who finds " +
		"it there watches it, and tries again when it is deleted.",
	Promises: "One holder at a time across any number of processes: etcd " +
		"puts transactions in one order, and the first finds no key. " +
		"The key belongs to a lease that its holder's process keeps " +
		"alive, so a dead holder's goes when that has run out, " +
		"however he died: etcd does not look at sockets, so a crash " +
		"and a power loss are the same to it. A majority of servers " +
		"keeps the key.",
	Breaks: "No order among waiters: every release wakes all of them, " +
		"all of them try, and luck decides; some wait long. A holder " +
		"that is paused past his lease works on beside his " +
		"successor. One that runs is told in time, unless his COMMIT " +
		"is already on its way; if the lease was revoked, he is told " +
		"at its next renewal. A hung holder whose process lives " +
		"keeps its lease alive and blocks the others for ever. " +
		"Whoever deletes the key gives the lock away behind its " +
		"holder's back: he learns it when he releases.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.Etcd},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer tries before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "lease of a process, in whole seconds and at least " +
				"two: how long a dead holder blocks"},
	},
	Files: etcdNodeFiles,
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
// library has every contender put a key of his own first. It then asks whether
// the owner's revision is "its own": that it always is, so the loser walks in.
// A revision says who I am only if it is the revision of something that I
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
