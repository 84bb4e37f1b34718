package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
)

// An Ensemble is the servers of one backend: one, or several of which one can be lost.
type Ensemble struct {
	Nodes []*Process
	// Roles are the kinds of node whose loss differs; nil: none is lost.
	Roles []string

	backend string
	turn    chan struct{} // holds one element while it is taken

	// Node finds a node that has a role now.
	Node func(ctx context.Context, role string) (*Process, error)
	// Lag stops replication where a write is acknowledged before it is replicated,
	// until the primary is lost. Servers that vote acknowledge only what most have.
	Lag func(context.Context) error

	// What else differs between ensembles. A nil function does nothing, unless its
	// comment says otherwise.

	// heal is called when every node runs again.
	heal func(context.Context) error
	// configure has clients reach the nodes, and one of them first; nil: at their
	// addresses.
	configure func(c *backend.Config, first *Process)
	// failOver returns when another node has taken over.
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

const three = 3

// ErrNoServer means that the program of a topology is not installed.
var ErrNoServer = errors.New("its server is not installed")

// Ensemble is that of the servers of a backend of which one can be lost. The backend
// is started if it is not there yet.
func (l *Lab) Ensemble(ctx context.Context, name string) (*Ensemble, error) {
	e := l.Group(name)
	if e == nil {
		if err := l.Add(ctx, name); err != nil {
			return nil, err
		}
		e = l.Group(name)
	}
	if e == nil {
		return nil, fmt.Errorf("topology %s has no servers of %s of which one can be lost", l.Topology(), name)
	}
	return e, nil
}

// Group is that of the servers of a backend that runs, if one of them can be lost; else
// nil.
func (l *Lab) Group(name string) *Ensemble {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.groups[name]
}

// setDefaults completes what a startFunc has made.
func (e *Ensemble) setDefaults(name string) {
	e.backend, e.turn = name, make(chan struct{}, 1)
	if e.Node == nil { // they are all alike
		e.Node = func(context.Context, string) (*Process, error) { return e.Nodes[len(e.Nodes)/2], nil }
	}
	if e.Lag == nil {
		e.Lag = func(context.Context) error { return nil }
	}
}

// Take gives the ensemble to one caller at a time, with lost nodes restarted. The
// caller calls give when done, whatever state the nodes are in.
func (e *Ensemble) Take(ctx context.Context) (give func(), err error) {
	select {
	case e.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	give = func() { <-e.turn }
	healing, failed := errgroup.WithContext(ctx)
	for _, p := range e.Nodes {
		if !p.Alive() {
			healing.Go(func() error { return p.Restart(failed) })
		}
	}
	if err = healing.Wait(); err == nil && e.heal != nil {
		err = e.heal(ctx)
	}
	if err != nil {
		give()
		return nil, fmt.Errorf("make the ensemble of %s whole again: %w", e.backend, err)
	}
	return give, nil
}

// Heal restarts lost nodes. It waits for its turn; see Take.
func (e *Ensemble) Heal(ctx context.Context) error {
	give, err := e.Take(ctx)
	if err == nil {
		give()
	}
	return err
}

// Whole reports whether every node lives.
func (e *Ensemble) Whole() bool {
	return !slices.ContainsFunc(e.Nodes, func(p *Process) bool { return !p.Alive() })
}

// Leader finds the node whose loss matters most, and waits for an election.
func (e *Ensemble) Leader(ctx context.Context) (*Process, error) { return e.Node(ctx, e.Roles[0]) }

// Config is c with the ensemble as its backend. Clients try the node first
// before the others.
func (e *Ensemble) Config(c backend.Config, first *Process) backend.Config {
	if e.configure != nil {
		e.configure(&c, first)
		return c
	}
	addrs := addrsOf(e.Nodes)
	if i := slices.Index(e.Nodes, first); i > 0 {
		addrs[0], addrs[i] = addrs[i], addrs[0]
	}
	e.Nodes[0].lab.setPrivate(&c, e.backend, addrs...)
	return c
}

// Lose kills a node, and has another take over if none does by itself.
func (e *Ensemble) Lose(ctx context.Context, p *Process) error {
	if err := p.Kill(ctx); err != nil || e.failOver == nil {
		return err
	}
	return e.failOver(ctx)
}

// memberName names a server of so many.
func memberName(of string, i, n int) string {
	if n == 1 {
		return of
	}
	return fmt.Sprintf("%s-%d", of, i+1)
}

// Await calls check until it succeeds.
func Await(ctx context.Context, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not in %v", limit))
	defer cancel()
	again := time.NewTicker(checkEvery)
	defer again.Stop()
	var last error
	for {
		asking, cancel := context.WithTimeout(ctx, checkLimit)
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

// A redisPair is a primary and a replica. Clients connect to the door, which leads to
// the current primary as a virtual address would.
type redisPair struct {
	replicated
	door *Relay
}

func (l *Lab) redisPair(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	door, err := l.newRelay()
	if err != nil {
		return nil, err
	}
	names := []string{"redis-primary", "redis-replica"}
	nodes, err := l.launchServers(ctx, len(names), 1, func(i int, _ [][]int) server {
		return l.redisServer(program, names[i], k.Name, soonReplicated...)
	})
	r := &redisPair{replicated{nodes, l.passwords.redis}, door}
	return &Ensemble{Nodes: nodes, Roles: []string{Primary}, heal: r.heal, failOver: r.failOver,
		Lag:       r.lag,
		Node:      func(context.Context, string) (*Process, error) { return nodes[0], nil },
		configure: func(c *backend.Config, _ *Process) { l.setPrivate(c, k.Name, r.door.Addr()) }}, err
}

// heal restores the roles. A primary that was restarted is empty, and its replica
// becomes empty, too.
func (r *redisPair) heal(ctx context.Context) error {
	r.door.Point(r.nodes[0].Addr)
	r.door.Drop()
	return r.follow(ctx, r.nodes[0])
}

// lag begins when the replica has what was set up.
func (r *redisPair) lag(ctx context.Context) error {
	if err := r.caughtUp(ctx, r.nodes[0]); err != nil {
		return err
	}
	return r.replicated.lag(ctx, r.nodes[0])
}

// failOver does what a Sentinel does. What the replica lacks is lost.
func (r *redisPair) failOver(ctx context.Context) error {
	// Redis does not replicate scripts. This one may know some from when it was a primary.
	err := withRedis(ctx, r.nodes[1].Login(), func(c *redis.Client) error {
		return errors.Join(c.ReplicaOf(ctx, "NO", "ONE").Err(), c.ScriptFlush(ctx).Err())
	})
	if err != nil {
		return err
	}
	r.door.Point(r.nodes[1].Addr)
	return nil
}
