// Package etcdtap shows the commands of an etcd client to taps. It is a package of its own, so that
// programs that import package tap need not contain the etcd client.
package etcdtap

import (
	"context"
	"fmt"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/tap"
)

// Wrap changes c so that each command passes the Tap of its context. It leaves out what the client
// sends by itself: the heartbeats of KeepAlive, and watches that it resumes.
func Wrap(c *clientv3.Client) {
	c.KV = etcdKV{c.KV}
	c.Lease = etcdLease{c.Lease}
	c.Watcher = etcdWatcher{c.Watcher}
}

func sendEtcd[T any](
	ctx context.Context, describe func() *tap.Command, send func(context.Context) (T, error),
) (T, error) {
	var got T
	err := tap.Do(ctx, tap.Etcd, describe, func(ctx context.Context) error {
		answer, err := send(ctx)
		if !tap.IsLate(ctx) {
			got = answer
		}
		return err
	}, func(error) string {
		r, _ := any(got).(clientv3.OpResponse)
		return etcdReply(r)
	})
	return got, err
}

// etcdReply describes r without revisions, which depend on what other clients write. After an
// error, r is empty and the description is "".
func etcdReply(r clientv3.OpResponse) string {
	switch {
	case r.Get() != nil:
		return keyValues(r.Get().Kvs)
	case r.Del() != nil:
		return fmt.Sprint(r.Del().Deleted, " deleted")
	case r.Txn() == nil:
		return ""
	}
	parts := []string{"refused"}
	if r.Txn().Succeeded {
		parts[0] = "succeeded"
	}
	for _, each := range r.Txn().Responses {
		if got := each.GetResponseRange(); got != nil {
			parts = append(parts, keyValues(got.Kvs))
		}
	}
	return strings.Join(parts, "; ")
}

func keyValues(list []*mvccpb.KeyValue) string {
	if len(list) == 0 {
		return "no key"
	}
	var parts []string
	for _, kv := range list {
		parts = append(parts, fmt.Sprintf("%s = %q", kv.Key, kv.Value))
	}
	return strings.Join(parts, ", ")
}

// etcdKV sends every operation by the method Do. A transaction passes the Tap at its commit.
type etcdKV struct{ clientv3.KV }

func (kv etcdKV) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	return sendEtcd(ctx, func() *tap.Command {
		verb, text := describeOp(op)
		return &tap.Command{Name: verb, Text: text, Sets: keysWritten(op)}
	}, func(ctx context.Context) (clientv3.OpResponse, error) { return kv.KV.Do(ctx, op) })
}

func (kv etcdKV) Put(ctx context.Context, key, val string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	r, err := kv.Do(ctx, clientv3.OpPut(key, val, opts...))
	return r.Put(), err
}

func (kv etcdKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	r, err := kv.Do(ctx, clientv3.OpGet(key, opts...))
	return r.Get(), err
}

func (kv etcdKV) Delete(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.DeleteResponse, error) {
	r, err := kv.Do(ctx, clientv3.OpDelete(key, opts...))
	return r.Del(), err
}

func (kv etcdKV) Txn(ctx context.Context) clientv3.Txn { return &etcdTxn{kv: kv, ctx: ctx} }

type etcdTxn struct {
	kv                  etcdKV
	ctx                 context.Context
	cmps                []clientv3.Cmp
	onSuccess, onFailed []clientv3.Op
}

func (t *etcdTxn) If(cs ...clientv3.Cmp) clientv3.Txn {
	t.cmps = cs
	return t
}

func (t *etcdTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.onSuccess = ops
	return t
}

func (t *etcdTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.onFailed = ops
	return t
}

func (t *etcdTxn) Commit() (*clientv3.TxnResponse, error) {
	r, err := t.kv.Do(t.ctx, clientv3.OpTxn(t.cmps, t.onSuccess, t.onFailed))
	return r.Txn(), err
}

type etcdLease struct{ clientv3.Lease }

func (l etcdLease) Grant(ctx context.Context, ttl int64) (*clientv3.LeaseGrantResponse, error) {
	return sendEtcd(ctx, describeCall("grant", fmt.Sprint(ttl, "s")),
		func(ctx context.Context) (*clientv3.LeaseGrantResponse, error) { return l.Lease.Grant(ctx, ttl) })
}

func (l etcdLease) Revoke(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	return sendEtcd(ctx, describeCall("revoke", fmt.Sprintf("%x", int64(id))),
		func(ctx context.Context) (*clientv3.LeaseRevokeResponse, error) { return l.Lease.Revoke(ctx, id) })
}

func describeCall(verb, what string) func() *tap.Command {
	return func() *tap.Command { return &tap.Command{Name: verb, Text: verb + " " + what} }
}

type etcdWatcher struct{ clientv3.Watcher }

// Watch starts a watch. The Tap sees this start as one command. The caller then waits for events with tap.Wait, and the
// Tap sees this wait, too. If the Tap returns an error, Watch returns a closed channel, as the client does when ctx has
// ended. If the Tap returns the error after the start, the watch runs unused until ctx ends.
func (w etcdWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	_, text := describeOp(clientv3.OpGet(key, opts...))
	changes, err := sendEtcd(ctx, describeCall("watch", strings.TrimPrefix(text, "get ")),
		func(ctx context.Context) (clientv3.WatchChan, error) { return w.Watcher.Watch(ctx, key, opts...), nil })
	if err != nil {
		closed := make(chan clientv3.WatchResponse)
		close(closed)
		return closed
	}
	return changes
}

func keysWritten(ops ...clientv3.Op) []tap.Pair {
	var sets []tap.Pair
	for _, op := range ops {
		switch _, onSuccess, onFailed := op.Txn(); {
		case op.IsPut():
			sets = append(sets, tap.Pair{Key: string(op.KeyBytes()), Value: string(op.ValueBytes())})
		case op.IsTxn():
			sets = append(sets, keysWritten(slices.Concat(onSuccess, onFailed)...)...)
		}
	}
	return sets
}

func describeOp(op clientv3.Op) (verb, text string) {
	key := string(op.KeyBytes())
	switch {
	case op.IsTxn():
		return "txn", describeTxn(op.Txn())
	case op.IsPut():
		return "put", fmt.Sprintf("put %s %q", key, op.ValueBytes())
	case op.IsDelete():
		verb = "delete"
	default:
		verb = "get"
	}
	text = verb + " " + key
	if op.IsOptsWithPrefix() {
		text += " --prefix"
	}
	return verb, text
}

func describeTxn(cmps []clientv3.Cmp, onSuccess, onFailed []clientv3.Op) string {
	var b strings.Builder
	b.WriteString("txn")
	for i, cmp := range cmps {
		b.WriteString([]string{" if ", " and "}[min(i, 1)])
		b.WriteString(describeCmp(cmp.GetCompare()))
	}
	for _, branch := range []struct {
		word string
		ops  []clientv3.Op
	}{{" then ", onSuccess}, {" else ", onFailed}} {
		for i, op := range branch.ops {
			_, text := describeOp(op)
			b.WriteString([]string{branch.word, "; "}[min(i, 1)])
			b.WriteString(text)
		}
	}
	return b.String()
}

// describeCmp formats the two kinds of comparison that locks use. It leaves others in the client's own format.
func describeCmp(c *pb.Compare) string {
	switch {
	case c.Result == pb.Compare_EQUAL && c.Target == pb.Compare_CREATE:
		return fmt.Sprintf("create(%s) = %d", c.Key, c.GetCreateRevision())
	case c.Result == pb.Compare_EQUAL && c.Target == pb.Compare_VALUE:
		return fmt.Sprintf("value(%s) = %q", c.Key, c.GetValue())
	}
	return c.String()
}
