package fault

import (
	"context"
	"errors"
	"fmt"
)

// FailoverRedis: replication stands still while the primary goes on to
// acknowledge writes. Then the primary is killed, and sentinels promote a replica
// that does not have them. The old primary comes back as a replica.
const FailoverRedis Name = "failover_redis"

var failoverRedis = Fault{Name: FailoverRedis, Question: nodeLoss, Everywhere: true, Lasts: true, Uses: "Redis",
	Describe: "replication to Redis' replicas stops, then the primary dies and one of them takes over without the last writes",
	missing: func(e Env) *Lack {
		_, why := e.Group(redisServer)
		return why
	},
	inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		g, why := e.Group(redisServer)
		if why != nil {
			return nil, fmt.Errorf("%s: %s", FailoverRedis, why)
		}
		primary, err := g.Leader(ctx)
		if err != nil {
			return nil, err
		}
		seen := everywhere(ctx, e, a)
		if err := g.Lag(ctx); err != nil {
			return nil, errors.Join(err, g.Heal(context.WithoutCancel(ctx)))
		}
		if err := e.MarkRedis(ctx); err != nil { // it is acknowledged, and not replicated
			return nil, errors.Join(fmt.Errorf("leave a mark in Redis: %w", err), g.Heal(context.WithoutCancel(ctx)))
		}
		seen.Took = true
		seen.weigh()
		return &Injection{seen, func(ctx context.Context, seen *Effect) error {
			return failOver(ctx, e, g, primary, seen)
		}}, nil
	}}

// failOver loses the primary, and looks whether the mark was lost with it.
func failOver(ctx context.Context, e Env, g Group, primary Process, seen *Effect) error {
	primary.Lock()
	err := g.Lose(ctx, primary)
	primary.Unlock()
	if err != nil {
		return errors.Join(fmt.Errorf("have a replica take over: %w", err), g.Heal(ctx))
	}
	kept, err := e.RedisMarked(ctx)
	if err == nil && kept {
		seen.Took, seen.Matters, seen.Why = false, false, DataKept
	}
	return errors.Join(err, g.Heal(ctx))
}
