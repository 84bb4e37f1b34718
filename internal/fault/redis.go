package fault

import (
	"context"
	"fmt"
)

// RestartRedis: the server crashes and comes back without its data.
const RestartRedis Name = "restart_redis"

const redisServer = "redis"

var restartRedis = Fault{Name: RestartRedis, Question: nodeLoss, Everywhere: true, Uses: "Redis",
	Describe: "Redis crashes, and comes back without its data",
	missing:  ofLab(redisServer),
	inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		p, why := e.Server(redisServer)
		if why != nil {
			return nil, fmt.Errorf("%s: %s", RestartRedis, why)
		}
		p.Lock()
		defer p.Unlock()
		seen := everywhere(ctx, e, a)
		if err := e.MarkRedis(ctx); err != nil {
			return nil, fmt.Errorf("leave a mark in Redis: %w", err)
		}
		if err := p.Kill(ctx); err != nil {
			return nil, err
		}
		// It comes back whatever becomes of the caller: there is only one.
		ctx = context.WithoutCancel(ctx)
		if err := p.Restart(ctx); err != nil {
			return nil, err
		}
		kept, err := e.RedisMarked(ctx)
		if err != nil {
			return nil, fmt.Errorf("look for the mark in Redis: %w", err)
		}
		if seen.Took = !kept; kept {
			seen.Why = DataKept
		}
		seen.weigh()
		return &Injection{Effect: seen}, nil
	}}

// everywhere adds up what all processes have under way.
func everywhere(ctx context.Context, e Env, a Aim) Effect {
	return busy(ctx, a, func() Effect { return lookAll(ctx, e, a) })
}

func lookAll(ctx context.Context, e Env, a Aim) Effect {
	var all Effect
	for i, p := range e.Services() {
		if !p.Alive() || p.Paused() {
			continue
		}
		one := look(ctx, p, i+1, a)
		if one.InFlight == nil {
			return Effect{}
		}
		if all.InFlight == nil {
			all.InFlight = new(int64)
		}
		*all.InFlight += *one.InFlight
		all.Left = one.Left
	}
	return all
}

// FullRedis: its memory is used up, and it throws nothing away.
const FullRedis Name = "full_redis"

var fullRedis = Fault{Name: FullRedis, Question: lostReply, Everywhere: true, Lasts: true, Uses: "Redis",
	Describe: "Redis' memory is full: it refuses every write that could need more",
	missing:  ofLab(redisServer),
	inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		seen := everywhere(ctx, e, a)
		if _, err := e.Redis(ctx, "CONFIG", "SET", "maxmemory", "1"); err != nil {
			return nil, fmt.Errorf("fill Redis: %w", err)
		}
		seen.Took = e.MarkRedis(ctx) != nil
		seen.weigh()
		return &Injection{seen, func(ctx context.Context, seen *Effect) error {
			if e.MarkRedis(ctx) == nil {
				seen.Took, seen.Matters, seen.Why = false, false, WentOn
			}
			_, err := e.Redis(ctx, "CONFIG", "SET", "maxmemory", "0")
			return err
		}}, nil
	}}
