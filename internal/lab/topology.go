package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

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

// arranged are the backends of which a topology starts several servers, and what
// they are called, with their maker and version.
var arranged = map[string]struct {
	backends []string
	shape    string
}{
	Cluster:    {[]string{backend.NameRedis}, "%s Cluster of 6 (3 masters), %s"},
	Ensembles:  {[]string{backend.NameZooKeeper, backend.NameEtcd}, "%s of 3, %s"},
	Sentinel:   {[]string{backend.NameRedis}, "%s with 2 replicas and 3 sentinels, %s"},
	Ring:       {[]string{backend.NameRedis}, "%s %s, 3 shards"},
	RingRehash: {[]string{backend.NameRedis}, "%s %s, 3 shards"},
	Galera:     {[]string{backend.NameMySQL}, "%s %s Galera of 3"},
}

// CheckTopology says why a topology cannot be had beside backends that are
// given.
func CheckTopology(topology string, given backend.Config) error {
	if topology != "" && !slices.Contains(Topologies, topology) {
		return fmt.Errorf("there is no topology %q: choose from %s", topology, strings.Join(Topologies, ", "))
	}
	for _, name := range arranged[topology].backends {
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
	if o.Embedded && len(arranged[o.Topology].backends) > 0 {
		return fmt.Errorf("topology %s needs real servers: start the lab without --embedded", o.Topology)
	}
	return nil
}

// IsArranged reports that the lab's topology starts several servers of a
// backend.
func (l *Lab) IsArranged(name string) bool {
	return slices.Contains(arranged[l.options.Topology].backends, name)
}

// addArranged starts a backend as the topology has it.
func (l *Lab) addArranged(ctx context.Context, k kind, program Program) (backend.Status, error) {
	if !program.Found() {
		return backend.Status{}, fmt.Errorf("topology %s needs %s: %s", l.options.Topology, k.Title, program.Missing())
	}
	if err := l.hasRoom(three * k.megabytes); err != nil {
		return backend.Status{}, err
	}
	e, err := l.arrange(ctx, k, program)
	if err != nil {
		return backend.Status{}, fmt.Errorf("start %s with topology %s: %w", k.Title, l.options.Topology, err)
	}
	e.named(k.Name)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(e.Roles) > 0 {
		l.groups[k.Name] = e
	}
	l.config = e.Config(l.config, nil)
	maker, version, _ := strings.Cut(e.Nodes[0].version, " ")
	return backend.Status{Name: k.Name, Tier: backend.Private, OK: true, Address: strings.Join(e.addrs(), ","),
		Version: fmt.Sprintf(arranged[l.options.Topology].shape, maker, version)}, nil
}

func (l *Lab) arrange(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	switch l.options.Topology {
	case Cluster:
		return l.redisCluster(ctx, program)
	case Sentinel:
		return l.redisSentinels(ctx, program)
	case Ring, RingRehash:
		return l.redisRing(ctx, program)
	case Galera:
		return l.galera(ctx, program)
	}
	e, err := k.ensemble(ctx, program, k.Name)
	if err == nil {
		_, err = e.Node(ctx, Leader)
	}
	return e, err
}
