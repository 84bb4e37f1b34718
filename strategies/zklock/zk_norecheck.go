package zklock

import (
	"fmt"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// ZKNoRecheck is the queue whose waiters do not look again: when one gives up
// or dies, the next is told, and walks in beside the holder.
var ZKNoRecheck = catalog.Info{
	Name: "zk-norecheck",
	Source: "C (\"when the notification comes, it has succeeded\"), D " +
		"(gets the lock after the node before it is deleted)",
	Guarantees: catalog.Sound.
		Holds(catalog.Owner, catalog.LostReply, catalog.TwoFaults,
			catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.DeadHolder, catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.ZooKeeper},
	Stock: seckill.InRow,
	Also:  []string{"zk.go", "hold.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkToldIsTaken}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("/seckill/locks/stock-", sku)
	},
}

// zkToldIsTaken waits for the node ahead to go: once. There is no fencing
// token: the list that would give one is not read.
func zkToldIsTaken(p *zkPlace) (fence uint64, err error) {
	_, gone, err := p.look()
	switch {
	case err != nil:
		return 0, err
	case gone == nil: // we are first
		return 0, nil
	case p.once:
		return 0, errZKBusy
	}
	return 0, p.zk.Wait(p.waiting, "node ahead in "+p.key, gone)
}
