package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
)

// waiting counts the commands that wait inside the servers, by the servers'
// own word.
func (w *World) waiting(ctx context.Context) (int, error) { return Waiting(ctx, w.admin, w.mysql) }

// Waiting counts the commands that wait inside the servers of in: for a row, a
// user lock, or an element of a list. mysql: Oracle's, not MariaDB.
func Waiting(ctx context.Context, in *backend.Instance, mysql bool) (int, error) {
	total := 0
	// Who waits for a row. INNODB_LOCK_WAITS would not do: its cache stays as
	// it is for as long as it is read.
	query := "SELECT (SELECT COUNT(DISTINCT l.REQUESTING_THREAD_ID) FROM performance_schema.data_lock_waits l " +
		"JOIN performance_schema.threads t ON t.THREAD_ID = l.REQUESTING_THREAD_ID WHERE t.PROCESSLIST_DB = DATABASE())"
	if !mysql {
		query = "SELECT (SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS " +
			"WHERE VARIABLE_NAME = 'INNODB_ROW_LOCK_CURRENT_WAITS')"
	}
	query += " + (SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User lock' AND DB = DATABASE())"
	if err := ledger.NewStore(in.DB).Read(ctx, &total, query); err != nil {
		return 0, fmt.Errorf("ask the SQL server who waits: %w", err)
	}
	if in.Redis == nil {
		return total, nil
	}
	info, err := in.Redis.Info(ctx, "clients").Result()
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
func (w *World) endLease(ctx context.Context, of *process, votes []string, force bool) (what string, err error) {
	w.clock.Add(int64(leaseEnd(w.settings)))
	var did []string
	for _, end := range []func(context.Context, string) (string, error){
		func(ctx context.Context, key string) (string, error) { return w.expireKeys(ctx, key, votes) }, w.expireRows, w.removeNode, w.revokeLease,
	} {
		done, err := end(ctx, w.key())
		if err != nil {
			return "", fmt.Errorf("end the lease of %s: %w", w.key(), err)
		}
		if done != "" {
			did = append(did, done)
		}
	}
	if did != nil && w.admin.Etcd != nil {
		// A lease is its process's, which finds out by and by: that would be
		// another step of some later order.
		for _, p := range w.numbers {
			p.tainted = p.tainted || of == nil || p == of
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
	if did == nil && w.info.Locker == nil {
		did = append(did, "the processes' clocks move on by the time of a lease")
	}
	return w.anonymous(strings.Join(did, "; ")), nil
}

// expireKeys: on each of several nodes, only what one of the holder's votes
// put there ends with his lease.
func (w *World) expireKeys(ctx context.Context, key string, votes []string) (string, error) {
	did := ""
	for _, c := range redises(w.admin) {
		ttl, err := c.PTTL(ctx, key).Result()
		if err != nil {
			return "", err
		}
		if ttl < 0 { // no key, or no lease
			continue
		}
		if len(votes) > 0 && !slices.Contains(votes, c.Get(ctx, key).Val()) {
			continue
		}
		if err := c.Del(ctx, key).Err(); err != nil {
			return "", err
		}
		did = "the key " + key + " expires"
	}
	return did, nil
}

// unblock ends the time-out of whoever blocks in Redis (BLPOP).
func (w *World) unblock(ctx context.Context) (any bool, err error) {
	if w.admin.Redis == nil {
		return false, nil
	}
	clients, err := w.admin.Redis.ClientList(ctx).Result()
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(clients) {
		if m := blockedClient.FindStringSubmatch(line); m != nil {
			id, _ := strconv.ParseInt(m[1], 10, 64)
			if err := w.admin.Redis.ClientUnblock(ctx, id).Err(); err != nil {
				return any, err
			}
			any = true
		}
	}
	return any, nil
}

// blockedClient finds the flag b in a line of CLIENT LIST.
var blockedClient = regexp.MustCompile(`^id=(\d+) .* flags=\w*b`)

func redises(in *backend.Instance) (all []redis.UniversalClient) {
	if in.Redis != nil {
		all = append(all, in.Redis)
	}
	for _, c := range in.RedisNodes {
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
	names, err := zkQueue(ctx, w.admin.ZooKeeper, key)
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

// zkQueue lists the children of a lock's node by their number.
func zkQueue(ctx context.Context, c *backend.ZooKeeperClient, key string) ([]string, error) {
	names, _, err := c.Children(ctx, key)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(a[max(0, len(a)-10):], b[max(0, len(b)-10):])
	})
	return names, err
}

// giveUp ends the session and the leases of a process that has died. puts are
// the keys and values that it put into etcd, or tried to.
func (w *World) giveUp(ctx context.Context, p *process, puts []string) (what string, err error) {
	var did []string
	if c := w.admin.ZooKeeper; c != nil {
		names, err := zkQueue(ctx, c, w.key())
		if err != nil {
			return "", err
		}
		paths := []string{w.key()}
		for _, name := range names {
			paths = append(paths, w.key()+"/"+name)
		}
		for _, path := range paths {
			stat, err := c.Exists(ctx, path)
			if err != nil {
				return "", err
			}
			if stat == nil || stat.EphemeralOwner == 0 || stat.EphemeralOwner != p.session {
				continue
			}
			if err := c.Delete(ctx, path); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return "", err
			}
			did = append(did, "the session of "+path+" ends")
		}
	}
	for _, put := range puts {
		key, value, _ := strings.Cut(put, " ")
		got, err := w.admin.Etcd.Get(ctx, key)
		if err != nil {
			return "", err
		}
		// Somebody else's by now, or in the first place, has another value.
		if len(got.Kvs) == 1 && got.Kvs[0].Lease != 0 && strconv.Quote(string(got.Kvs[0].Value)) == value {
			if _, err := w.admin.Etcd.Revoke(ctx, clientv3.LeaseID(got.Kvs[0].Lease)); err != nil {
				return "", err
			}
			did = append(did, "the lease of "+key+" ends")
		}
	}
	if did == nil {
		did = []string{"nothing of his is left"}
	}
	return w.anonymous(strings.Join(did, "; ")), nil
}

func (w *World) revokeLease(ctx context.Context, key string) (string, error) {
	kvs, err := etcdQueue(ctx, w.admin.Etcd, key)
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
func etcdQueue(ctx context.Context, c *clientv3.Client, key string) (all []etcdKey, err error) {
	if c == nil {
		return nil, nil
	}
	got, err := c.Get(ctx, key, clientv3.WithPrefix(),
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
	return killed, w.gone(ctx, addrs, false)
}

// gone waits until the SQL server does not know these connections any more:
// it forgets them when it has rolled back. With idle it does not wait for those
// that wait for a row: such a one notices nothing before it has it.
func (w *World) gone(ctx context.Context, addrs []string, idle bool) error {
	if len(addrs) == 0 {
		return nil
	}
	query := "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE HOST IN ?"
	if idle {
		query += " AND COMMAND = 'Sleep'"
	}
	for begun := time.Now(); ; {
		var n int
		if err := w.admin.DB.WithContext(ctx).Raw(query, addrs).Scan(&n).Error; err != nil {
			return fmt.Errorf("ask the SQL server for its connections: %w", err)
		}
		if n == 0 || time.Since(begun) > commandLimit {
			return nil
		}
		time.Sleep(200 * time.Microsecond)
	}
}

// lockTables are the tables that locks are kept in.
var lockTables = []string{"distributed_lock", "lock_record", "lock_row"}

// expireRows ends leases that are kept in tables. The end of one in
// distributed_lock is compared with the database's clock, so it is written. A
// deadline in lock_record is compared with the processes' own, which have been
// moved on: nothing is written, as a buyer may stand there with the row locked.
func (w *World) expireRows(ctx context.Context, key string) (string, error) {
	if w.info.Family != "mysqllock" {
		return "", nil
	}
	did := ""
	if w.admin.DB.Migrator().HasTable("distributed_lock") {
		res := w.admin.DB.WithContext(ctx).Exec("UPDATE distributed_lock SET expire = '2000-01-01' "+
			"WHERE name = ? AND expire > '2000-01-02'", key)
		if res.Error != nil {
			return "", res.Error
		}
		if res.RowsAffected > 0 {
			did = "the expire of distributed_lock is past"
		}
	}
	if w.admin.DB.Migrator().HasTable("lock_record") {
		var leases int
		before := time.Now().Add(time.Duration(w.clock.Load()) - leaseEnd(w.settings)).UTC()
		err := w.store.Read(ctx, &leases, "SELECT COUNT(*) FROM lock_record WHERE name = ? AND status = 1 AND deadline > ?",
			key, before)
		if err != nil {
			return "", err
		}
		if leases > 0 {
			did = "the deadline of lock_record is past"
		}
	}
	return did, nil
}

// leaseEnd is how far the processes' clocks move when a lease ends.
func leaseEnd(s catalog.Settings) time.Duration { return s.LockLease + time.Second }

// peek reads what the servers keep for the order that runs.
func (w *World) peek(ctx context.Context) []Value {
	values := Peek(ctx, w.admin, w.info, w.sku)
	for i, v := range values {
		values[i] = Value{w.anonymous(v.Name), w.anonymous(v.Value)}
	}
	return values
}

// Peek reads what the servers of in keep for a SKU and its lock: the row, the
// key, the queue. What cannot be read is left out.
func Peek(ctx context.Context, in *backend.Instance, info catalog.Info, sku int64) []Value {
	var values []Value
	add := func(name, value string) { values = append(values, Value{name, value}) }
	key := lockKey(info, sku)
	if row, err := ledger.NewStore(in.DB).SKU(ctx, sku); err == nil {
		add("stock.num", strconv.FormatInt(row.Num, 10))
	}
	for i, c := range redises(in) {
		name := key
		if i > 0 || in.Redis == nil {
			name = fmt.Sprintf("%s on node %d", key, i+1)
		}
		values = append(values, redisValues(ctx, c, name, key, fmt.Sprint("seckill:stock:", sku))...)
	}
	if in.ZooKeeper != nil {
		names, _ := zkQueue(ctx, in.ZooKeeper, key)
		add(key, strings.Join(names, " "))
		if stat, err := in.ZooKeeper.Exists(ctx, key); err == nil && stat != nil && stat.EphemeralOwner != 0 {
			add(key, "there")
		}
	}
	if keys, _ := etcdQueue(ctx, in.Etcd, key); keys != nil {
		var names []string
		for _, k := range keys {
			names = append(names, k.key)
		}
		add(key, strings.Join(names, " "))
	}
	if info.Family == "mysqllock" {
		for _, table := range lockTables {
			values = append(values, tableValues(ctx, in, table, key)...)
		}
	}
	return values
}

// tableValues shows the record of a lock in one table.
func tableValues(ctx context.Context, in *backend.Instance, table, key string) (values []Value) {
	row := map[string]any{}
	if in.DB.WithContext(ctx).Raw("SELECT * FROM "+table+" WHERE name = ?", key).Scan(&row).Error != nil {
		return nil // there is no such table
	}
	for _, column := range slices.Sorted(maps.Keys(row)) {
		if slices.Contains([]string{"owner", "count", "deadline", "expire", "status"}, column) {
			values = append(values, Value{table + "." + column, fmt.Sprint(row[column])})
		}
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
