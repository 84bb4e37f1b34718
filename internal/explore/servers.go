package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/backend"
	"seckill/internal/lock"
)

// waiting counts the commands that wait inside the servers, by the servers'
// own word.
func (w *World) waiting(ctx context.Context) (int, error) {
	total := 0
	// Who waits for a row. INNODB_LOCK_WAITS would not do: its cache stays as
	// it is for as long as it is read.
	query := "SELECT (SELECT COUNT(DISTINCT l.REQUESTING_THREAD_ID) FROM performance_schema.data_lock_waits l " +
		"JOIN performance_schema.threads t ON t.THREAD_ID = l.REQUESTING_THREAD_ID WHERE t.PROCESSLIST_DB = DATABASE())"
	if !w.mysql {
		query = "SELECT (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS " +
			"WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS')"
	}
	query += " + (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User lock' AND DB = DATABASE())"
	if err := w.store.Read(ctx, &total, query); err != nil {
		return 0, fmt.Errorf("ask the SQL server who waits: %w", err)
	}
	if w.admin.Redis == nil {
		return total, nil
	}
	info, err := w.admin.Redis.Info(ctx, "clients").Result()
	if err != nil {
		return 0, fmt.Errorf("ask Redis who waits: %w", err)
	}
	for line := range strings.Lines(info) {
		if n, ok := strings.CutPrefix(strings.TrimSpace(line), "blocked_clients:"); ok {
			blocked, _ := strconv.Atoi(n)
			total += blocked
		}
	}
	return total, nil
}

// endLease ends the lease of the lock's holder, as its server sees it, and
// says what it did; "" if there was no lease. of is the holder's process, if
// it is known. With force it removes a lock that never ends, too.
func (w *World) endLease(ctx context.Context, of *process, force bool) (what string, err error) {
	w.clock.Add(int64(w.settings.LockLease + time.Second))
	var did []string
	for _, end := range []func(context.Context, string) (string, error){
		w.expireKeys, w.expireRows, w.removeNode, w.revokeLease,
	} {
		done, err := end(ctx, w.key())
		if err != nil {
			return "", fmt.Errorf("end the lease of %s: %w", w.key(), err)
		}
		if done != "" {
			did = append(did, done)
		}
	}
	if did == nil && of != nil && slices.Contains(w.info.Needs, backend.RowLocks) {
		n, err := w.killConnections(ctx, of)
		if err != nil {
			return "", err
		}
		if n > 0 {
			of.tainted = true
			did = append(did, "the server closes the holder's connections")
		}
	}
	if did == nil && of != nil && force {
		if c, ok := of.locker.(lock.Clearer); ok && c.Clear(ctx, w.key()) == nil {
			did = append(did, "an operator removes the lock")
		}
	}
	return w.anonymous(strings.Join(did, "; ")), nil
}

func (w *World) expireKeys(ctx context.Context, key string) (string, error) {
	did := ""
	for _, c := range w.redises() {
		ttl, err := c.PTTL(ctx, key).Result()
		if err != nil {
			return "", err
		}
		if ttl < 0 { // no key, or no lease
			continue
		}
		if err := c.Del(ctx, key).Err(); err != nil {
			return "", err
		}
		did = "the key " + key + " expires"
	}
	return did, nil
}

func (w *World) redises() (all []redis.UniversalClient) {
	if w.admin.Redis != nil {
		all = append(all, w.admin.Redis)
	}
	for _, c := range w.admin.RedisNodes {
		all = append(all, c)
	}
	return all
}

// removeNode deletes the first ephemeral node of the queue, or the lock's own
// node. Its session stays: its client has not heard, as one that is paused.
func (w *World) removeNode(ctx context.Context, key string) (string, error) {
	if w.admin.ZooKeeper == nil {
		return "", nil
	}
	path := key
	names, err := w.queue(ctx, key)
	if err != nil {
		return "", err
	}
	if len(names) > 0 {
		path = key + "/" + names[0]
	}
	stat, err := w.admin.ZooKeeper.Exists(ctx, path)
	if err != nil || stat == nil || stat.EphemeralOwner == 0 {
		return "", err
	}
	err = w.admin.ZooKeeper.Delete(ctx, path)
	if errors.Is(err, zk.ErrNoNode) {
		return "", nil
	}
	return "the session of " + path + " ends", err
}

// queue lists the children of a lock's node by their number.
func (w *World) queue(ctx context.Context, key string) ([]string, error) {
	names, _, err := w.admin.ZooKeeper.Children(ctx, key)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(a[max(0, len(a)-10):], b[max(0, len(b)-10):])
	})
	return names, err
}

func (w *World) revokeLease(ctx context.Context, key string) (string, error) {
	kvs, err := w.etcdQueue(ctx, key)
	if err != nil || len(kvs) == 0 || kvs[0].lease == 0 {
		return "", err
	}
	_, err = w.admin.Etcd.Revoke(ctx, clientv3.LeaseID(kvs[0].lease))
	return "the lease of " + kvs[0].key + " is revoked", err
}

type etcdKey struct {
	key   string
	lease int64
}

// etcdQueue lists a lock's keys by their age.
func (w *World) etcdQueue(ctx context.Context, key string) (all []etcdKey, err error) {
	if w.admin.Etcd == nil {
		return nil, nil
	}
	got, err := w.admin.Etcd.Get(ctx, key, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		return nil, err
	}
	for _, kv := range got.Kvs {
		all = append(all, etcdKey{string(kv.Key), kv.Lease})
	}
	return all, nil
}

// killConnections has the SQL server close every connection of p.
func (w *World) killConnections(ctx context.Context, p *process) (killed int, err error) {
	addrs := p.in.Dialer.LocalAddrs()
	if len(addrs) == 0 {
		return 0, nil
	}
	var ids []int64
	err = w.admin.DB.WithContext(ctx).Raw("SELECT ID FROM information_schema.PROCESSLIST WHERE HOST IN ?", addrs).Scan(&ids).Error
	if err != nil {
		return 0, fmt.Errorf("find the connections of a process: %w", err)
	}
	for _, id := range ids {
		if w.admin.DB.WithContext(ctx).Exec(fmt.Sprint("KILL ", id)).Error == nil { // or it has gone meanwhile
			killed++
		}
	}
	return killed, nil
}

// lockTables are the tables that locks are kept in, with the column that says
// until when, if they have one.
var lockTables = []struct{ table, until string }{
	{"distributed_lock", "expire"}, {"lock_record", "deadline"}, {"lock_row", ""},
}

func (w *World) expireRows(ctx context.Context, key string) (string, error) {
	if w.info.Family != "mysqllock" {
		return "", nil
	}
	did := ""
	for _, t := range lockTables {
		if t.until == "" || !w.admin.DB.Migrator().HasColumn(t.table, t.until) {
			continue
		}
		res := w.admin.DB.WithContext(ctx).Exec("UPDATE "+t.table+" SET "+t.until+" = '2000-01-01' WHERE name = ? AND "+
			t.until+" > '2000-01-02'", key)
		if res.Error != nil {
			return "", res.Error
		}
		if res.RowsAffected > 0 {
			did = "the " + t.until + " of " + t.table + " is past"
		}
	}
	return did, nil
}

// peek reads what the servers keep for the order that runs.
func (w *World) peek(ctx context.Context) []Value {
	var values []Value
	add := func(name, value string) { values = append(values, Value{w.anonymous(name), w.anonymous(value)}) }
	row, err := w.store.SKU(ctx, w.sku)
	if err == nil {
		add("stock.num", strconv.FormatInt(row.Num, 10))
	}
	for i, c := range w.redises() {
		name := w.key()
		if i > 0 {
			name = fmt.Sprintf("%s on node %d", name, i)
		}
		for _, v := range redisValues(ctx, c, name, w.key(), fmt.Sprint("seckill:stock:", w.sku)) {
			add(v.Name, v.Value)
		}
	}
	if w.admin.ZooKeeper != nil {
		names, _ := w.queue(ctx, w.key())
		add(w.key(), strings.Join(names, " "))
	}
	if keys, _ := w.etcdQueue(ctx, w.key()); keys != nil {
		var names []string
		for _, k := range keys {
			names = append(names, k.key)
		}
		add(w.key(), strings.Join(names, " "))
	}
	return values
}

// redisValues shows a lock's key and a counter, whatever their types.
func redisValues(ctx context.Context, c redis.UniversalClient, name, key, counter string) (values []Value) {
	for _, k := range []string{key, counter} {
		shown := ""
		switch kind, _ := c.Type(ctx, k).Result(); kind {
		case "none", "":
			if k == counter {
				continue
			}
			shown = "—"
		case "string":
			shown = c.Get(ctx, k).Val()
		case "hash":
			shown = fmt.Sprint(c.HGetAll(ctx, k).Val())
		default:
			shown = "a " + kind
		}
		if k == key {
			k = name
		}
		values = append(values, Value{k, shown})
	}
	return values
}
