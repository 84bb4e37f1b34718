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
	Galera    = "galera"   // the database is three MariaDB servers, and each takes writes
)

// A topology has several servers of some backends.
type topology struct {
	name     string
	backends []string
	// shape is what they are called, with their maker and version.
	shape string
	start func(l *Lab, ctx context.Context, k kind, program Program, of string) (*Ensemble, error)
}

// topologies is the one table of them.
func topologies() []topology {
	redis := []string{backend.NameRedis}
	return []topology{
		{name: Single},
		{Cluster, redis, "%s Cluster of 6 (3 masters), %s", (*Lab).redisCluster},
		{Ensembles, []string{backend.NameZooKeeper, backend.NameEtcd}, "%s of 3, %s", (*Lab).elect},
		{Sentinel, redis, "%s with 2 replicas and 3 sentinels, %s", (*Lab).redisSentinels},
		{Ring, redis, "%s %s, 3 shards", (*Lab).redisRing},
		{Galera, []string{backend.NameMySQL}, "%s %s Galera of 3", (*Lab).galera},
	}
}

// Topologies are the names of all of them.
var Topologies = func() (names []string) {
	for _, t := range topologies() {
		names = append(names, t.name)
	}
	return names
}()

// topologyNamed is Single for "".
func topologyNamed(name string) (topology, error) {
	for _, t := range topologies() {
		if t.name == cmp.Or(name, Single) {
			return t, nil
		}
	}
	return topology{}, fmt.Errorf("there is no topology %q: choose from %s", name, strings.Join(Topologies, ", "))
}

// CheckTopology says why a topology cannot be had beside backends that are
// given.
func CheckTopology(name string, given backend.Config) error {
	t, err := topologyNamed(name)
	if err != nil {
		return err
	}
	for _, of := range t.backends {
		k, _ := backend.KindNamed(of)
		if len(k.In(given)) == 0 {
			continue
		}
		err := fmt.Errorf("--topology %s starts several servers of %s, and %s names others: leave out one of them",
			name, k.Title, k.Flags(given))
		if name == Cluster {
			err = fmt.Errorf("%w (several --redis-addrs are used as a Cluster as they are)", err)
		}
		return err
	}
	return nil
}

// Topology is how the lab's servers stand to each other.
func (l *Lab) Topology() string { return l.topology.name }

// IsArranged reports that the lab's topology starts several servers of a
// backend.
func (l *Lab) IsArranged(name string) bool { return slices.Contains(l.topology.backends, name) }

// setTopology rejects combinations that cannot work.
func (l *Lab) setTopology(o Options) (err error) {
	if err := CheckTopology(o.Topology, o.Given); err != nil {
		return err
	}
	l.topology, err = topologyNamed(o.Topology)
	if err == nil && o.Embedded && len(l.topology.backends) > 0 {
		err = fmt.Errorf("topology %s needs real servers: start the lab without --embedded", o.Topology)
	}
	return err
}

// addArranged starts a backend as the topology has it.
func (l *Lab) addArranged(ctx context.Context, k kind, program Program) (backend.Status, error) {
	t := l.topology
	if !program.Found() {
		return backend.Status{}, fmt.Errorf("topology %s needs %s: %s", t.name, k.Title, program.Missing())
	}
	e, err := startEnsemble(ctx, k, program, k.Name, func(ctx context.Context, k kind, program Program, of string) (*Ensemble, error) {
		return t.start(l, ctx, k, program, of)
	})
	if err != nil {
		return backend.Status{}, fmt.Errorf("start %s with topology %s: %w", k.Title, t.name, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(e.Roles) > 0 {
		l.groups[k.Name] = e
	}
	l.config = e.Config(l.config, nil)
	maker, version, _ := strings.Cut(e.Nodes[0].version, " ")
	return backend.Status{Name: k.Name, Tier: backend.Private, OK: true, Address: strings.Join(addrsOf(e.Nodes), ","),
		Version: fmt.Sprintf(t.shape, maker, version)}, nil
}
