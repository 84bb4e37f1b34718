// Package probe looks into the servers from outside, as no buyer does: who
// waits in them, what they keep for a lock; and it ends leases and sessions
// there, as time would. One file is one backend.
package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

// A Value is something that the servers keep.
type Value struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Holder is what is known of a buyer who has a lock, or of a process that has
// died: what of the servers' belongs to them.
type Holder struct {
	Sets    map[string][]string // values that they wrote, or tried to, by key
	Session int64               // in ZooKeeper; 0: any
}

func (h *Holder) wrote(key, value string) bool { return slices.Contains(h.Sets[key], value) }

// A Set looks into all backends of an instance, at the stock and the lock of a SKU.
type Set struct {
	*SQL
	redis *redisProbe // nil: there is none
	all   []server
	key   func(sku int64) string // of the lock; nil: the usual name
}

// A server is one backend. key is a lock's.
type server interface {
	// expire ends the lease of the lock's holder as the server sees it: the holder
	// has not heard of it. It says what it did, "" if there was no lease. h is nil
	// when it is not known who holds it.
	expire(ctx context.Context, key string, h *Holder) (string, error)
	// look reads what the server keeps. What cannot be read is left out.
	look(ctx context.Context, key string, sku int64) []Value
}

// Sessions are a server that keeps something for a process beyond its connections.
type sessions interface {
	// giveUp ends what the server keeps for a process that has died.
	giveUp(ctx context.Context, key string, h *Holder) ([]string, error)
}

// Of makes the probes that fit what a strategy needs.
func Of(in *backend.Instance, info catalog.Info) *Set {
	sql := newSQL(in, info)
	s := &Set{SQL: sql, all: []server{sql}, key: info.Key}
	if in.Redis != nil || len(in.RedisNodes) > 0 {
		s.redis = newRedis(in)
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

// A Wait is a command that waits inside a server, by the server's own word.
type Wait struct {
	Backend string
	Port    string   // of its connection, at its client
	Why     string   // "waits for the lock X on stock, index PRIMARY"
	Holders []string // of a row: the ports of connections that have row locks and do not wait

	wake func(context.Context) error // ends its time-out, in Redis
}

// Waits lists the commands that wait inside the servers, of this database and of whoever
// uses the Redis. ZooKeeper and etcd have none that do.
func (s *Set) Waits(ctx context.Context) ([]Wait, error) {
	list, err := s.SQL.waits(ctx)
	if err != nil || s.redis == nil {
		return list, err
	}
	blocked, err := s.redis.waits(ctx)
	return append(list, blocked...), err
}

// Wake ends the time-outs of commands that wait inside Redis and were sent from these
// ports. A wait for a row ends by the row alone.
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

// Deny withdraws the right to a command from the user of Redis that all processes have.
func (s *Set) Deny(ctx context.Context, command string) error { return s.redis.may(ctx, "-"+command) }

// Allow gives the right back.
func (s *Set) Allow(ctx context.Context, command string) error { return s.redis.may(ctx, "+"+command) }

// Expire ends the lease of the lock's holder, who has not heard of it, and says what
// it did: nothing if there was no lease. h is nil when it is not known who holds it.
func (s *Set) Expire(ctx context.Context, sku int64, h *Holder) (did []string, err error) {
	key := s.Key(sku)
	for _, p := range s.all {
		what, err := p.expire(ctx, key, h)
		if err != nil {
			return did, fmt.Errorf("end the lease of %s: %w", key, err)
		}
		if what != "" {
			did = append(did, what)
		}
	}
	return did, nil
}

// GiveUp ends what the servers keep for a process that has died, and says what it did.
func (s *Set) GiveUp(ctx context.Context, sku int64, h *Holder) (did []string, err error) {
	key := s.Key(sku)
	for _, p := range s.all {
		keeps, ok := p.(sessions)
		if !ok {
			continue
		}
		more, err := keeps.giveUp(ctx, key, h)
		if err != nil {
			return did, fmt.Errorf("end what a dead process has left at %s: %w", key, err)
		}
		did = append(did, more...)
	}
	return did, nil
}

// Look reads what the servers keep, in plain words. What cannot be read is left out.
func (s *Set) Look(ctx context.Context, sku int64, plain func(string) string) (values []Value) {
	for _, p := range s.all {
		for _, v := range p.look(ctx, s.Key(sku), sku) {
			values = append(values, Value{plain(v.Name), plain(v.Value)})
		}
	}
	return values
}

// Key names the lock of a SKU.
func (s *Set) Key(sku int64) string {
	if s.key != nil {
		return s.key(sku)
	}
	return fmt.Sprint("seckill:lock:stock:", sku)
}
