package backend_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	if change, err := tap.Wait(ctx, "watch", changes); err != nil || len(change.Events) != 1 {
		t.Errorf("the watch brought %+v, %v", change, err)
	}
	if got, err := c.Get(ctx, key); err != nil || got.Count != 1 {
		t.Errorf("get: %+v, %v", got, err)
	}
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
	if !slices.Equal(r.Seen(), want) {
		t.Errorf("the tap saw\n%s\nwant\n%s", strings.Join(r.Seen(), "\n"), strings.Join(want, "\n"))
	}

	stopped := errors.New("stopped")
	r.OnBefore = func(*tap.Command) error { return stopped }
	labtest.Value(c.Put(tap.With(t.Context(), r), key, "x")).Check(t, stopped, "a command that the tap refused")
	if got, err := c.Get(t.Context(), key); err != nil || got.Count != 0 {
		t.Errorf("a command that the tap refused was sent: %+v, %v", got, err)
	}
	if _, open := <-c.Watch(tap.With(t.Context(), r), key); open {
		t.Error("a watch that the tap refused is open")
	}
}
