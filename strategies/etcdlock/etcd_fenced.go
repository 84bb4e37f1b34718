package etcdlock

import (
	"embed"
	"fmt"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed etcd_fenced.go etcd.go session.go
//go:embed etcd_fenced.en.md etcd_fenced.zh.md
var etcdFencedFiles embed.FS

// EtcdFenced is the queue, and a stock row that refuses the write of an
// earlier holder (internal/lock/fenced.go).
//
// The fencing token is our key's create revision. etcd numbers every change of
// the whole store in one order, and the queue serves keys by that very number:
// each grant has a greater one, and it costs nothing to know it. (The key's
// version would not do: it begins at 1 with every key that is made anew.)
//
// Revisions fall only with the whole cluster: when it is set up anew, empty,
// or from a backup without `etcdutl snapshot restore --bump-revision`. Then
// the row refuses every buyer until the sale is reset, which begins a run
// with fence 0.
var EtcdFenced = catalog.Info{
	Name:   "etcd-fenced",
	Title:  "etcd queue with a fencing token",
	Family: "etcdlock",
	Source: "Martin Kleppmann, How to do distributed locking (2016); " +
		"etcd's own documentation: the revision as fencing token",
	Idea: "As `etcd`. Whoever is first in the queue raises stock.fence " +
		"to the create revision of its key before reading the stock, " +
		"and writes the stock only where the fence is still its own.",
	Promises: "Never oversells and never loses an update, whatever " +
		"becomes of the lease and of the holder: a write that comes " +
		"late matches no row, its transaction is rolled back, and the " +
		"buyer is told of a conflict. Besides, all that `etcd` " +
		"promises: first come first served, a release wakes one waiter, " +
		"a dead holder's key goes when the lease has run out, a " +
		"majority of servers keeps the queue.",
	Breaks: "Nothing breaks the stock. The lock itself is still given to " +
		"a second holder when a lease ends under the first: that one " +
		"has worked in vain, and whatever it did besides writing the " +
		"row is not fenced. A hung holder whose process lives keeps " +
		"its lease alive and blocks the others for ever. If all " +
		"servers lose their data, the row refuses every buyer until " +
		"the sale is reset.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand, catalog.TwoFaults,
			catalog.OtherSKUs, catalog.NodeLoss),
	Needs: []backend.Capability{backend.Etcd},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer queues before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "lease of a process, in whole seconds and at least " +
				"two: how long a dead holder blocks"},
	},
	Files:  etcdFencedFiles,
	Fenced: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &etcdLock{newSessions(d.Etcd, d.Settings.LockLease)}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("/seckill/locks/stock-", sku)
	},
}
