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
	return &Ensemble{Nodes: nodes, Roles: []string{Shard}, configure: r.configure, Node: r.busiest}, err
}

// configure is how clients reach the shards.
func (r *ring) configure(c *backend.Config, _ *Process) {
	c.RedisAddrs, c.RedisSentinels, c.RedisRing = nil, nil, nil
	for _, p := range r.nodes {
		c.RedisRing = append(c.RedisRing, p.Login())
	}
}

// busiest is the shard to which most commands go now.
func (r *ring) busiest(ctx context.Context, _ string) (busiest *Process, err error) {
	err = Await(ctx, answerLimit, func(ctx context.Context) error {
		most := 20 // fewer only ask for a shard's state
		for _, p := range r.nodes {
			stats, err := askRedis(ctx, p.Login(), "Stats")
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			if n, _ := strconv.Atoi(stats["instantaneous_ops_per_sec"]); n > most {
				most, busiest = n, p
			}
		}
		if busiest == nil {
			return errors.New("no shard is used")
		}
		return nil
	})
	return busiest, err
}
