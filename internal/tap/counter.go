package tap

import (
	"context"
	"sync/atomic"
)

// A Counter is a Tap that counts commands by backend; waits are counted too,
// under Waiting. The zero value is ready, one Counter may serve any number of
// purchases at once.
type Counter struct {
	sql, redis, zookeeper, etcd, waiting, other atomic.Uint64
}

func (n *Counter) Before(context.Context, *Command) error { return nil }

func (n *Counter) After(_ context.Context, c *Command, err error) error {
	n.of(c.Backend).Add(1)
	return err
}

// Count is the number of commands sent to backend so far.
func (n *Counter) Count(backend string) uint64 { return n.of(backend).Load() }

// Sent counts a command that nothing looked at; n may be nil.
func (n *Counter) Sent(backend string) {
	if n != nil {
		n.of(backend).Add(1)
	}
}

func (n *Counter) of(backend string) *atomic.Uint64 {
	switch backend {
	case SQL:
		return &n.sql
	case Redis:
		return &n.redis
	case ZooKeeper:
		return &n.zookeeper
	case Etcd:
		return &n.etcd
	case Waiting:
		return &n.waiting
	}
	return &n.other
}
