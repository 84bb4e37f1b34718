package zklock

import (
	"fmt"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// ZKFenced is the queue, and a stock row that refuses the write of an earlier
// holder (internal/lock/fenced.go).
//
// The fencing token is our node's czxid, the number of the transaction that
// created it. The sequence number in the node's name will not do: it begins
// again at 0 when the lock's node is made anew. Nor will the list's pzxid,
// which `zk` hands out because it costs nothing: servers before 3.6 could
// restart with an older one (ZOOKEEPER-3125, -3145, -3249).
var ZKFenced = catalog.Info{
	Name: "zk-fenced",
	Source: "Martin Kleppmann, How to do distributed locking (2016): " +
		"the zxid as fencing token",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LeaseEnd, catalog.Owner,
			catalog.LostReply, catalog.LateCommand, catalog.TwoFaults,
			catalog.OtherSKUs, catalog.NodeLoss),
	Needs:  []backend.Capability{backend.ZooKeeper},
	Stock:  seckill.InRow,
	Also:   []string{"zk.go", "hold.go"},
	Fenced: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkFirstOf}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("/seckill/locks/stock-", sku)
	},
}

// zkFirstOf waits until no node is ahead, and says when our node was created.
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
