package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
)

// An Ensemble is several servers of one backend of which one can be lost: a Redis
// with a replica, five independent Redis, three ZooKeeper or etcd servers that
// vote. It runs in addition to the lab's other servers and ends with them.
type Ensemble struct {
	Nodes []*Process
	// Roles are the kinds of node whose loss differs.
	Roles []string

	backend string
	turn    chan struct{} // holds one element while it is taken
	// kind may also configure clients, if they need more than the nodes' addresses;
	// see Config.
	kind interface {
		// node finds a node that has a role now.
		node(ctx context.Context, role string) (*Process, error)
		// heal is called when every node runs again.
		heal(context.Context) error
		// goOn: enough nodes live.
		goOn() bool
	}
}

// A replicated ensemble acknowledges a write before it is replicated.
type replicated interface {
	// lag stops replication, until the primary is lost.
	lag(context.Context) error
	// failOver returns when another is the primary.
	failOver(context.Context) error
}

// ErrNoServer means that the program of an ensemble is not installed.
var ErrNoServer = errors.New("there is no server for it")

// Ensemble returns the ensemble of a backend. The first call starts it.
func (l *Lab) Ensemble(ctx context.Context, name string) (*Ensemble, error) {
	l.ensembles.mu.Lock()
	defer l.ensembles.mu.Unlock()
	if e := l.ensembles.all[name]; e != nil {
		return e, nil
	}
	if e := l.Group(name); e != nil {
		return e, nil
	}
	k, err := l.kindNamed(name)
	if err != nil {
		return nil, err
	}
	program := l.programs[k.tool]
	if !program.Found() {
		return nil, fmt.Errorf("%w: %s", ErrNoServer, program.Missing())
	}
	if k.ensemble == nil {
		return nil, fmt.Errorf("%w: there is no ensemble of %s", ErrNoServer, name)
	}
	if err := l.hasRoom(three * k.megabytes); err != nil {
		return nil, err
	}
	begun := time.Now()
	e, err := k.ensemble(ctx, program, ensembleOf(name))
	if err != nil {
		return nil, fmt.Errorf("start an ensemble of %s: %w", name, err)
	}
	e.named(name)
	if l.ensembles.all == nil {
		l.ensembles.all = map[string]*Ensemble{}
	}
	l.ensembles.all[name] = e
	l.progress(name+" ensemble", time.Since(begun))
	return e, nil
}

func (e *Ensemble) named(name string) { e.backend, e.turn = name, make(chan struct{}, 1) }

// Group are the servers of a backend that the topology makes several, each of which can be
// lost; nil if it is one server.
func (l *Lab) Group(name string) *Ensemble {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.groups[name]
}

// goOn: enough nodes live that the others are not missed. It is false of nil.
func (e *Ensemble) goOn() bool { return e != nil && e.kind.goOn() }

func (e *Ensemble) addrs() []string {
	addrs := make([]string, len(e.Nodes))
	for i, p := range e.Nodes {
		addrs[i] = p.Addr
	}
	return addrs
}

// mostLive: more than half of them do.
func mostLive(nodes []*Process) bool {
	alive := 0
	for _, p := range nodes {
		if p.Alive() {
			alive++
		}
	}
	return alive > len(nodes)/2
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
	if err = healing.Wait(); err == nil {
		err = e.kind.heal(ctx)
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

// Shard is the node, of servers that share the keys, at an address; at "" the one to
// which most commands go now.
func (e *Ensemble) Shard(ctx context.Context, address string) (*Process, error) {
	s, ok := e.kind.(*shards)
	switch {
	case !ok:
		return nil, fmt.Errorf("the servers of %s do not share its keys", e.backend)
	case address != "":
		return s.at(address)
	}
	return s.busiest(ctx)
}

// Node finds a node that has a role now.
func (e *Ensemble) Node(ctx context.Context, role string) (*Process, error) {
	return e.kind.node(ctx, role)
}

// NodeWith is Node; of servers that share the keys it is the one that has keys
// whose names contain part, or else the one to which key belongs.
func (e *Ensemble) NodeWith(ctx context.Context, role, key, part string) (*Process, error) {
	if s, ok := e.kind.(*shards); ok {
		return s.with(ctx, key, part)
	}
	return e.Node(ctx, role)
}

// Config is c with the ensemble as its backend. Clients try the node first
// before the others.
func (e *Ensemble) Config(c backend.Config, first *Process) backend.Config {
	if k, ok := e.kind.(interface {
		configure(c *backend.Config, first *Process)
	}); ok {
		k.configure(&c, first)
		return c
	}
	addrs := e.addrs()
	if i := slices.Index(e.Nodes, first); i > 0 && e.backend != backend.NameRedlock {
		addrs[0], addrs[i] = addrs[i], addrs[0]
	}
	e.Nodes[0].lab.setPrivate(&c, e.backend, addrs...)
	return c
}

// Lag stops replication where writes are acknowledged before they are
// replicated. Servers that vote acknowledge only what a majority has.
func (e *Ensemble) Lag(ctx context.Context) error {
	if of, ok := e.kind.(replicated); ok {
		return of.lag(ctx)
	}
	return nil
}

// Lose kills a node, and has another take over if none does by itself.
func (e *Ensemble) Lose(ctx context.Context, p *Process) error {
	if err := p.Kill(ctx); err != nil {
		return err
	}
	if of, ok := e.kind.(replicated); ok {
		return of.failOver(ctx)
	}
	return nil
}

// launchAll starts n servers, on so many ports each, that must know each other's
// ports before the first one starts. If another process takes one of the ports, all start again.
func (l *Lab) launchAll(
	ctx context.Context, n, each int, build func(i int, ports [][]int) server,
) ([]*Process, error) {
	for attempt := 1; ; attempt++ {
		free, err := l.ports.free(n * each)
		if err != nil {
			return nil, err
		}
		ports := slices.Collect(slices.Chunk(free, each))
		processes := make([]*Process, n)
		together, failed := errgroup.WithContext(ctx)
		for i := range processes {
			s := build(i, ports)
			p := &Process{Name: s.name, lab: l, server: s, ports: ports[i], Log: l.logFile(s.name),
				Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(ports[i][0]))}
			processes[i] = p
			together.Go(func() error { return p.start(failed) })
		}
		if err = together.Wait(); err == nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.processes = append(l.processes, processes...)
			return processes, nil
		}
		taken := anyTakenBy(processes, free)
		if attempt == 5 || !taken {
			return nil, err
		}
		l.options.Log.Warn("another process took a port first; trying others", "ports", free)
	}
}

// anyTakenBy reports whether a stranger has one of the ports. It kills our
// processes first.
func anyTakenBy(processes []*Process, ports []int) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*checkLimit)
	defer cancel()
	for _, p := range processes {
		if p.current() != nil {
			p.end(ctx, kill)
		}
	}
	return anyTaken(ports)
}

// ensembleOf names the backend of an ensemble's processes, whose death is no
// failure of the lab's own backend.
func ensembleOf(name string) string { return name + " ensemble" }

// member names a node.
func member(of string, i int) string { return fmt.Sprintf("%s-%d", of, i+1) }

const three = 3

// Roles of nodes.
const (
	Primary  = "primary"
	Leader   = "leader"
	Follower = "follower"
	AnyOne   = "any one"
)

// A quorum's nodes are all alike.
type quorum struct{ nodes []*Process }

// redisFive are five in addition to the lab's own, which may be in use.
func (l *Lab) redisFive(ctx context.Context, program Program, of string) (*Ensemble, error) {
	nodes, err := l.launchAll(ctx, 5, 1, func(i int, _ [][]int) server {
		return l.redisServer(program, member("quorum", i), of)
	})
	if err != nil {
		return nil, err
	}
	return &Ensemble{Nodes: nodes, Roles: []string{AnyOne}, kind: &quorum{nodes}}, nil
}

func (q *quorum) node(context.Context, string) (*Process, error) { return q.nodes[len(q.nodes)/2], nil }
func (q *quorum) heal(context.Context) error                     { return nil }
func (q *quorum) goOn() bool                                     { return mostLive(q.nodes) }

// await calls check until it succeeds.
func await(ctx context.Context, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
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
			return fmt.Errorf("%w: %w", context.Cause(ctx), last)
		case <-again.C:
		}
	}
}
