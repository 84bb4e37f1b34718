package zklock

import (
	"fmt"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// ZKFenced is the queue of `zk` with a stock row that refuses the write of an
// earlier holder (internal/lock/fenced.go).
//
// The fencing token is our node's czxid, the number of the transaction that
// created it. Two other numbers look like tokens and are not. The number in
// the node's name begins again at 0 when somebody deletes and recreates the
// lock's directory. The directory's pzxid, which `zk` uses because it comes
// with the list, could fall when a server before 3.6 restarted
// (ZOOKEEPER-3125, -3145, -3249).
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
	Also:   []string{"zk.go", "nodes.go"},
	Fenced: true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkWaitAndReadCzxid}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("/seckill/locks/stock-", sku)
	},
}

// zkWaitAndReadCzxid waits until no node is ahead, and returns the number of
// the transaction that created our node.
func zkWaitAndReadCzxid(me *zkContender) (fence uint64, err error) {
	if _, err := zkWaitUntilFirst(me); err != nil {
		return 0, err
	}
	var stat *zk.Stat
	err = me.repeat(me.asking, func() (err error) {
		stat, err = me.zk.Exists(me.asking, me.key+"/"+me.node)
		if err == nil && stat == nil {
			err = lock.ErrPlaceLost
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return uint64(stat.Czxid), nil
}
