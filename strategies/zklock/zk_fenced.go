package zklock

import (
	"embed"
	"fmt"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed zk_fenced.go zk.go
//go:embed zk_fenced.en.md zk_fenced.zh.md
var zkFencedFiles embed.FS

// ZKFenced is the queue, and a stock row that refuses the write of an earlier
// holder (internal/lock/fenced.go).
//
// The fencing token is our node's czxid: the number of the transaction that
// created it. All transactions of an ensemble are numbered in one order, for
// ever, and the queue serves nodes in the order in which they were created.
//
// The other numbers at hand will not do. The sequence number in the node's
// name is counted by the lock's own node, and begins again at 0 when that is
// deleted and made anew. The list's pzxid, which `zk` hands out because it is
// free of charge, is kept beside the children and not with them: servers
// before 3.6 could come back from a restart with an older one
// (ZOOKEEPER-3125, -3145, -3249). A czxid is part of its node and never
// changes; it costs one command.
//
// The token falls if the ensemble itself does: if it is set up anew, empty, or
// from an old backup. Then the row refuses every buyer until the sale is
// reset, which begins a run with fence 0.
var ZKFenced = catalog.Info{
	Name:   "zk-fenced",
	Title:  "ZooKeeper queue with a fencing token",
	Family: "zklock",
	Source: "Martin Kleppmann, How to do distributed locking (2016): " +
		"the zxid as fencing token",
	Idea: "As `zk`. Whoever is first in the queue asks for the number of " +
		"the transaction that created its node (czxid), raises " +
		"stock.fence to it before reading the stock, and writes the " +
		"stock only where the fence is still its own.",
	Promises: "Never oversells and never loses an update, whatever " +
		"becomes of the session and of the holder: a write that comes " +
		"late matches no row, its transaction is rolled back, and the " +
		"buyer is told of a conflict. Besides, all that `zk` promises: " +
		"first come first served, a release wakes one waiter, a dead " +
		"holder's node goes with his session, a majority of servers " +
		"keeps the queue.",
	Breaks: "Nothing breaks the stock. The lock itself is still given to " +
		"a second holder when a session ends under the first: that one " +
		"has worked in vain, and whatever it did besides writing the " +
		"row is not fenced. A hung holder whose session is kept alive " +
		"by its own process blocks the others for ever. If all servers " +
		"lose their data, the row refuses every buyer until the sale " +
		"is reset.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand, catalog.TwoFaults,
			catalog.OtherSKUs, catalog.NodeLoss),
	Needs: []backend.Capability{backend.ZooKeeper},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer queues before he is told busy"},
		{Flag: "--zookeeper-session",
			Doc: "session time-out: how long a dead holder blocks"},
	},
	Files:  zkFencedFiles,
	Fenced: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkFirstOf}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("/seckill/locks/stock-", sku)
	},
}

// zkFirstOf waits until nobody is ahead, and says when our node was created.
func zkFirstOf(p *zkPlace) (fence uint64, err error) {
	if _, err := zkFirst(p); err != nil {
		return 0, err
	}
	var stat *zk.Stat
	err = p.patiently(p.asking, func() (err error) {
		stat, err = p.zk.Exists(p.asking, p.key+"/"+p.node)
		if err == nil && stat == nil {
			err = errZKGone
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return uint64(stat.Czxid), nil
}
