package lab

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// redisRing starts three independent servers. Clients choose a key's server by a hash of the key.
func (l *Lab) redisRing(ctx context.Context, _ kind, program Program) (*Ensemble, error) {
	nodes, err := l.redisServers(ctx, program, groupSize, Shard, backend.NameRedis)
	return &Ensemble{Nodes: nodes, Roles: []string{Shard},
		setClients: func(c *backend.Config, _ *Process) {
			l.setPrivate(c, backend.NameRedis, addresses(nodes)...)
			c.RedisAddrs, c.RedisRing = nil, c.RedisAddrs
		},
		repair:   func(context.Context) error { return nil }, // the default repair would wait until a shard is busy
		FindNode: func(ctx context.Context, _ string) (*Process, error) { return busiestShard(ctx, nodes) }}, err
}

// busiestShard returns the shard that executes the most commands now.
func busiestShard(ctx context.Context, shards []*Process) (busiest *Process, err error) {
	err = Await(ctx, answerTimeout, func(ctx context.Context) error {
		maxRate := 20 // commands per second; a shard that only answers health checks executes fewer
		for _, p := range shards {
			stats, err := redisInfo(ctx, p.Login(), "Stats")
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

const (
	clusterNodes = 6 // three masters with a replica each

	// Node timeouts in milliseconds. While a Cluster forms, a short timeout makes its nodes ping each other
	// often, which is faster. Later a long timeout keeps a busy node from counting as dead.
	formingTimeout = "1000"
	runningTimeout = "5000"

	formTimeout = 30 * time.Second
)

// redisCluster starts six servers and makes a Cluster of them. The ensemble has no Roles, so experiments kill none of
// its nodes.
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
	cli.Env = append(l.serverEnv(), "REDISCLI_AUTH="+l.password)
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

// clusterIsReady checks the node of a Cluster to which c connects. It returns an error if this node does not know all
// other nodes, or if it is a replica that does not follow its master yet. Otherwise it sets the node's runningTimeout.
func clusterIsReady(ctx context.Context, c *redis.Client) error {
	state, err := c.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	info, err := c.Info(ctx, "replication").Result()
	switch {
	case err != nil:
		return err
	case !strings.Contains(state, fmt.Sprintf("cluster_known_nodes:%d\r", clusterNodes)):
		return fmt.Errorf("it does not know all %d nodes: %s", clusterNodes, state)
	case !strings.Contains(state, "cluster_state:ok"):
		return fmt.Errorf("it finds the Cluster down: %s", state)
	case strings.Contains(info, "master_link_status:down"):
		return fmt.Errorf("it does not follow its master yet: %s", info)
	}
	return c.ConfigSet(ctx, "cluster-node-timeout", runningTimeout).Err()
}

// sentinels are a Redis primary with two replicas, and three Sentinel servers that watch them. The primary
// acknowledges a write before a replica has it. The sentinels promote a replica even if it lacks such writes.
type sentinels struct {
	replicated
	sentinels []*Process
}

func (l *Lab) redisSentinels(ctx context.Context, k kind, program Program) (_ *Ensemble, err error) {
	s := &sentinels{}
	s.replicated, err = l.launchServers(ctx, groupSize, 1, func(i int, _ [][]int) server {
		return l.redisServer(program, memberName(k.Name, i, groupSize), k.Name, fastReplication...)
	})
	if err != nil {
		return nil, err
	}
	if err := s.followPrimary(ctx, s.replicated[0]); err != nil {
		return nil, err
	}
	s.sentinels, err = l.launchServers(ctx, groupSize, 1, func(i int, _ [][]int) server {
		return l.sentinelServer(program, memberName("sentinel", i, groupSize), s.replicated[0].ports[0])
	})
	return &Ensemble{Nodes: s.replicated, Roles: []string{Primary}, setClients: s.setClients,
		FindNode: func(ctx context.Context, _ string) (*Process, error) { return s.awaitPrimary(ctx) },
		repair:   s.restoreRoles, StopReplication: s.stopReplication, failOver: s.failOver}, err
}

func (s *sentinels) setClients(c *backend.Config, _ *Process) {
	s.sentinels[0].lab.setPrivate(c, backend.NameRedis, addresses(s.sentinels)...)
	c.RedisAddrs, c.RedisSentinels = nil, c.RedisAddrs
}

// awaitPrimary waits until all running sentinels name the same running primary. After a failover some sentinels
// still name the old primary for a while.
func (s *sentinels) awaitPrimary(ctx context.Context) (primary *Process, err error) {
	err = Await(ctx, electionTimeout, func(ctx context.Context) error {
		answers, err := askSentinels(ctx, s.sentinels)
		if err != nil {
			return err
		}
		for _, p := range s.replicated {
			namesOther := func(m map[string]string) bool { return m["port"] != strconv.Itoa(p.ports[0]) }
			if p.Alive() && !slices.ContainsFunc(answers, namesOther) {
				primary = p
				return nil
			}
		}
		return fmt.Errorf("the sentinels do not name the same running primary: %v", answers)
	})
	return primary, err
}

// awaitReady waits until each running sentinel knows the other two sentinels and both replicas, and has finished its
// last failover. Until then, the sentinel takes part in no other failover.
func (s *sentinels) awaitReady(ctx context.Context) error {
	return Await(ctx, formTimeout, func(ctx context.Context) error {
		answers, err := askSentinels(ctx, s.sentinels)
		for _, m := range answers {
			if m["num-slaves"] != "2" || m["num-other-sentinels"] != "2" || m["flags"] != "master" {
				return fmt.Errorf("a sentinel knows %s replicas and %s other sentinels; the primary is %s",
					m["num-slaves"], m["num-other-sentinels"], m["flags"])
			}
		}
		return err
	})
}

func (s *sentinels) stopReplication(ctx context.Context) error {
	primary, err := s.awaitPrimary(ctx)
	if err != nil {
		return err
	}
	return s.replicated.disconnectReplicas(ctx, primary)
}

// failOver waits until the sentinels have promoted a replica. Writes that the replica lacks are lost.
func (s *sentinels) failOver(ctx context.Context) error {
	if err := s.setPrimaryPassword(ctx, s.replicated[0].lab.password); err != nil { // undo stopReplication
		return err
	}
	_, err := s.awaitPrimary(ctx)
	return err
}

// restoreRoles makes all other servers follow the primary again. stopReplication may have disconnected the replicas. An
// old primary that was restarted is empty, but still acts as a primary.
func (s *sentinels) restoreRoles(ctx context.Context) error {
	primary, err := s.awaitPrimary(ctx)
	if err == nil {
		err = s.followPrimary(ctx, primary)
	}
	if err != nil {
		return err
	}
	return s.awaitReady(ctx)
}

// A redisPair is a primary and a replica. Clients connect to a relay, which forwards to the current
// primary as a virtual IP address does.
type redisPair struct {
	replicated
	relay *Relay
}

func (l *Lab) redisPair(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	relay, err := l.linkOf(linkKey{server: k.Name})
	if err != nil {
		return nil, err
	}
	names := []string{"redis-primary", "redis-replica"}
	nodes, err := l.launchServers(ctx, len(names), 1, func(i int, _ [][]int) server {
		return l.redisServer(program, names[i], k.Name, fastReplication...)
	})
	r := &redisPair{nodes, relay}
	return &Ensemble{Nodes: nodes, Roles: []string{Primary}, repair: r.restoreRoles, failOver: r.failOver,
		StopReplication: r.stopReplication,
		FindNode:        func(context.Context, string) (*Process, error) { return nodes[0], nil },
		setClients:      func(c *backend.Config, _ *Process) { l.setPrivate(c, k.Name, r.relay.Addr()) }}, err
}

// restoreRoles makes the first node the primary again. This node is empty after its restart, so the
// replica that copies it becomes empty, too.
func (r *redisPair) restoreRoles(ctx context.Context) error {
	r.relay.PointTo(r.replicated[0].Addr)
	r.relay.CloseConnections()
	return r.followPrimary(ctx, r.replicated[0])
}

// stopReplication disconnects the replica after the replica has received all writes so far.
func (r *redisPair) stopReplication(ctx context.Context) error {
	if err := r.awaitReplicas(ctx, r.replicated[0]); err != nil {
		return err
	}
	return r.replicated.disconnectReplicas(ctx, r.replicated[0])
}

// failOver promotes the replica as a Sentinel does. Writes that the replica lacks are lost.
func (r *redisPair) failOver(ctx context.Context) error {
	// Redis does not replicate scripts, so a new primary knows none. But this replica may have been the primary earlier
	// and may know scripts from that time, so failOver deletes them.
	err := withRedis(ctx, r.replicated[1].Login(), func(c *redis.Client) error {
		return errors.Join(c.ReplicaOf(ctx, "NO", "ONE").Err(), c.ScriptFlush(ctx).Err())
	})
	if err != nil {
		return err
	}
	r.relay.PointTo(r.replicated[1].Addr)
	return nil
}
