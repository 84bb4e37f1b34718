package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/tap"
	"seckill/internal/zkclient"
	"seckill/strategies"
)

// inProcess returns the Harness of a mutex, which has only one process.
func inProcess(t *testing.T, info catalog.Info) Harness {
	l := labtest.Value(catalog.NewLocker(info, catalog.Deps{})).Must(t)
	return Harness{Key: "stock", Alone: "process", // "mutex" is one lock for all keys
		Open: func(testing.TB, catalog.Settings) *locktest.Process { return &locktest.Process{Locker: l} }}
}

// through returns a function that opens a process on an instance whose server is behind a wire.
func through(info catalog.Info, wire func(testing.TB, catalog.Settings) (*labtest.Wire, backend.Config)) wired {
	return func(t testing.TB, s catalog.Settings) (*locktest.Process, *labtest.Wire) {
		w, config := wire(t, s)
		return locktest.Open(t, info, catalog.Deps{Instance: open(t, config), Settings: s}), w
	}
}

// opens returns a function that starts processes, each with an instance of its own.
func opens(info catalog.Info) func(testing.TB, catalog.Settings) *locktest.Process {
	return func(t testing.TB, s catalog.Settings) *locktest.Process {
		return locktest.Open(t, info, catalog.Deps{Settings: s})
	}
}

type wired func(testing.TB, catalog.Settings) (*locktest.Process, *labtest.Wire)

// open tries again if a session of 100 ms ends before a busy server has answered.
func open(t testing.TB, config backend.Config) (in *backend.Instance) {
	t.Helper()
	var err error
	for range 100 {
		if in, err = backend.Open(t.Context(), config); err == nil {
			t.Cleanup(func() { in.Close() })
			return in
		}
		if t.Context().Err() != nil {
			break
		}
	}
	t.Fatal(err)
	return nil
}

func inMySQL(t *testing.T, info catalog.Info) Harness {
	db := labtest.Instance(t, info.Needs...).DB.WithContext(context.Background())
	h := Harness{Key: "test:" + info.Name, Open: opens(info), Alone: "lock_record"} // its keys deadlock with each other
	if locks[info.Name].can&Expires != 0 {
		h.Lease = 200 * time.Millisecond
	}
	for _, other := range []string{"lock-insert", "lock-table-central"} { // makes all tables
		locktest.Open(t, strategies.Named(other), catalog.Deps{})
	}
	h.Seen = func(t testing.TB, key string) (seen []string) {
		err := db.Raw("SELECT CONCAT('row of ', owner) FROM distributed_lock WHERE name = ? "+
			"UNION ALL SELECT 'record' FROM lock_record WHERE name = ? AND status = 1 "+
			"UNION ALL SELECT CONCAT('lock of ', IS_USED_LOCK(?)) FROM DUAL WHERE IS_USED_LOCK(?) IS NOT NULL "+
			"UNION ALL SELECT 'statement' FROM information_schema.PROCESSLIST WHERE INFO LIKE ? AND ID <> CONNECTION_ID()",
			key, key, key, key, "%"+key+"%").Scan(&seen).Error
		labtest.Must(t, err)
		return seen
	}
	h.End = func(_ testing.TB, key string, _ lock.Lease) func() {
		if h.Lease == 0 {
			return func() { // as an operator would
				db.Exec("DELETE FROM distributed_lock WHERE name = ?", key)
				db.Exec("DELETE FROM lock_record WHERE name = ?", key)
			}
		}
		return func() {
			db.Exec("UPDATE distributed_lock SET expire = '2000-01-01' WHERE name = ?", key)
			db.Exec("UPDATE lock_record SET deadline = '2000-01-01' WHERE name = ?", key)
		}
	}
	switch info.Name {
	case "lock-row", "get-lock": // the server itself counts the waits of these locks, in whole seconds
		h.Forget = func(_ testing.TB, key string) { db.Exec("DELETE FROM lock_row WHERE name = ?", key) }
		h.Alone = ""
		h.Waits = []time.Duration{1100 * time.Millisecond}
		h.Waiting = func(c *tap.Command) bool {
			return strings.Contains(c.Text, "FOR UPDATE") || strings.Contains(c.Text, "GET_LOCK")
		}
		h.End = func(t testing.TB, _ string, l lock.Lease) func() {
			id := connectionOf(t, l)
			return func() { // the server frees the locks before it forgets the session
				db.Exec(fmt.Sprint("KILL ", id))
				labtest.Soon(t, "the session has ended", func() bool {
					var alive int
					err := db.Raw("SELECT COUNT(*) FROM information_schema.processlist WHERE id = ?", id).Scan(&alive).Error
					return err == nil && alive == 0
				})
			}
		}
		if info.Name == "get-lock" {
			h.Foreign = []Foreign{{"GET_LOCK", func(t testing.TB, key string) (func(), bool) { return getLock(t, db, key) }}}
		}
	case "lock-insert", "lock-insert-plain", "lock-insert-by-name":
		if h.Alone = "distributed_lock"; info.Name == "lock-insert" {
			h.Alone = ""
		}
		h.Foreign = []Foreign{{"a row without an end", func(_ testing.TB, key string) (func(), bool) {
			err := db.Exec("INSERT INTO distributed_lock (name) VALUES (?)", key).Error
			return func() { db.Exec("DELETE FROM distributed_lock WHERE name = ?", key) }, err == nil
		}}}
	}
	return h
}

func connectionOf(t testing.TB, l lock.Lease) (id int64) {
	t.Helper()
	session := l.(lock.SessionLease).Session()
	labtest.Must(t, session.WithContext(context.Background()).Raw("SELECT CONNECTION_ID()").Scan(&id).Error)
	return id
}

// getLock is a foreign client of GET_LOCK on a connection of its own; it also
// tries to release a lock that is not its own.
func getLock(t testing.TB, db *gorm.DB, key string) (free func(), ok bool) {
	pool := labtest.Value(db.DB()).Must(t)
	conn := labtest.Value(pool.Conn(context.Background())).Must(t)
	ask := func(query string) (answer int) {
		labtest.Check(t, conn.QueryRowContext(context.Background(), query, key).Scan(&answer), nil, "%s", query)
		return answer
	}
	if ask("SELECT GET_LOCK(?, 0)") == 1 {
		return func() {
			ask("SELECT RELEASE_LOCK(?)")
			conn.Close()
		}, true
	}
	if ask("SELECT COALESCE(RELEASE_LOCK(?), 0)") != 0 { // NULL means that the lock is free by now
		t.Error("a foreign client freed our lock")
	}
	conn.Close()
	return nil, false
}

func inRedis(t *testing.T, info catalog.Info) Harness {
	in := labtest.Instance(t, info.Needs...)
	nodes := []redis.UniversalClient{in.Redis}
	h := Harness{Key: "test:" + info.Name, Open: opens(info), Lease: 300 * time.Millisecond}
	switch info.Name {
	case "redlock":
		nodes, h.Lease, h.Alone = nil, 4*time.Second, "five Redis" // a node gets a twentieth of the lease
		for _, n := range in.RedisNodes {
			nodes = append(nodes, n)
		}
	case "redis-blpop":
		h.Waiting = func(c *tap.Command) bool { return c.Backend == tap.Waiting || strings.EqualFold(c.Name, "BLPOP") }
	case "redsync":
		h.Lease = 4 * time.Second // an attempt gets a quarter of the lease
		h.Wire = through(info, func(t testing.TB, _ catalog.Settings) (*labtest.Wire, backend.Config) {
			direct := in.Config.RedisAddrs[0]
			address := labtest.Value(backend.ParseRedis(direct)).Must(t)
			w := labtest.NewWire(t, address.Addr)
			return w, backend.Config{RedisAddrs: []string{strings.Replace(direct, address.Addr, w.Addr(), 1)}}
		})
	case "redis-setnx":
		h.Lease = 0
	case "redis-fenced":
		h.Forget = func(t testing.TB, key string) {
			labtest.Same(t, in.Redis.Del(context.Background(), "{"+key+"}:grants").Val(), 1, "counts of grants")
		}
	}
	h.Seen = func(t testing.TB, key string) (seen []string) {
		for _, n := range nodes {
			value, err := n.Dump(context.Background(), key).Result()
			if err == nil {
				seen = append(seen, value)
			} else if !errors.Is(err, redis.Nil) {
				t.Fatal(err)
			}
		}
		if signal := "{" + key + "}:signal"; info.Name == "redis-blpop" &&
			(in.Redis.LLen(context.Background(), signal).Val() > 1 || in.Redis.TTL(context.Background(), signal).Val() == -1) {
			seen = append(seen, "more than one signal, or one without an end")
		}
		return seen
	}
	h.End = func(_ testing.TB, key string, _ lock.Lease) func() {
		return func() {
			for _, n := range nodes {
				if info.Name == "redis-setnx-timestamp" || info.Name == "redis-getset" {
					n.Set(context.Background(), key, 1, 0) // the value is an end that is long past
				} else {
					n.Del(context.Background(), key)
				}
			}
		}
	}
	h.Foreign = []Foreign{
		{"a key of another type", takeOn(nodes, func(n redis.UniversalClient, key string) bool {
			return n.LPush(context.Background(), key, "waiter").Err() == nil
		})},
		{"another program's text", takeOn(nodes, func(n redis.UniversalClient, key string) bool {
			return n.SetNX(context.Background(), key, "another's", 0).Val()
		})},
	}
	return h
}

// takeOn takes a key on a majority of the nodes.
func takeOn(nodes []redis.UniversalClient, take func(n redis.UniversalClient, key string) bool) func(testing.TB, string) (func(), bool) {
	return func(_ testing.TB, key string) (free func(), ok bool) {
		var taken []redis.UniversalClient
		for _, n := range nodes {
			if take(n, key) {
				taken = append(taken, n)
			}
		}
		return func() {
			for _, n := range taken {
				n.Del(context.Background(), key)
			}
		}, len(taken) > len(nodes)/2
	}
}

// inZooKeeper returns the Harness for a lock in ZooKeeper. Each process has a session whose length
// the test chooses, within the server's bounds.
func inZooKeeper(t *testing.T, info catalog.Info) Harness {
	operator := labtest.Instance(t, backend.ZooKeeper)
	server := operator.Config.ZooKeeperAddrs[0]
	h := Harness{
		Key: "/test/locks/" + info.Name, Lease: 100 * time.Millisecond,
		Open: func(t testing.TB, s catalog.Settings) *locktest.Process {
			in := open(t, backend.Config{ZooKeeperAddrs: []string{server}, Tuning: backend.Tuning{ZooKeeperSession: s.LockLease}})
			return locktest.Open(t, info, catalog.Deps{Instance: in})
		},
		Wire: through(info, func(t testing.TB, s catalog.Settings) (*labtest.Wire, backend.Config) {
			w := labtest.NewWire(t, server)
			return w, backend.Config{ZooKeeperAddrs: []string{w.Addr()}, Tuning: backend.Tuning{ZooKeeperSession: s.LockLease}}
		}),
		Seen: func(t testing.TB, key string) []string { return contenders(t, operator.ZooKeeper, key) },
		End: func(t testing.TB, key string, _ lock.Lease) func() {
			return func() {
				if names := contenders(t, operator.ZooKeeper, key); len(names) > 0 {
					_ = operator.ZooKeeper.Delete(context.Background(), names[0])
				}
			}
		},
		Foreign: []Foreign{{"another client", func(t testing.TB, key string) (func(), bool) {
			return takeNode(t, operator.ZooKeeper, key, info.Name == "zk-node")
		}}},
	}
	if info.Name == "zk-fenced" {
		h.Forget = func(t testing.TB, key string) { // the sequence numbers begin anew
			labtest.Check(t, operator.ZooKeeper.Delete(context.Background(), key), nil, "delete the node")
		}
	}
	return h
}

// contenders lists the nodes of the holder of a lock and of its waiters, in the order in which they came.
func contenders(t testing.TB, c *zkclient.Client, key string) (nodes []string) {
	t.Helper()
	stat, err := c.Exists(context.Background(), key)
	if err == nil && stat != nil && stat.EphemeralOwner != 0 {
		return []string{key}
	}
	names, _, err := c.Children(context.Background(), key)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	number := func(name string) int {
		n, err := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
		if err != nil {
			t.Fatalf("%s has no number", name)
		}
		return n
	}
	slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
	for _, name := range names {
		nodes = append(nodes, key+"/"+name)
	}
	return nodes
}

// takeNode locks as another program would: with a name of its own in the queue, or with the single node itself.
func takeNode(t testing.TB, c *zkclient.Client, key string, single bool) (free func(), ok bool) {
	t.Helper()
	ctx := context.Background()
	node, parent, flag := key+"/x-216-", key, int32(zk.FlagEphemeralSequential)
	if single {
		node, parent, flag = key, key[:strings.LastIndex(key, "/")], zk.FlagEphemeral
	}
	labtest.Must(t, c.EnsurePath(ctx, parent))
	node, err := c.Create(ctx, node, nil, flag)
	if errors.Is(err, zk.ErrNodeExists) {
		return nil, false
	}
	labtest.Must(t, err)
	free = func() { _ = c.Delete(ctx, node) }
	if contenders(t, c, key)[0] != node {
		free()
		return nil, false
	}
	return free, true
}

func inEtcd(t *testing.T, info catalog.Info) Harness {
	operator := labtest.Instance(t, backend.Etcd)
	etcd, server := operator.Etcd, strings.TrimPrefix(operator.Config.EtcdEndpoints[0], "http://")
	keys := func(t testing.TB, key string) (keys []string) {
		got := labtest.Value(etcd.Get(context.Background(), key, clientv3.WithPrefix(),
			clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))).Must(t)
		for _, kv := range got.Kvs {
			keys = append(keys, string(kv.Key))
		}
		return keys
	}
	h := Harness{
		Key: "/test/locks/" + info.Name, Open: opens(info),
		Lease:   2 * time.Second, // the shortest lease that etcd grants
		Waiting: func(c *tap.Command) bool { return strings.HasPrefix(c.Text, "end of") },
		Seen:    keys,
		Wire: through(info, func(t testing.TB, _ catalog.Settings) (*labtest.Wire, backend.Config) {
			w := labtest.NewWire(t, server)
			return w, backend.Config{EtcdEndpoints: []string{w.Addr()}}
		}),
		End: func(t testing.TB, key string, _ lock.Lease) func() {
			return func() {
				if keys := keys(t, key); len(keys) > 0 {
					_, _ = etcd.Delete(context.Background(), keys[0])
				}
			}
		},
	}
	if info.Name == "etcd" {
		h.Foreign = []Foreign{{"concurrency.Mutex", func(t testing.TB, key string) (func(), bool) { return takeMutex(t, etcd, key) }}}
	}
	return h
}

// takeMutex locks as `etcdctl lock` and concurrency.Mutex do.
func takeMutex(t testing.TB, etcd *clientv3.Client, key string) (free func(), ok bool) {
	s := labtest.Value(concurrency.NewSession(etcd, concurrency.WithTTL(60))).Must(t)
	m := concurrency.NewMutex(s, key)
	free = func() {
		_ = m.Unlock(context.Background())
		s.Close()
	}
	if err := m.TryLock(context.Background()); err != nil {
		s.Close()
		return nil, false
	}
	return free, true
}
