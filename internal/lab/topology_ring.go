package lab

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"seckill/internal/backend"
)

// A ring is three Redis servers that do not know each other. Clients choose the server of a key.
type ring struct {
	nodes []*Process
}

func (l *Lab) redisRing(ctx context.Context, _ kind, program Program) (*Ensemble, error) {
	nodes, err := l.redisServers(ctx, program, groupSize, Shard, backend.NameRedis)
	r := &ring{nodes}
	return &Ensemble{Nodes: nodes, Roles: []string{Shard}, setClients: r.setClients, FindNode: r.busiestShard}, err
}

// setClients gives clients the addresses of the shards.
func (r *ring) setClients(c *backend.Config, _ *Process) {
	c.RedisAddrs, c.RedisSentinels, c.RedisRing = nil, nil, nil
	for _, p := range r.nodes {
		c.RedisRing = append(c.RedisRing, p.Login())
	}
}

// busiestShard returns the shard that executes the most commands now.
func (r *ring) busiestShard(ctx context.Context, _ string) (busiest *Process, err error) {
	err = Await(ctx, answerTimeout, func(ctx context.Context) error {
		maxRate := 20 // commands per second; health checks alone stay below
		for _, p := range r.nodes {
			stats, err := askRedis(ctx, p.Login(), "Stats")
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			if n, _ := strconv.Atoi(stats["instantaneous_ops_per_sec"]); n > maxRate {
				maxRate, busiest = n, p
			}
		}
		if busiest == nil {
			return errors.New("no shard is used")
		}
		return nil
	})
	return busiest, err
}
