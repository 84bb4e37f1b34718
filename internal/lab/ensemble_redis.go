package lab

import (
	"context"
	"errors"
	"fmt"
	"net"

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

func (l *Lab) redisPair(ctx context.Context, program Program) (_ *Ensemble, err error) {
	pair := &redisPair{}
	defer func() {
		if err != nil {
			pair.close()
		}
	}()
	for _, r := range []**relay{&pair.door, &pair.link} {
		free, err := l.ports.free(1)
		if err != nil {
			return nil, err
		}
		if *r, err = listenRelay(free[0]); err != nil {
			return nil, err
		}
	}
	// By default a primary waits five seconds for more replicas.
	soon := []string{"--repl-diskless-sync", "no", "--repl-diskless-sync-delay", "0"}
	nodes, err := l.launchAll(ctx, 2, 1, func([][]int) []server {
		of := ensembleOf(backend.NameRedis)
		return []server{l.redisServer(program, "redis-primary", of, soon...), l.redisServer(program, "redis-replica", of, soon...)}
	})
	if err != nil {
		return nil, err
	}
	pair.primary, pair.replica = nodes[0], nodes[1]
	l.mu.Lock()
	l.closers = append(l.closers, pair.close)
	l.mu.Unlock()
	return &Ensemble{Nodes: nodes, Roles: []string{Primary}, kind: pair}, nil
}

func (r *redisPair) close() error {
	return errors.Join(r.door.Close(), r.link.Close())
}

func (r *redisPair) node(context.Context, string) (*Process, error) { return r.primary, nil }

func (r *redisPair) goOn() bool { return r.primary.Alive() || r.replica.Alive() }

// heal restores the roles. A primary that was restarted is empty, and its replica
// becomes empty, too.
func (r *redisPair) heal(ctx context.Context) error {
	r.link.Point(r.primary.Addr)
	host, port, _ := net.SplitHostPort(r.link.Addr())
	if err := makeReplica(ctx, r.replica.Login(), host, port); err != nil {
		return err
	}
	r.door.Point(r.primary.Addr)
	return r.caughtUp(ctx)
}

// caughtUp waits until the replica has everything the primary has.
func (r *redisPair) caughtUp(ctx context.Context) error {
	return await(ctx, answerLimit, func(ctx context.Context) error {
		of, err := askRedis(ctx, r.primary.Login(), "Replication")
		if err != nil {
			return err
		}
		by, err := askRedis(ctx, r.replica.Login(), "Replication")
		switch {
		case err != nil:
			return err
		case by["master_link_status"] != "up" || by["slave_repl_offset"] != of["master_repl_offset"]:
			return fmt.Errorf("the replica is %s and at %s, the primary at %s",
				by["master_link_status"], by["slave_repl_offset"], of["master_repl_offset"])
		}
		return nil
	})
}

func (r *redisPair) lag(ctx context.Context) error {
	if err := r.caughtUp(ctx); err != nil {
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
