package backend_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

func TestEtcdCommandsPassTheTap(t *testing.T) {
	c, r := labtest.Instance(t, backend.Etcd).Etcd, &taptest.Recorder{}
	key := "/test/" + t.Name()
	ctx := tap.With(t.Context(), r)
	t.Cleanup(func() { c.Delete(context.Background(), key, clientv3.WithPrefix()) })

	changes := c.Watch(ctx, key, clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	if made, err := tap.Wait(ctx, "watch", changes); err != nil || !made.Created {
		t.Fatalf("the watch began with %+v, %v", made, err)
	}
	lease := labtest.Value(c.Grant(ctx, 60)).Must(t)
	id := fmt.Sprintf("%x", int64(lease.ID))
	put, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "v", clientv3.WithLease(lease.ID)), clientv3.OpGet(key)).
		Else(clientv3.OpGet(key)).Commit()
	if err != nil || !put.Succeeded {
		t.Fatalf("txn: %+v, %v", put, err)
	}
	change := labtest.Value(tap.Wait(ctx, "watch", changes)).Must(t)
	labtest.Same(t, len(change.Events), 1, "the changes that the watch brought")
	labtest.Same(t, labtest.Value(c.Get(ctx, key)).Must(t).Count, 1, "the number of values")
	labtest.Value(c.Put(ctx, key+"/b", "w")).Must(t)
	labtest.Value(c.Do(ctx, clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpDelete(key + "/b")}, nil))).Must(t)
	labtest.Value(c.Delete(ctx, key, clientv3.WithPrefix())).Must(t)
	labtest.Value(c.Revoke(ctx, lease.ID)).Must(t)
	want := []string{
		"etcd watch " + key + " --prefix", "wait watch", "etcd grant 60s",
		"etcd txn if create(" + key + ") = 0 then put " + key + ` "v"; get ` + key + " else get " + key,
		"wait watch", "etcd get " + key,
		"etcd put " + key + `/b "w"`, "etcd txn then delete " + key + "/b", "etcd delete " + key + " --prefix",
		"etcd revoke " + id,
	}
	labtest.Same(t, strings.Join(r.Seen(), "\n"), strings.Join(want, "\n"), "the tap saw")

	stopped := errors.New("stopped")
	r.OnBefore = func(*tap.Command) error { return stopped }
	labtest.Value(c.Put(tap.With(t.Context(), r), key, "x")).Check(t, stopped, "a command that the tap refused")
	labtest.Same(t, labtest.Value(c.Get(t.Context(), key)).Must(t).Count, 0, "the values after a refused put")
	if _, open := <-c.Watch(tap.With(t.Context(), r), key); open {
		t.Error("a watch that the tap refused is open")
	}
}
