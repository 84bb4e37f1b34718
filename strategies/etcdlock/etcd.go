package etcdlock

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// Etcd is the queue of keys, in the order of their create revisions. A holder
// paused past its lease works on beside its successor.
var Etcd = catalog.Info{
	Name: "etcd",
	Source: "C: lease, transaction on the create revision, wait for the " +
		"earlier keys to go, as etcd's own concurrency.Mutex has it",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.Etcd},
	Stock: seckill.InRow,
	Also:  []string{"session.go", "contender.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &etcdLock{newSessions(d.Etcd, d.Settings.LockLease)}, nil
	},
	Key: func(sku int64) string {
		return fmt.Sprint("/seckill/locks/stock-", sku)
	},
}

type etcdLock struct{ *sessions }

// Acquire queues under key, where `etcdctl lock` and concurrency.Mutex queue,
// too. Their keys end in their lease's number. Ours has a number more: two
// buyers of one process share the lease, and two of that library's mutexes
// that share a session are one contender, so both get the lock.
//
// The fencing token is our key's create revision: a lower one is served first.
func (l *etcdLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	return l.contend(ctx, o, func(me *contender) (uint64, error) {
		return l.queue(me, key+"/", o.Wait == 0)
	})
}

func (l *etcdLock) queue(
	me *contender, dir string, once bool,
) (fence uint64, err error) {
	me.key = dir + me.name
	conditions := []clientv3.Cmp{none(me.key)}
	if once {
		// No key beside another's: it would turn away the next who tries
		// once, though the lock may be free by then.
		conditions = append(conditions, none(dir).WithPrefix())
	}
	// The last key before ours, and our key: in one round trip.
	got, err := me.put(conditions,
		clientv3.OpGet(dir, clientv3.WithLastCreate()...))
	if err != nil {
		return 0, err
	}
	if !got.Succeeded {
		return 0, errBusy
	}
	mine := got.Header.Revision
	for {
		ahead := got.Responses[0].GetResponseRange().Kvs
		if len(ahead) == 0 {
			return uint64(mine), nil
		}
		told, err := me.untilGone(
			string(ahead[0].Key), got.Header.Revision)
		if err != nil {
			return 0, err
		}
		// Being told is not being first: the key ahead may have belonged
		// to a waiter that gave up, with others still ahead of it. And our
		// own key may be gone.
		got, err = l.look(me, dir, mine, told)
		if err != nil {
			return 0, err
		}
		if !got.Succeeded {
			return 0, errGone
		}
	}
}

// look asks for the last key before mine, if our own is still there.
//
// It asks the one server that it has at hand: the keys before ours can only go,
// so a server that knows what we were told cannot make us first too early. (To
// ask the majority is to wait for the next write to be flushed: usually the
// key with which our predecessor lines up again.) And no server can say
// whether our lease ends the moment after: our own clock does.
func (l *etcdLock) look(
	me *contender, dir string, mine, told int64,
) (*clientv3.TxnResponse, error) {
	got, err := l.ask(me, dir, mine, clientv3.WithSerializable())
	if err == nil && got.Header.Revision < told { // it lags behind
		got, err = l.ask(me, dir, mine)
	}
	return got, err
}

func (l *etcdLock) ask(
	me *contender, dir string, mine int64, how ...clientv3.OpOption,
) (*clientv3.TxnResponse, error) {
	ctx, cancel := me.command()
	defer cancel()
	before := append(append(how, clientv3.WithLastCreate()...),
		clientv3.WithMaxCreateRev(mine-1))
	return l.etcd.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(me.key), "=", mine)).
		Then(clientv3.OpGet(dir, before...)).
		Commit()
}
