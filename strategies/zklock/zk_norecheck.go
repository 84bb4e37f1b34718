package zklock

import (
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// ZKNoRecheck is the queue of `zk`, but a waiter takes the lock as soon as the
// node ahead of its own is deleted. If the deleted node was that of a waiter
// that gave up or died, two buyers have the lock.
var ZKNoRecheck = family.Strategy(catalog.Info{
	Name: "zk-norecheck",
	Source: "C (\"when the notification comes, it has succeeded\"), D " +
		"(gets the lock after the node before it is deleted)",
	Guarantees: catalog.Leased.Holds(catalog.Owner, catalog.NodeLoss).
		Breaks(catalog.DeadHolder),
	Also: []string{"zk.go", "nodes.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkTrustNotice}, nil
	},
})

// zkTrustNotice waits once until the node ahead is deleted. The flaw: it does
// not check whether other nodes are ahead. There is no fencing token, because
// that would need a second list of the queue.
func zkTrustNotice(me *zkContender) (uint64, error) {
	_, gone, err := me.watchAhead()
	switch {
	case err != nil:
		return 0, err
	case gone == nil: // we are first
		return 0, nil
	case me.once:
		return 0, seckill.ErrBusy
	}
	return 0, me.zk.Wait(me.waiting, "node ahead in "+me.key, gone)
}
