package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// Topologies of a lab: how the servers of a backend are arranged.
const (
	Single    = "single"   // one server each
	Cluster   = "cluster"  // Redis is a Cluster of six: three masters, three replicas
	Ensembles = "ensemble" // ZooKeeper and etcd are three servers each, which vote
	Sentinel  = "sentinel" // Redis is a primary with two replicas, and three sentinels watch them
	Ring      = "ring"     // Redis is three independent servers, and clients hash keys to them
	// RingRehash is Ring with clients that send the keys of a lost shard elsewhere.
	RingRehash = "ring-rehash"
	Galera     = "galera" // the database is three MariaDB servers, and each takes writes
)

// Topologies are all of them.
var Topologies = []string{Single, Cluster, Ensembles, Sentinel, Ring, RingRehash, Galera}

// arranged are the backends of which a topology starts several servers.
var arranged = map[string][]string{
	Cluster:   {backend.NameRedis},
	Ensembles: {backend.NameZooKeeper, backend.NameEtcd},
	Sentinel:  {backend.NameRedis},
	Ring:      {backend.NameRedis}, RingRehash: {backend.NameRedis},
	Galera: {backend.NameMySQL},
}

// CheckTopology says why a topology cannot be had beside backends that are
// given.
func CheckTopology(topology string, given backend.Config) error {
	if topology != "" && !slices.Contains(Topologies, topology) {
		return fmt.Errorf("there is no topology %q: choose from %s", topology, strings.Join(Topologies, ", "))
	}
	for _, name := range arranged[topology] {
		k, _ := backend.KindNamed(name)
		if len(k.In(given)) == 0 {
			continue
		}
		err := fmt.Errorf("--topology %s starts several servers of %s, and %s names others: leave out one of them",
			topology, k.Title, k.Flags(given))
		if topology == Cluster {
			err = fmt.Errorf("%w (several --redis-addrs are used as a Cluster as they are)", err)
		}
		return err
	}
	return nil
}

// Topology is how the lab's servers stand to each other.
func (l *Lab) Topology() string { return cmp.Or(l.options.Topology, Single) }

// checkTopology rejects combinations that cannot work.
func (o Options) checkTopology() error {
	if err := CheckTopology(o.Topology, o.Given); err != nil {
		return err
	}
	if o.Embedded && len(arranged[o.Topology]) > 0 {
		return fmt.Errorf("topology %s needs real servers: start the lab without --embedded", o.Topology)
	}
	return nil
}

// isArranged: the lab's topology starts several servers of this backend.
func (l *Lab) isArranged(name string) bool {
	return slices.Contains(arranged[l.options.Topology], name)
}

// addArranged starts a backend as the topology has it.
func (l *Lab) addArranged(ctx context.Context, k kind, program Program) (backend.Status, error) {
	if !program.Found() {
		return backend.Status{}, fmt.Errorf("topology %s needs %s: %s", l.options.Topology, k.Title, program.Missing())
	}
	if err := l.hasRoom(three * k.megabytes); err != nil {
		return backend.Status{}, err
	}
	switch l.options.Topology {
	case Cluster:
		return l.addRedisCluster(ctx, program)
	case Sentinel:
		return l.addSentinel(ctx, program)
	case Ring, RingRehash:
		return l.addRing(ctx, program)
	case Galera:
		return l.addGalera(ctx, program)
	}
	return l.addVoters(ctx, k, program)
}

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

// addRedisCluster starts six servers and makes a Cluster of them.
func (l *Lab) addRedisCluster(ctx context.Context, program Program) (backend.Status, error) {
	nodes, err := l.launchAll(ctx, clusterNodes, 2, func(ports [][]int) []server {
		all := make([]server, clusterNodes)
		for i := range all {
			name := member(backend.NameRedis, i)
			all[i] = l.redisServer(program, name, backend.NameRedis, "--cluster-enabled", "yes",
				"--cluster-config-file", name+".nodes", "--cluster-port", fmt.Sprint(ports[i][1]),
				"--cluster-node-timeout", formingTimeout, "--repl-diskless-sync-delay", "0")
			all[i].ports = 2
		}
		return all
	})
	if err != nil {
		return backend.Status{}, fmt.Errorf("start a Redis Cluster (Redis 7 or later is needed): %w", err)
	}
	if err := formCluster(ctx, nodes, l.passwords.redis); err != nil {
		return backend.Status{}, fmt.Errorf("form a Redis Cluster: %w", err)
	}
	addrs := make([]string, len(nodes))
	for i, p := range nodes {
		addrs[i] = p.Addr
	}
	maker, version, _ := strings.Cut(nodes[0].version, " ")
	status := backend.Status{Name: backend.NameRedis, Tier: backend.Private, OK: true, Address: strings.Join(addrs, ","),
		Version: fmt.Sprintf("%s Cluster of %d (%d masters), %s", maker, clusterNodes, clusterMasters, version)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setPrivate(&l.config, backend.NameRedis, addrs...)
	return status, nil
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
		if err := await(ctx, forming, func(ctx context.Context) error { return r.ClusterReplicate(ctx, id).Err() }); err != nil {
			return err
		}
	}
	if err := eachNode(ctx, clients, "cluster_state", "ok"); err != nil {
		return err
	}
	for i, c := range clients {
		err := await(ctx, forming, func(ctx context.Context) error {
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
		err := await(ctx, forming, func(ctx context.Context) error {
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
