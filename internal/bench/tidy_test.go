package bench

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// On servers that were given, and in this process, nothing is left of a run:
// no key, node or row, and no goroutine.
func TestNothingIsLeftBehind(t *testing.T) {
	all := Foreign(catalog.DefaultSettings())
	for _, info := range strategies.All() {
		if info.Locker != nil && (labtest.Verify || slices.Contains(oneOfEach, info.Name)) {
			all = append(all, Ours(info, catalog.DefaultSettings()))
		}
	}
	o := short(t, all...)
	o.Contenders, o.Rounds, o.For = []int{3}, 1, 50*time.Millisecond
	in := labtest.Instance(t, backend.SQL, backend.RowLocks, backend.Redis, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd)
	before, goroutines := left(t, in), runtime.NumGoroutine()
	if _, err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	// redis-blpop's signal lives for a second, for a waiter.
	after := func() []string {
		return slices.DeleteFunc(left(t, in), func(thing string) bool { return slices.Contains(before, thing) })
	}
	things := after()
	for end := time.Now().Add(2 * time.Second); len(things) > 0 && time.Now().Before(end); things = after() {
		time.Sleep(50 * time.Millisecond)
	}
	for _, thing := range things {
		t.Errorf("left behind: %s", thing)
	}
	// Some goroutines end by themselves: a closing connection, a last timer.
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines more than before:\n%s", runtime.NumGoroutine()-goroutines,
				stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// left lists everything on the servers.
func left(t *testing.T, in *backend.Instance) (things []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, node := range append([]*redis.Client{in.Redis.(*redis.Client)}, in.RedisNodes...) {
		keys, err := node.Keys(ctx, "*").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			things = append(things, "Redis key "+key)
		}
	}
	var walk func(path string)
	walk = func(path string) {
		names, _, err := in.ZooKeeper.Children(ctx, "/"+strings.TrimPrefix(path, "/"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			things = append(things, "node "+path+"/"+name)
			walk(path + "/" + name)
		}
	}
	walk("")
	keys, err := in.Etcd.Get(ctx, "", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range keys.Kvs {
		things = append(things, "etcd key "+string(kv.Key))
	}
	for _, table := range []string{"distributed_lock", "lock_row", "lock_record"} {
		things = append(things, rows(t, in.DB, table)...)
	}
	return things
}

func rows(t *testing.T, db *gorm.DB, table string) (things []string) {
	t.Helper()
	if !db.Migrator().HasTable(table) {
		return nil
	}
	var names []string
	if err := db.Raw("SELECT name FROM " + table).Scan(&names).Error; err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		things = append(things, fmt.Sprintf("row %s of %s", name, table))
	}
	return things
}
