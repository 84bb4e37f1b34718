package lab

import (
	"context"

	"seckill/internal/backend"
)

// A redisPair is a primary and a replica. Clients connect to the door, which
// leads to the current primary as a virtual address would. The replica follows
// through link, where replication can be held back: Redis acknowledges a write
// before its replica has it.
type redisPair struct {
	primary, replica *Process
	door, link       *relay
}

func (l *Lab) redisPair(ctx context.Context, program Program, of string) (*Ensemble, error) {
	relays, err := l.doors(2)
	if err != nil {
		return nil, err
	}
	names := []string{"redis-primary", "redis-replica"}
	nodes, err := l.launch(ctx, len(names), 1, func(i int, _ [][]int) server {
		// By default a primary waits five seconds for more replicas.
		return l.redisServer(program, names[i], of, "--repl-diskless-sync", "no", "--repl-diskless-sync-delay", "0")
	})
	if err != nil {
		return nil, err
	}
	pair := &redisPair{nodes[0], nodes[1], relays[0], relays[1]}
	return &Ensemble{Nodes: nodes, Roles: []string{Primary}, heal: pair.heal, lag: pair.lag, failOver: pair.failOver,
		node:      func(context.Context, string) (*Process, error) { return pair.primary, nil },
		configure: func(c *backend.Config, _ *Process) { l.setPrivate(c, backend.NameRedis, pair.door.Addr()) }}, nil
}

// redisFive are five in addition to the lab's own, which may be in use.
func (l *Lab) redisFive(ctx context.Context, program Program, of string) (*Ensemble, error) {
	nodes, err := l.launch(ctx, 5, 1, func(i int, _ [][]int) server {
		return l.redisServer(program, member("quorum", i), of)
	})
	return &Ensemble{Nodes: nodes, Roles: []string{AnyOne}}, err
}

// heal restores the roles. A primary that was restarted is empty, and its replica
// becomes empty, too.
func (r *redisPair) heal(ctx context.Context) error {
	r.link.Point(r.primary.Addr)
	r.door.Point(r.primary.Addr)
	return follow(ctx, r.primary, port(r.link.Addr()), r.replica)
}

func (r *redisPair) lag(ctx context.Context) error {
	if err := caughtUp(ctx, r.primary, port(r.link.Addr()), r.replica); err != nil {
		return err
	}
	r.link.Hold(replies)
	return nil
}

// failOver does what a Sentinel does. What was held back is lost.
func (r *redisPair) failOver(ctx context.Context) error {
	r.link.Cut()
	if err := makeReplica(ctx, r.replica.Login(), "NO", "ONE"); err != nil {
		return err
	}
	r.door.Point(r.replica.Addr)
	return nil
}
