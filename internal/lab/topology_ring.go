package lab

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"seckill/internal/backend"
)

// A ring is three Redis that know nothing of each other: clients choose a key's
// server. Its node is the shard to which most commands go now.
type ring struct {
	nodes []*Process
}

func (l *Lab) redisRing(ctx context.Context, _ kind, program Program) (*Ensemble, error) {
	nodes, err := l.redisServers(ctx, program, three, Shard, backend.NameRedis)
	r := &ring{nodes}
	e := &Ensemble{Nodes: nodes, Roles: []string{Shard}, configure: r.configure, Node: r.busiest}
	e.goOn = e.Whole // each has keys that no other has
	return e, err
}

// configure is how clients reach the shards.
func (r *ring) configure(c *backend.Config, _ *Process) {
	c.RedisAddrs, c.RedisSentinels, c.RedisMasterName = nil, nil, ""
	c.RedisRing = nil
	for _, p := range r.nodes {
		c.RedisRing = append(c.RedisRing, p.Name+"="+p.Login())
	}
}

// enoughCommands tell a sale's shard from those that only answer questions about
// their state.
const enoughCommands = 20

// busiest is the shard to which most commands go now.
func (r *ring) busiest(ctx context.Context, _ string) (busiest *Process, err error) {
	before, err := r.commands(ctx)
	if err != nil {
		return nil, err
	}
	err = Await(ctx, answerLimit, func(ctx context.Context) error {
		now, err := r.commands(ctx)
		if err != nil {
			return err
		}
		most := 0
		for i, p := range r.nodes {
			if n := now[i] - before[i]; n > most {
				most, busiest = n, p
			}
		}
		if most < enoughCommands {
			return errors.New("no shard is used")
		}
		return nil
	})
	return busiest, err
}

// commands are how many each shard has run.
func (r *ring) commands(ctx context.Context) ([]int, error) {
	all := make([]int, len(r.nodes))
	for i, p := range r.nodes {
		stats, err := askRedis(ctx, p.Login(), "Stats")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		if all[i], err = strconv.Atoi(stats["total_commands_processed"]); err != nil {
			return nil, fmt.Errorf("%s: INFO says %q commands", p.Name, stats["total_commands_processed"])
		}
	}
	return all, nil
}
