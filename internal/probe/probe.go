// Package probe observes the servers from outside: which commands wait inside them, and what they store for a lock and
// a stock. It can also end leases and sessions at the servers, as if their time had passed. Each backend has a file.
package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
)

// A Value is something that a server stores.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Holder identifies what the servers store for a buyer with a lock, or for a dead process.
type Holder struct {
	Sets    map[string][]string // for each key, the values that the process wrote or tried to write
	Session int64               // id of the process's ZooKeeper session; 0 stands for any session
}

func (h *Holder) wrote(key, value string) bool { return slices.Contains(h.Sets[key], value) }

// A Set probes all backends of an instance. It reads what they store for the stock and the lock of a SKU.
type Set struct {
	*SQL
	redis *redisProbe // nil if the instance has no Redis
	all   []server
	info  catalog.Info
}

// A server probes one backend. The parameter key is the name of the SKU's lock.
type server interface {
	// expire ends the lease of the lock at the server, without a message to the holder. It returns a description of
	// what ended; "" if there was no lease. If h is nil, the holder is unknown.
	expire(ctx context.Context, key string, sku int64, h *Holder) (string, error)
	// values returns what the server stores for the lock and the SKU. It leaves out values that it cannot read.
	values(ctx context.Context, key string, sku int64) []Value
	// giveUp deletes what the server stores for a dead process, such as its session. It returns descriptions of these.
	giveUp(ctx context.Context, key string, h *Holder) ([]string, error)
}

// Of returns the probes for the backends of an instance.
func Of(in *backend.Instance, info catalog.Info) *Set {
	sql := &SQL{db: in.DB, database: in.Database, store: ledger.NewStore(in.DB), lockTable: info.Stored.LockTable,
		stock: info.Stock, Now: time.Now}
	s := &Set{SQL: sql, all: []server{sql}, info: info}
	if in.Redis != nil || len(in.RedisNodes) > 0 {
		s.redis = &redisProbe{single: in.Redis, stored: info.Stored}
		if in.Redis != nil {
			s.redis.nodes = append(s.redis.nodes, in.Redis)
		}
		for _, c := range in.RedisNodes {
			s.redis.nodes = append(s.redis.nodes, c)
		}
		s.all = append(s.all, s.redis)
	}
	if in.ZooKeeper != nil {
		s.all = append(s.all, zookeeper{in.ZooKeeper})
	}
	if in.Etcd != nil {
		s.all = append(s.all, etcd{in.Etcd})
	}
	return s
}

// A Wait is a command that waits inside a server, as that server reports it.
type Wait struct {
	Backend string
	Port    string // the local port of the client that sent the command
	Why     string // the server's reason, such as "waits for the lock X on stock, index PRIMARY"
	// Holders lists the client ports of all connections that have row locks and do not wait themselves. It is nil
	// unless the command waits for a row.
	Holders []string

	wake func(context.Context) error // ends the wait as if its time were over; nil if the wait is not in Redis
}

// Waits returns the commands that wait inside the servers. At the SQL server, it sees only commands to this
// database. At Redis, it sees the commands of all users. ZooKeeper and etcd let no command wait.
func (s *Set) Waits(ctx context.Context) ([]Wait, error) {
	list, err := s.SQL.waits(ctx)
	if err != nil || s.redis == nil {
		return list, err
	}
	blocked, err := s.redis.waits(ctx)
	return append(list, blocked...), err
}

// Wake ends the commands that wait inside Redis and come from the given ports, as if they had timed out. It returns
// false if there are none. It does not end a wait for a row.
func (s *Set) Wake(ctx context.Context, ports []string) (any bool, err error) {
	if s.redis == nil {
		return false, nil
	}
	list, err := s.redis.waits(ctx)
	for _, w := range list {
		if slices.Contains(ports, w.Port) {
			any, err = true, errors.Join(err, w.wake(ctx))
		}
	}
	return any, err
}

// SetRight changes the rights of the Redis user that all processes share. The rule "-GET" makes Redis refuse GET,
// and "+GET" allows it again.
func (s *Set) SetRight(ctx context.Context, rule string) error {
	return s.redis.eachServer(ctx, func(ctx context.Context, c *redis.Client) error {
		user, err := c.Do(ctx, "ACL", "WHOAMI").Text()
		if err == nil {
			err = c.Do(ctx, "ACL", "SETUSER", user, rule).Err()
		}
		return err
	})
}

// Expire ends the lease of the SKU's lock at the servers, without a message to the holder. It returns descriptions
// of what ended; none if there was no lease. If h is nil, the holder is unknown.
func (s *Set) Expire(ctx context.Context, sku int64, h *Holder) (did []string, err error) {
	key := s.Key(sku)
	for _, p := range s.all {
		what, err := p.expire(ctx, key, sku, h)
		if err != nil {
			return did, fmt.Errorf("end the lease of %s: %w", key, err)
		}
		if what != "" {
			did = append(did, what)
		}
	}
	return did, nil
}

// GiveUp deletes what the servers store for a dead process, and returns descriptions of what ended.
func (s *Set) GiveUp(ctx context.Context, sku int64, h *Holder) (did []string, err error) {
	key := s.Key(sku)
	for _, p := range s.all {
		more, err := p.giveUp(ctx, key, h)
		if err != nil {
			return did, fmt.Errorf("end what a dead process has left at %s: %w", key, err)
		}
		did = append(did, more...)
	}
	return did, nil
}

// Values returns what the servers store for the SKU, after it has applied normalize to each name and each value. It
// leaves out values that it cannot read, and never returns nil.
func (s *Set) Values(ctx context.Context, sku int64, normalize func(string) string) []Value {
	values := []Value{}
	for _, p := range s.all {
		for _, v := range p.values(ctx, s.Key(sku), sku) {
			values = append(values, Value{normalize(v.Name), normalize(v.Value)})
		}
	}
	return values
}

// Key returns the name of the SKU's lock; "" if the strategy is not a lock.
func (s *Set) Key(sku int64) string {
	if s.info.Key == nil {
		return ""
	}
	return s.info.Key(sku)
}
