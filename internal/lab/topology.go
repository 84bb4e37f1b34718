package lab

import (
	"cmp"
	"context"
	"fmt"
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
	// Losable is for proofs: of each backend but the database, one server can be lost.
	Losable = "losable"
)

// A topology has several servers of some backends.
type topology struct {
	name  string
	start map[string]startFunc // of these backends; the others are as kinds have them
}

// A startFunc starts the servers of a backend.
type startFunc func(l *Lab, ctx context.Context, k kind, program Program) (*Ensemble, error)

// topologies is the one table of them.
func topologies() []topology {
	redis := func(start startFunc) map[string]startFunc { return map[string]startFunc{backend.NameRedis: start} }
	return []topology{
		{name: Single},
		{Cluster, redis((*Lab).redisCluster)},
		{Ensembles, map[string]startFunc{backend.NameZooKeeper: (*Lab).startVoters, backend.NameEtcd: (*Lab).startVoters}},
		{Sentinel, redis((*Lab).redisSentinels)},
		{Ring, redis((*Lab).redisRing)},
		{Galera, map[string]startFunc{backend.NameMySQL: (*Lab).startGalera}},
		{Losable, map[string]startFunc{backend.NameRedis: (*Lab).redisPair, backend.NameRedlock: (*Lab).startAlike,
			backend.NameZooKeeper: (*Lab).startVoters, backend.NameEtcd: (*Lab).startVoters}},
	}
}

// topologyNamed is Single for "".
func topologyNamed(name string) (topology, error) {
	var names []string
	for _, t := range topologies() {
		if t.name == cmp.Or(name, Single) {
			return t, nil
		}
		if t.name != Losable {
			names = append(names, t.name)
		}
	}
	return topology{}, fmt.Errorf("there is no topology %q: choose from %s", name, strings.Join(names, ", "))
}

// CheckTopology says why a topology cannot be had beside backends that are
// given.
func CheckTopology(name string, given backend.Config) error {
	t, err := topologyNamed(name)
	if err != nil {
		return err
	}
	for _, k := range backend.Kinds {
		if t.start[k.Name] == nil || len(k.In(given)) == 0 {
			continue
		}
		return fmt.Errorf("--topology %s starts several servers of %s, and %s names others: leave out one of them",
			name, k.Title, k.Flags(given))
	}
	return nil
}

// Topology is how the lab's servers stand to each other.
func (l *Lab) Topology() string { return l.topology.name }

// IsArranged reports that the lab's topology starts several servers of a
// backend.
func (l *Lab) IsArranged(name string) bool { return l.topology.start[name] != nil }

// setTopology rejects combinations that cannot work.
func (l *Lab) setTopology(o Options) (err error) {
	if err := CheckTopology(o.Topology, o.Given); err != nil {
		return err
	}
	l.topology, err = topologyNamed(o.Topology)
	if err == nil && o.Embedded && l.topology.name != Single {
		err = fmt.Errorf("topology %s needs real servers: start the lab without --embedded", o.Topology)
	}
	return err
}
