package etcdlock

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// Etcd is a queue of keys in the order of their create revisions. Its flaw: a
// holder that is paused past its lease goes on selling while the next holder
// has the lock.
var Etcd = family.Strategy(catalog.Info{
	Name: "etcd",
	Source: "C: lease, transaction on the create revision, wait for the " +
		"earlier keys to go, as etcd's own concurrency.Mutex has it",
	Guarantees: catalog.Leased.Holds(catalog.Owner, catalog.NodeLoss),
	Also:       []string{"session.go", "contender.go"},
	Locker: func(d catalog.Deps) (lock.Locker, error) {
		return &etcdLock{&sessions{
			etcd: d.Etcd, ttl: d.Settings.LockLease}}, nil
	},
})

type etcdLock struct{ *sessions }

// Acquire queues under key, as `etcdctl lock` and concurrency.Mutex do. Their
// keys end in the number of a lease. Our keys have one more number at the end,
// because the buyers of one process share a lease. (Two concurrency.Mutexes
// that share a session are one contender, so both get the lock.)
//
// The fencing token is our key's create revision. The lowest revision is
// served first.
func (l *etcdLock) Acquire(
	ctx context.Context, key string, o lock.Options,
) (lock.Lease, error) {
	return l.acquire(ctx, o, func(me *contender) (uint64, error) {
		return l.waitUntilFirst(me, key+"/", o.Wait == 0)
	})
}

func (l *etcdLock) waitUntilFirst(
	me *contender, dir string, once bool,
) (fence uint64, err error) {
	me.key = dir + me.name
	conditions := []clientv3.Cmp{isMissing(me.key)}
	if once {
		// A buyer who does not wait puts a key only if there is no other key.
		// A key behind others could turn away the next such buyer, although
		// the lock may be free by then.
		conditions = append(conditions, isMissing(dir).WithPrefix())
	}
	// One transaction reads the last key before ours and puts our key.
	got, err := me.putKey(conditions,
		clientv3.OpGet(dir, clientv3.WithLastCreate()...))
	if err != nil {
		return 0, err
	}
	if !got.Succeeded {
		return 0, seckill.ErrBusy
	}
	mine := got.Header.Revision
	for {
		ahead := got.Responses[0].GetResponseRange().Kvs
		if len(ahead) == 0 {
			return uint64(mine), nil
		}
		noticed, err := me.waitUntilGone(
			string(ahead[0].Key), got.Header.Revision)
		if err != nil {
			return 0, err
		}
		// Read the keys again. The deleted key may have belonged to a waiter
		// that gave up, with other keys still ahead of it. Our own key may
		// be gone, too.
		got, err = l.readAhead(me, dir, mine, noticed)
		if err != nil {
			return 0, err
		}
		if !got.Succeeded {
			return 0, lock.ErrPlaceLost
		}
	}
}

// readAhead reads the last key before ours, if our own key still exists.
//
// It asks only the connected server. New keys can only appear behind ours. So
// the answer is safe if this server has applied the deletion for which we
// waited, that is, if it has reached the revision of this deletion, noticed.
// (A read from the majority would wait until the next write is on disk, which
// is usually the new key of the last holder.) Whether our lease has ended is
// decided by our own clock.
func (l *etcdLock) readAhead(
	me *contender, dir string, mine, noticed int64,
) (*clientv3.TxnResponse, error) {
	got, err := l.sendRead(me, dir, mine, clientv3.WithSerializable())
	// If this server lags behind, ask the majority.
	if err == nil && got.Header.Revision < noticed {
		got, err = l.sendRead(me, dir, mine)
	}
	return got, err
}

func (l *etcdLock) sendRead(
	me *contender, dir string, mine int64, how ...clientv3.OpOption,
) (*clientv3.TxnResponse, error) {
	ctx, cancel := me.commandContext()
	defer cancel()
	before := append(append(how, clientv3.WithLastCreate()...),
		clientv3.WithMaxCreateRev(mine-1))
	return l.etcd.Txn(ctx).
		If(clientv3.Compare(clientv3.CreateRevision(me.key), "=", mine)).
		Then(clientv3.OpGet(dir, before...)).
		Commit()
}
