package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

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

// A topology maps the name of a backend to the function that starts several servers of this backend. A backend without
// an entry starts as in Single.
type topology map[string]startFunc

type startFunc func(l *Lab, ctx context.Context, k kind, program Program) (*Ensemble, error)

func allTopologies() map[string]topology {
	return map[string]topology{
		Single:    {},
		Cluster:   {backend.NameRedis: (*Lab).redisCluster},
		Ensembles: {backend.NameZooKeeper: (*Lab).startVoters, backend.NameEtcd: (*Lab).startVoters},
		Sentinel:  {backend.NameRedis: (*Lab).redisSentinels},
		Ring:      {backend.NameRedis: (*Lab).redisRing},
		Galera:    {backend.NameMySQL: (*Lab).startGalera},
		Losable: {backend.NameRedis: (*Lab).redisPair, backend.NameRedlock: (*Lab).startAlike,
			backend.NameZooKeeper: (*Lab).startVoters, backend.NameEtcd: (*Lab).startVoters},
	}
}

// TopologyNames are the topologies that a user can choose.
var TopologyNames = []string{Single, Cluster, Ensembles, Sentinel, Ring, Galera}

// CheckTopology returns the topology with this name; "" means Single. It returns an error if no topology has this name,
// or if the topology would start servers of a backend for which the user has given an address.
func CheckTopology(name string, given backend.Config) (topology, error) {
	found, known := allTopologies()[cmp.Or(name, Single)]
	if !known {
		return nil, fmt.Errorf("there is no topology %q: choose from %s", name, strings.Join(TopologyNames, ", "))
	}
	for _, k := range backend.Kinds {
		if found[k.Name] != nil && len(k.In(given)) > 0 {
			return nil, fmt.Errorf("--topology %s starts several servers of %s, and %s names others: "+
				"leave out one of them", name, k.Title, k.Flags(given))
		}
	}
	return found, nil
}

// Topology returns the name of the lab's topology.
func (l *Lab) Topology() string { return l.options.Topology }

// isArranged reports whether the lab's topology starts several servers of a backend.
func (l *Lab) isArranged(name string) bool { return l.topology[name] != nil }

// An Ensemble contains all servers of one backend. It has one server, or several servers of which one may fail.
type Ensemble struct {
	Nodes []*Process
	Roles []string // the roles whose nodes an experiment may kill; nil if no node can be lost

	reserved chan struct{} // holds one element while the ensemble is reserved

	// FindNode returns a node that has the given role now, such as the current leader.
	FindNode func(ctx context.Context, role string) (*Process, error)
	// StopReplication stops replication until the primary is killed. Writes that the primary acknowledges meanwhile are
	// lost. With servers that vote, it does nothing, because they acknowledge only what the majority has.
	StopReplication func(context.Context) error

	// repair restores the roles and the replication when every node runs. By default it waits for the Leader.
	repair func(context.Context) error
	// setClients changes a configuration so that clients reach the nodes, and try the
	// preferred node before the other nodes. If setClients is nil, clients use the addresses of the nodes.
	setClients func(c *backend.Config, preferred *Process)
	// After a node was killed, failOver makes another node take over and waits until it has. The field may be nil.
	failOver func(context.Context) error
}

// Roles of nodes.
const (
	Primary  = "primary"
	Leader   = "leader"
	Follower = "follower"
	Shard    = "shard"
	AnyOne   = "any one"
)

// groupSize is the number of servers in most ensembles.
const groupSize = 3

// ErrNoServer means that the topology needs a server program, and this program is not installed.
var ErrNoServer = errors.New("its server is not installed")

// Ensemble returns the servers of a backend, and starts them if they do not run. It returns an error if they cannot be
// started, or if no server of this backend can be lost in the lab's topology.
func (l *Lab) Ensemble(ctx context.Context, name string) (*Ensemble, error) {
	if err := l.Add(ctx, name); err != nil {
		return nil, err
	}
	if e := l.FindEnsemble(name); e != nil {
		return e, nil
	}
	return nil, fmt.Errorf("topology %s has no server of %s that can be lost", l.Topology(), name)
}

// FindEnsemble returns the servers of a backend if the backend runs and one server can be lost; otherwise nil.
func (l *Lab) FindEnsemble(name string) *Ensemble {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ensembles[name]
}

// setDefaults sets the fields of an ensemble that its startFunc has left out.
func (e *Ensemble) setDefaults() {
	e.reserved = make(chan struct{}, 1)
	if e.FindNode == nil { // all nodes have the same role, so any node will do
		e.FindNode = func(context.Context, string) (*Process, error) { return e.Nodes[len(e.Nodes)/2], nil }
	}
	if e.StopReplication == nil {
		e.StopReplication = func(context.Context) error { return nil }
	}
	if e.repair == nil {
		e.repair = func(ctx context.Context) error {
			if len(e.Roles) == 0 {
				return nil
			}
			_, err := e.Leader(ctx)
			return err
		}
	}
}

// Reserve reserves the ensemble for one caller and restarts killed nodes. Other callers wait until the caller calls
// release. The caller may leave nodes dead, because the next Reserve restarts them.
func (e *Ensemble) Reserve(ctx context.Context) (release func(), err error) {
	select {
	case e.reserved <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	release = func() { <-e.reserved }
	restarting, failed := errgroup.WithContext(ctx)
	for _, p := range e.Nodes {
		if !p.Alive() {
			restarting.Go(func() error { return p.Restart(failed) })
		}
	}
	if err = restarting.Wait(); err == nil {
		err = e.repair(ctx)
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("repair the ensemble of %s: %w", e.Nodes[0].server.backend, err)
	}
	return release, nil
}

// Repair restarts killed nodes. It first waits until other callers have released the ensemble.
func (e *Ensemble) Repair(ctx context.Context) error {
	release, err := e.Reserve(ctx)
	if err == nil {
		release()
	}
	return err
}

// Leader returns the node whose loss has the largest effect. It waits for the end of an election.
func (e *Ensemble) Leader(ctx context.Context) (*Process, error) { return e.FindNode(ctx, e.Roles[0]) }

// Config returns c with the addresses of the ensemble. Clients try the preferred node before the other nodes.
func (e *Ensemble) Config(c backend.Config, preferred *Process) backend.Config {
	if e.setClients != nil {
		e.setClients(&c, preferred)
		return c
	}
	addrs := addresses(e.Nodes)
	if i := slices.Index(e.Nodes, preferred); i > 0 {
		addrs[0], addrs[i] = addrs[i], addrs[0]
	}
	e.Nodes[0].lab.setPrivate(&c, e.Nodes[0].server.backend, addrs...)
	return c
}

// KillNode kills a node. If the ensemble has a failOver, KillNode waits until another node has taken over. Otherwise
// clients find the other nodes themselves.
func (e *Ensemble) KillNode(ctx context.Context, p *Process) error {
	if err := p.Kill(ctx); err != nil || e.failOver == nil {
		return err
	}
	return e.failOver(ctx)
}

// memberName returns the name of the i-th of n servers, counted from 0.
func memberName(backend string, i, n int) string {
	if n == 1 {
		return backend
	}
	return fmt.Sprintf("%s-%d", backend, i+1)
}

// Await calls check until it succeeds, limit has passed or ctx ends.
func Await(ctx context.Context, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not in %v", limit))
	defer cancel()
	again := time.NewTicker(checkInterval)
	defer again.Stop()
	var last error
	for {
		asking, cancel := context.WithTimeout(ctx, checkTimeout)
		err := check(asking)
		cancel()
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			if last == nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%w; the last answer was: %w", context.Cause(ctx), last)
		case <-again.C:
		}
	}
}
