package lab

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	clusterMasters = 3
	clusterNodes   = 2 * clusterMasters

	// Node timeouts in milliseconds. A Cluster forms faster if its nodes ping each other often. Later the timeout
	// is longer, so that a busy node does not count as dead.
	formingTimeout = "1000"
	runningTimeout = "5000"

	formTimeout = 30 * time.Second
)

// redisCluster starts six servers and makes a Cluster of them. It has no roles, because no node can be lost.
func (l *Lab) redisCluster(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	nodes, err := l.launchServers(ctx, clusterNodes, 2, func(i int, ports [][]int) server {
		name := memberName(k.Name, i, clusterNodes)
		return l.redisServer(program, name, k.Name, "--cluster-enabled", "yes",
			"--cluster-config-file", name+".nodes", "--cluster-port", fmt.Sprint(ports[i][1]),
			"--cluster-node-timeout", formingTimeout, "--repl-diskless-sync-delay", "0")
	})
	if err != nil {
		return nil, fmt.Errorf("a Cluster needs Redis 7 or later: %w", err)
	}
	name := strings.Replace(filepath.Base(program.Path), "-server", "-cli", 1)
	args := append([]string{"--cluster", "create"}, addresses(nodes)...)
	cli := exec.CommandContext(ctx, filepath.Join(filepath.Dir(program.Path), name),
		append(args, "--cluster-replicas", "1", "--cluster-yes")...)
	cli.Env = append(l.serverEnv(), "REDISCLI_AUTH="+l.passwords.redis)
	if said, err := cli.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("form a Cluster with %s: %w: %s", name, err, said)
	}
	for _, p := range nodes {
		settled := func(ctx context.Context) error {
			return withRedis(ctx, p.Login(), func(c *redis.Client) error { return clusterIsReady(ctx, c) })
		}
		if err := Await(ctx, formTimeout, settled); err != nil {
			return nil, fmt.Errorf("form a Cluster: %s: %w", p.Name, err)
		}
	}
	return &Ensemble{Nodes: nodes}, nil
}

// clusterIsReady returns an error until a node knows all other nodes and, as a replica, follows its master. Then
// it sets runningTimeout.
func clusterIsReady(ctx context.Context, c *redis.Client) error {
	shards, err := c.ClusterShards(ctx).Result()
	if err != nil {
		return err
	}
	parts := 0
	for _, s := range shards {
		parts += len(s.Nodes)
	}
	state, err := c.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	info, err := c.Info(ctx, "replication").Result()
	switch {
	case err != nil:
		return err
	case parts != clusterNodes:
		return fmt.Errorf("it knows %d nodes, not all %d", parts, clusterNodes)
	case !strings.Contains(state, "cluster_state:ok"):
		return fmt.Errorf("it finds the Cluster down: %s", state)
	case strings.Contains(info, "master_link_status:down"):
		return fmt.Errorf("it does not follow its master yet: %s", info)
	}
	return c.ConfigSet(ctx, "cluster-node-timeout", runningTimeout).Err()
}
