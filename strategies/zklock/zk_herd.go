package zklock

import (
	"errors"

	"github.com/go-zookeeper/zk"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// ZKHerd is a queue in which all n waiters watch the directory. Each change
// wakes all of them, and each waiter reads a list of n names.
var ZKHerd = family.Strategy(catalog.Info{
	Name:       "zk-herd",
	Source:     "C: listen for changes of the lock's directory",
	Guarantees: catalog.Leased.Holds(catalog.Owner, catalog.NodeLoss),
	Also:       []string{"zk.go", "nodes.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkWatchDirectory}, nil
	},
})

// zkWatchDirectory lists the queue after each change, until no node is ahead
// of ours. The fencing token is the number of the transaction that last
// changed the list, as in `zk`.
func zkWatchDirectory(me *zkContender) (uint64, error) {
	for {
		var names []string
		var stat *zk.Stat
		var change <-chan zk.Event
		err := me.repeat(me.asking, func() (err error) {
			names, stat, change, err = me.zk.ChildrenW(me.asking, me.key)
			if errors.Is(err, zk.ErrNoNode) {
				return lock.ErrPlaceLost
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		ahead, here := predecessor(names, me.node)
		switch {
		case !here: // our session ended, or somebody deleted our node
			return 0, lock.ErrPlaceLost
		case ahead == "":
			return uint64(stat.Pzxid), nil
		case me.once:
			return 0, seckill.ErrBusy
		}
		err = me.zk.Wait(me.waiting, "change in "+me.key, change)
		if err != nil {
			return 0, err
		}
	}
}
