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
	"google.golang.org/grpc"

	"seckill/internal/tap"
)

// Wrap changes c so that each command passes the Tap of its context. Commands that the client sends by itself pass no
// Tap: the heartbeats of KeepAlive, and watches that the client resumes.
func Wrap(c *clientv3.Client) {
	c.KV = clientv3.NewKVFromKVClient(kvClient{clientv3.RetryKVClient(c)}, c)
	c.Lease = etcdLease{c.Lease}
	c.Watcher = etcdWatcher{c.Watcher}
}

func sendEtcd[T any](
	ctx context.Context, describe func() *tap.Command, send func(context.Context) (T, error),
) (T, error) {
	return tap.Do(ctx, tap.Etcd, describe, send, func(got *T, err error) string {
		if err != nil {
			return ""
		}
		return describeReply(*got)
	})
}

// describeReply describes a reply without revisions, which depend on what other clients write.
func describeReply(reply any) string {
	switch r := reply.(type) {
	case *pb.RangeResponse:
		return keyValues(r.Kvs)
	case *pb.DeleteRangeResponse:
		return fmt.Sprint(r.Deleted, " deleted")
	case *pb.TxnResponse:
		parts := []string{"refused"}
		if r.Succeeded {
			parts[0] = "succeeded"
		}
		for _, each := range r.Responses {
			if got := each.GetResponseRange(); got != nil {
				parts = append(parts, keyValues(got.Kvs))
			}
		}
		return strings.Join(parts, "; ")
	}
	return ""
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

// kvClient sends the requests into which clientv3 turns reads, writes and transactions. So the Tap sees a transaction
// when its Commit is called.
type kvClient struct{ pb.KVClient }

func (c kvClient) Range(ctx context.Context, r *pb.RangeRequest, o ...grpc.CallOption) (*pb.RangeResponse, error) {
	op := &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: r}}
	return sendRequest(ctx, op, r, c.KVClient.Range, o)
}

func (c kvClient) Put(ctx context.Context, r *pb.PutRequest, o ...grpc.CallOption) (*pb.PutResponse, error) {
	op := &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: r}}
	return sendRequest(ctx, op, r, c.KVClient.Put, o)
}

func (c kvClient) DeleteRange(
	ctx context.Context, r *pb.DeleteRangeRequest, o ...grpc.CallOption,
) (*pb.DeleteRangeResponse, error) {
	op := &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: r}}
	return sendRequest(ctx, op, r, c.KVClient.DeleteRange, o)
}

func (c kvClient) Txn(ctx context.Context, r *pb.TxnRequest, o ...grpc.CallOption) (*pb.TxnResponse, error) {
	op := &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: r}}
	return sendRequest(ctx, op, r, c.KVClient.Txn, o)
}

// sendRequest sends request. The Tap sees a description of op, which contains the same request.
func sendRequest[Q, A any](
	ctx context.Context, op *pb.RequestOp, request Q,
	send func(context.Context, Q, ...grpc.CallOption) (A, error), options []grpc.CallOption,
) (A, error) {
	return sendEtcd(ctx, func() *tap.Command {
		verb, text := describeOp(op)
		return &tap.Command{Name: verb, Text: text, Sets: keysWritten(op)}
	}, func(ctx context.Context) (A, error) { return send(ctx, request, options...) })
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
	op := clientv3.OpGet(key, opts...)
	changes, err := sendEtcd(ctx, describeCall("watch", describeKeys(op.KeyBytes(), op.RangeBytes())),
		func(ctx context.Context) (clientv3.WatchChan, error) { return w.Watcher.Watch(ctx, key, opts...), nil })
	if err != nil {
		closed := make(chan clientv3.WatchResponse)
		close(closed)
		return closed
	}
	return changes
}

func keysWritten(ops ...*pb.RequestOp) []tap.Pair {
	var sets []tap.Pair
	for _, op := range ops {
		if put := op.GetRequestPut(); put != nil {
			sets = append(sets, tap.Pair{Key: string(put.Key), Value: string(put.Value)})
		}
		if txn := op.GetRequestTxn(); txn != nil {
			sets = append(sets, keysWritten(slices.Concat(txn.Success, txn.Failure)...)...)
		}
	}
	return sets
}

func describeOp(op *pb.RequestOp) (verb, text string) {
	switch get, put, del := op.GetRequestRange(), op.GetRequestPut(), op.GetRequestDeleteRange(); {
	case get != nil:
		return "get", "get " + describeKeys(get.Key, get.RangeEnd)
	case put != nil:
		return "put", fmt.Sprintf("put %s %q", put.Key, put.Value)
	case del != nil:
		return "delete", "delete " + describeKeys(del.Key, del.RangeEnd)
	}
	return "txn", describeTxn(op.GetRequestTxn())
}

func describeKeys(key, end []byte) string {
	if string(end) == clientv3.GetPrefixRangeEnd(string(key)) {
		return string(key) + " --prefix"
	}
	return string(key)
}

func describeTxn(txn *pb.TxnRequest) string {
	var b strings.Builder
	b.WriteString("txn")
	for i, cmp := range txn.Compare {
		b.WriteString([]string{" if ", " and "}[min(i, 1)])
		b.WriteString(describeCmp(cmp))
	}
	for _, branch := range []struct {
		word string
		ops  []*pb.RequestOp
	}{{" then ", txn.Success}, {" else ", txn.Failure}} {
		for i, op := range branch.ops {
			_, text := describeOp(op)
			b.WriteString([]string{branch.word, "; "}[min(i, 1)])
			b.WriteString(text)
		}
	}
	return b.String()
}

// describeCmp formats the two kinds of comparison that locks use. Other comparisons keep the client's own format.
func describeCmp(c *pb.Compare) string {
	switch {
	case c.Result == pb.Compare_EQUAL && c.Target == pb.Compare_CREATE:
		return fmt.Sprintf("create(%s) = %d", c.Key, c.GetCreateRevision())
	case c.Result == pb.Compare_EQUAL && c.Target == pb.Compare_VALUE:
		return fmt.Sprintf("value(%s) = %q", c.Key, c.GetValue())
	}
	return c.String()
}
