package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"seckill/internal/backend"
)

// The topologies of a lab say how the servers of a backend are arranged.
const (
	Single    = "single"   // each backend is one server
	Cluster   = "cluster"  // Redis is a Cluster of three masters and three replicas
	Ensembles = "ensemble" // ZooKeeper and etcd are three servers each, which elect a leader
	Sentinel  = "sentinel" // Redis is a primary with two replicas, and three sentinels watch them
	Ring      = "ring"     // Redis is three independent servers, and clients hash keys to them
	Galera    = "galera"   // the database is three MariaDB servers, and each takes writes
	// Losable is the topology of the proof. Every backend except the database can lose a server.
	Losable = "losable"
)

// A topology starts several servers of some backends.
type topology struct {
	name  string
	start map[string]startFunc // by name of the backend; other backends start as in Single
}

// A startFunc starts the servers of a backend.
type startFunc func(l *Lab, ctx context.Context, k kind, program Program) (*Ensemble, error)

func allTopologies() []topology {
	redis := func(start startFunc) map[string]startFunc { return map[string]startFunc{backend.NameRedis: start} }
	return []topology{
		{name: Single},
		{Cluster, redis((*Lab).redisCluster)},
		{Ensembles, map[string]startFunc{backend.NameZooKeeper: (*Lab).startVoters,
			backend.NameEtcd: (*Lab).startVoters}},
		{Sentinel, redis((*Lab).redisSentinels)},
		{Ring, redis((*Lab).redisRing)},
		{Galera, map[string]startFunc{backend.NameMySQL: (*Lab).startGalera}},
		{Losable, map[string]startFunc{backend.NameRedis: (*Lab).redisPair, backend.NameRedlock: (*Lab).startAlike,
			backend.NameZooKeeper: (*Lab).startVoters, backend.NameEtcd: (*Lab).startVoters}},
	}
}

// TopologyNames are the topologies that a user can choose.
var TopologyNames = []string{Single, Cluster, Ensembles, Sentinel, Ring, Galera}

// CheckTopology returns the topology with the given name; "" means Single. It returns an error if no topology has this
// name, or if the topology would start servers of a backend whose address is given.
func CheckTopology(name string, given backend.Config) (topology, error) {
	all := allTopologies()
	i := slices.IndexFunc(all, func(t topology) bool { return t.name == cmp.Or(name, Single) })
	if i < 0 {
		known := strings.Join(TopologyNames, ", ")
		return topology{}, fmt.Errorf("there is no topology %q: choose from %s", name, known)
	}
	for _, k := range backend.Kinds {
		if all[i].start[k.Name] != nil && len(k.In(given)) > 0 {
			return topology{}, fmt.Errorf("--topology %s starts several servers of %s, and %s names others: "+
				"leave out one of them", name, k.Title, k.Flags(given))
		}
	}
	return all[i], nil
}

// Topology returns the name of the lab's topology.
func (l *Lab) Topology() string { return l.topology.name }

// IsArranged reports whether the lab's topology starts several servers of a backend.
func (l *Lab) IsArranged(name string) bool { return l.topology.start[name] != nil }
