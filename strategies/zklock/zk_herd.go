package zklock

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// ZKHerd is the queue in which all watch the directory: every change wakes all
// n waiters, and each reads a list of n names.
var ZKHerd = catalog.Info{
	Name:   "zk-herd",
	Source: "C: listen for changes of the lock's directory",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.ZooKeeper},
	Stock: seckill.InRow,
	Also:  []string{"zk.go", "hold.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &zkLock{d.ZooKeeper, zkAllWatch}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("/seckill/locks/stock-", sku)
	},
}

// zkAllWatch lists the queue after every change until no node is ahead. The
// fencing token is the transaction that last changed the list, as in `zk`.
func zkAllWatch(p *zkPlace) (fence uint64, err error) {
	for {
		var names []string
		var stat *zk.Stat
		var change <-chan zk.Event
		err := p.patiently(p.asking, func() (err error) {
			names, stat, change, err = p.zk.ChildrenW(p.asking, p.key)
			if errors.Is(err, zk.ErrNoNode) {
				return errZKGone
			}
			return err
		})
		if err != nil {
			return 0, err
		}
		ahead, here := predecessor(names, p.node)
		switch {
		case !here: // its session ended, or it was removed
			return 0, errZKGone
		case ahead == "":
			return uint64(stat.Pzxid), nil
		case p.once:
			return 0, errZKBusy
		}
		err = p.zk.Wait(p.waiting, "change in "+p.key, change)
		if err != nil {
			return 0, err
		}
	}
}
