// Package probe looks into the servers from outside, as no buyer does: who
// waits in them, what they keep for a lock; and it ends leases and sessions
// there, as time would. One file is one backend.
package probe

import (
	"context"
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

// A Probe looks into one backend. key is a lock's.
type Probe interface {
	// Waiting counts the commands that wait inside the server, by its own word.
	Waiting(context.Context) (int, error)
	// Expire ends the lease of the lock's holder as the server sees it: the
	// holder has not heard of it. It says what it did, "" if there was no lease.
	// h is nil when it is not known who holds it.
	Expire(ctx context.Context, key string, h *Holder) (string, error)
	// GiveUp ends what the server keeps for a process that has died.
	GiveUp(ctx context.Context, key string, h *Holder) ([]string, error)
	// Wake ends the time-outs of commands that wait inside the server.
	Wake(context.Context) (any bool, err error)
	// Look reads what the server keeps. What cannot be read is left out.
	Look(ctx context.Context, key string, sku int64) []Value
}

// nothing is a Probe of a backend that has no such thing.
type nothing struct{}

func (nothing) Waiting(context.Context) (int, error)                              { return 0, nil }
func (nothing) Expire(context.Context, string, *Holder) (string, error)           { return "", nil }
func (nothing) GiveUp(context.Context, string, *Holder) (did []string, err error) { return nil, nil }
func (nothing) Wake(context.Context) (bool, error)                                { return false, nil }

// A Set is the probes of all backends of an instance. Its methods are theirs.
type Set []Probe

// Of makes the probes that fit what a strategy needs.
func Of(ctx context.Context, in *backend.Instance, info catalog.Info) (Set, error) {
	sql, err := NewSQL(ctx, in, info.Family == "mysqllock")
	if err != nil {
		return nil, err
	}
	sql.stock = info.Stock
	set := Set{sql}
	if in.Redis != nil || len(in.RedisNodes) > 0 {
		set = append(set, newRedis(in))
	}
	if in.ZooKeeper != nil {
		set = append(set, zookeeper{client: in.ZooKeeper})
	}
	if in.Etcd != nil {
		set = append(set, etcd{client: in.Etcd})
	}
	return set, nil
}

func (s Set) Waiting(ctx context.Context) (total int, err error) {
	for _, p := range s {
		n, err := p.Waiting(ctx)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

func (s Set) Expire(ctx context.Context, key string, h *Holder) (did []string, err error) {
	for _, p := range s {
		what, err := p.Expire(ctx, key, h)
		if err != nil {
			return did, fmt.Errorf("end the lease of %s: %w", key, err)
		}
		if what != "" {
			did = append(did, what)
		}
	}
	return did, nil
}

func (s Set) GiveUp(ctx context.Context, key string, h *Holder) (did []string, err error) {
	for _, p := range s {
		more, err := p.GiveUp(ctx, key, h)
		if err != nil {
			return did, fmt.Errorf("end what a dead process has left at %s: %w", key, err)
		}
		did = append(did, more...)
	}
	return did, nil
}

func (s Set) Wake(ctx context.Context) (any bool, err error) {
	for _, p := range s {
		woke, err := p.Wake(ctx)
		if err != nil {
			return any, err
		}
		any = any || woke
	}
	return any, nil
}

// Only has the probes count and wake the clients at these ports and no others:
// the servers are shared.
func (s Set) Only(ports func() []string) {
	for _, p := range s {
		if r, ok := p.(*redisProbe); ok {
			r.mine = ports
		}
	}
}

func (s Set) Look(ctx context.Context, key string, sku int64) (values []Value) {
	for _, p := range s {
		values = append(values, p.Look(ctx, key, sku)...)
	}
	return values
}

// Key names the lock of a SKU.
func Key(i catalog.Info, sku int64) string {
	if i.Key != nil {
		return i.Key(sku)
	}
	return fmt.Sprint("seckill:lock:stock:", sku)
}
