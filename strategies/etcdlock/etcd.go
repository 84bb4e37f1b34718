package etcdlock

import (
	"context"
	"embed"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

//go:embed etcd.go session.go
//go:embed etcd.en.md etcd.zh.md
var etcdFiles embed.FS

// Etcd is the queue of keys, in the order of their create revisions.
var Etcd = catalog.Info{
	Name:   "etcd",
	Title:  "etcd queue",
	Family: "etcdlock",
	Source: "C: lease, transaction on the create revision, wait for the " +
		"earlier keys to go, as etcd's own concurrency.Mutex has it",
	Idea: "Everybody puts a key of his own under the lock's name. The " +
		"one with the lowest create revision holds the lock; each of " +
		"the others watches the one key right before his own, and " +
		"looks again when it has gone.",
	Promises: "One holder at a time across any number of processes, in " +
		"the order in which they came, and a release wakes one " +
		"waiter only. All keys of a process belong to one lease that " +
		"it keeps alive. A dead holder's or waiter's key goes when " +
		"the lease has run out, however he died: etcd does not look " +
		"at sockets, so a crash and a power loss are the same to it. " +
		"A majority of servers keeps the queue.",
	Breaks: "A holder that is paused past his lease works on beside his " +
		"successor: he cannot be told while he sleeps. One that runs " +
		"is told in time, unless his COMMIT is already on its way; " +
		"if the lease was revoked, he is told at its next renewal. A " +
		"hung holder whose process lives keeps its lease alive and " +
		"blocks the others for ever. Whoever deletes a holder's key " +
		"gives the lock away behind his back: he learns it when he " +
		"releases.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.Owner, catalog.LostReply,
			catalog.TwoFaults, catalog.OtherSKUs, catalog.NodeLoss).
		Breaks(catalog.LeaseEnd, catalog.LateCommand),
	Needs: []backend.Capability{backend.Etcd},
	Stock: ledger.HomeRow,
	Options: []catalog.Option{
		{Flag: "--lock-wait",
			Doc: "how long a buyer queues before he is told busy"},
		{Flag: "--lock-lease",
			Doc: "lease of a process, in whole seconds and at least " +
				"two: how long a dead holder blocks"},
	},
	Files: etcdFiles,
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
	// Who came last before us, and our key: in one round trip.
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
		// Being told is not being first: the key ahead may have been a
		// waiter's who gave up, with others still ahead of him. Nor is it
		// having a key: ours may have gone as well.
		got, err = l.look(me, dir, mine, told)
		if err != nil {
			return 0, err
		}
		if !got.Succeeded {
			return 0, errGone
		}
	}
}

// look asks who came last before mine, if our key is still there.
//
// It asks the one server that it has at hand: those before us can only go, so
// whoever knows as much as we were told cannot make us first too early. (To
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
