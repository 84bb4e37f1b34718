package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	clusterMasters = 3
	clusterNodes   = 2 * clusterMasters
	clusterSlots   = 16384

	// A Cluster forms quickly if its nodes ping each other often. Later a node
	// under load must not be mistaken for a dead one.
	formingTimeout = "1000"
	runningTimeout = "5000"
	forming        = 30 * time.Second
)

// redisCluster starts six servers and makes a Cluster of them. It has no roles: none
// of them is lost.
func (l *Lab) redisCluster(ctx context.Context, _ kind, program Program, of string) (*Ensemble, error) {
	nodes, err := l.launch(ctx, clusterNodes, 2, func(i int, ports [][]int) server {
		name := member(of, i, clusterNodes)
		return l.redisServer(program, name, of, "--cluster-enabled", "yes",
			"--cluster-config-file", name+".nodes", "--cluster-port", fmt.Sprint(ports[i][1]),
			"--cluster-node-timeout", formingTimeout, "--repl-diskless-sync-delay", "0")
	})
	if err != nil {
		return nil, fmt.Errorf("a Cluster needs Redis 7 or later: %w", err)
	}
	if err := formCluster(ctx, nodes, l.passwords.redis); err != nil {
		return nil, fmt.Errorf("form a Cluster: %w", err)
	}
	return &Ensemble{Nodes: nodes}, nil
}

// formCluster gives each master its slots and a replica, and returns when every
// node reports that the Cluster is complete.
func formCluster(ctx context.Context, nodes []*Process, password string) error {
	clients := make([]*redis.Client, len(nodes))
	for i, p := range nodes {
		clients[i] = redis.NewClient(&redis.Options{Addr: p.Addr, Password: password, DisableIdentity: true})
		defer clients[i].Close()
	}
	masters := clients[:clusterMasters]
	for i, m := range masters {
		from, to := i*clusterSlots/clusterMasters, (i+1)*clusterSlots/clusterMasters-1
		if err := errors.Join(m.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(),
			m.ClusterAddSlotsRange(ctx, from, to).Err()); err != nil {
			return err
		}
	}
	for _, p := range nodes[1:] {
		if err := clients[0].Do(ctx, "CLUSTER", "MEET", "127.0.0.1", p.ports[0], p.ports[1]).Err(); err != nil {
			return err
		}
	}
	if err := eachNode(ctx, clients, "cluster_known_nodes", fmt.Sprint(clusterNodes)); err != nil {
		return err
	}
	for i, r := range clients[clusterMasters:] {
		id, err := masters[i].Do(ctx, "CLUSTER", "MYID").Text()
		if err != nil {
			return err
		}
		// Refused until the node knows its master.
		if err := Await(ctx, forming, func(ctx context.Context) error { return r.ClusterReplicate(ctx, id).Err() }); err != nil {
			return err
		}
	}
	if err := eachNode(ctx, clients, "cluster_state", "ok"); err != nil {
		return err
	}
	for i, c := range clients {
		err := Await(ctx, forming, func(ctx context.Context) error {
			return settled(ctx, c, i < clusterMasters)
		})
		if err == nil {
			err = c.ConfigSet(ctx, "cluster-node-timeout", runningTimeout).Err()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", nodes[i].Name, err)
		}
	}
	return nil
}

// eachNode waits until a field of CLUSTER INFO has the value on every node.
func eachNode(ctx context.Context, nodes []*redis.Client, field, want string) error {
	for _, c := range nodes {
		err := Await(ctx, forming, func(ctx context.Context) error {
			info, err := c.ClusterInfo(ctx).Result()
			if err == nil && !strings.Contains(info, field+":"+want+"\r\n") {
				err = fmt.Errorf("%s is not %s yet: %s", field, want, strings.ReplaceAll(info, "\r\n", " "))
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%s: %w", c.Options().Addr, err)
		}
	}
	return nil
}

// settled checks that a node knows all others, and a replica its master's data.
func settled(ctx context.Context, c *redis.Client, master bool) error {
	shards, err := c.ClusterShards(ctx).Result()
	if err != nil {
		return err
	}
	parts := 0
	for _, s := range shards {
		parts += len(s.Nodes)
	}
	if parts != clusterNodes {
		return fmt.Errorf("it knows %d nodes, not all %d", parts, clusterNodes)
	}
	if master {
		return nil
	}
	info, err := c.Info(ctx, "replication").Result()
	if err == nil && !strings.Contains(info, "master_link_status:up") {
		err = errors.New("it does not follow its master yet")
	}
	return err
}
