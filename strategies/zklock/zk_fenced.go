package zklock

import (
	"github.com/go-zookeeper/zk"

	"seckill/internal/catalog"
	"seckill/internal/lock"
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
var ZKFenced = family.Strategy(catalog.Info{
	Name: "zk-fenced",
	Source: "Martin Kleppmann, How to do distributed locking (2016): " +
		"the zxid as fencing token",
	Guarantees: catalog.Robust.Holds(catalog.Owner, catalog.NodeLoss),
	Also:       []string{"zk.go", "nodes.go"},
	Fenced:     true,
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkWaitAndReadCzxid}, nil
	},
})

func zkWaitAndReadCzxid(me *zkContender) (uint64, error) {
	if _, err := zkWaitUntilFirst(me); err != nil {
		return 0, err
	}
	var stat *zk.Stat
	err := me.repeat(me.asking, func() (err error) {
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
