package lab

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"seckill/internal/backend"
)

// A ring is three Redis that know nothing of each other: clients choose a key's
// server.
type shards struct {
	nodes []*Process
}

func (l *Lab) redisRing(ctx context.Context, _ kind, program Program) (*Ensemble, error) {
	nodes, err := l.redisServers(ctx, program, three, Shard, backend.NameRedis)
	s := &shards{nodes}
	e := &Ensemble{Nodes: s.nodes, Roles: []string{Shard}, configure: s.configure, failOver: s.failOver, Shard: s.busiest}
	e.goOn = e.Whole // each has keys that no other has
	return e, err
}

// configure is how clients reach the shards.
func (s *shards) configure(c *backend.Config, _ *Process) {
	c.RedisAddrs, c.RedisSentinels, c.RedisMasterName = nil, nil, ""
	c.RedisRing = nil
	for _, p := range s.nodes {
		c.RedisRing = append(c.RedisRing, p.Name+"="+p.Login())
	}
}

// failOver: a shard that is lost comes back empty, as a supervisor would have it.
func (s *shards) failOver(ctx context.Context) error {
	for _, p := range s.nodes {
		if !p.Alive() {
			if err := p.Restart(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// enoughCommands tell a sale's shard from those that only answer questions about
// their state.
const enoughCommands = 20

// busiest is the shard to which most commands go now.
func (s *shards) busiest(ctx context.Context) (busiest *Process, err error) {
	before, err := s.commands(ctx)
	if err != nil {
		return nil, err
	}
	err = Await(ctx, answerLimit, func(ctx context.Context) error {
		now, err := s.commands(ctx)
		if err != nil {
			return err
		}
		most := 0
		for i, p := range s.nodes {
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
func (s *shards) commands(ctx context.Context) ([]int, error) {
	all := make([]int, len(s.nodes))
	for i, p := range s.nodes {
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
