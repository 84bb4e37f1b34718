package fault

import (
	"context"
	"fmt"
)

// Faults of one of several Redis among which clients divide the keys. Sales whose
// keys are elsewhere go on.
const (
	// LoseShard: it is killed, and comes back without its data when the fault is over.
	LoseShard Name = "lose_shard"
	// PauseShard: it stands still, and comes back with its data, which is that of
	// before.
	PauseShard Name = "pause_shard"
)

var loseShard = Fault{Name: LoseShard, Question: nodeLoss, Everywhere: true, Lasts: true, Uses: "Redis",
	Describe: "the shard of Redis that has the sale's keys is killed, and comes back without its data",
	missing:  Env.NoShards,
	inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		p, err := e.Shard(ctx, a.Shard)
		if err != nil {
			return nil, err
		}
		seen := everywhere(ctx, e, a)
		p.Lock()
		defer p.Unlock()
		run := p.Run()
		if err := p.Kill(ctx); err != nil {
			return nil, err
		}
		seen.Took = !p.Alive()
		seen.weigh()
		return &Injection{seen, func(ctx context.Context, _ *Effect) error {
			p.Lock()
			defer p.Unlock()
			if p.Run() != run || p.Alive() {
				return nil
			}
			return p.Restart(ctx)
		}}, nil
	}}

var pauseShard = Fault{Name: PauseShard, Question: leaseEnd, Everywhere: true, Lasts: true, Uses: "Redis",
	Describe: "the shard of Redis that has the sale's keys stands still, and goes on with its data",
	missing:  Env.NoShards,
	inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
		p, err := e.Shard(ctx, a.Shard)
		if err != nil {
			return nil, err
		}
		p.Lock()
		defer p.Unlock()
		if p.Paused() {
			return nil, fmt.Errorf("%s is paused already", p.Title())
		}
		return pause(ctx, p, everywhere(ctx, e, a))
	}}
