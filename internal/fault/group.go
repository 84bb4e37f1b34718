package fault

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
)

// Faults of a backend that is several servers, of which one leads. What one of
// them acknowledged, most of them have.
const (
	// LoseZooKeeper, LoseEtcd: the leader of three is killed. The other two elect
	// another. It comes back when the fault is over.
	LoseZooKeeper Name = "lose_zookeeper"
	LoseEtcd      Name = "lose_etcd"
	// LoseZooKeeperQuorum, LoseEtcdQuorum: two of three are killed, the leader
	// among them. The third serves no writes until one of them is back.
	LoseZooKeeperQuorum Name = "lose_zookeeper_quorum"
	LoseEtcdQuorum      Name = "lose_etcd_quorum"
	// LoseMySQL: the node of a Galera cluster is killed at which the first service
	// process writes. Services are led to another until it is back.
	LoseMySQL Name = "lose_mysql"
)

// A Group is the servers of one backend of which one leads.
type Group interface {
	Nodes() []Process
	// Leader finds the one that leads, and waits for an election.
	Leader(ctx context.Context) (Process, error)
	// Lag stops replication where a write is acknowledged before it is
	// replicated, until the leader is lost.
	Lag(ctx context.Context) error
	// Lose kills the leader and returns when another leads.
	Lose(ctx context.Context, leader Process) error
	// Heal starts those that are dead, and has all follow the leader.
	Heal(ctx context.Context) error
}

var (
	loseZooKeeper = loses(LoseZooKeeper, "zookeeper", 1, nodeLoss, "ZooKeeper",
		"one of three ZooKeeper servers is killed, the leader")
	loseEtcd = loses(LoseEtcd, "etcd", 1, nodeLoss, "Etcd",
		"one of three etcd servers is killed, the leader")
	loseZooKeeperQuorum = loses(LoseZooKeeperQuorum, "zookeeper", 2, leaseEnd, "ZooKeeper",
		"two of three ZooKeeper servers are killed: the third serves nothing")
	loseEtcdQuorum = loses(LoseEtcdQuorum, "etcd", 2, leaseEnd, "Etcd",
		"two of three etcd servers are killed: the third writes nothing")
	loseMySQL = loses(LoseMySQL, "mysql", 1, "", "",
		"one of three nodes of the database is killed, at which buyers write")
)

// loses kills n servers of three, the leader first, and starts them again when
// it is undone.
func loses(name Name, of string, n int, question, uses, describe string) Fault {
	return Fault{Name: name, Question: question, Everywhere: true, Lasts: true, Uses: uses, Describe: describe,
		missing: func(e Env) *Lack {
			_, why := e.Group(of)
			return why
		},
		inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
			g, why := e.Group(of)
			if why != nil {
				return nil, fmt.Errorf("%s: %s", name, why)
			}
			leader, err := g.Leader(ctx)
			if err != nil {
				return nil, err
			}
			lost, err := withLeader(g, leader, n)
			if err != nil {
				return nil, err
			}
			seen := everywhere(ctx, e, a)
			l := &loss{group: g, lost: lost}
			if err := l.kill(ctx); err != nil {
				return nil, errors.Join(err, l.restart(context.WithoutCancel(ctx)))
			}
			seen.Took = true
			if n == 1 { // the others must go on
				next, err := g.Leader(ctx)
				if err != nil {
					return nil, errors.Join(err, l.restart(context.WithoutCancel(ctx)))
				}
				seen.Took = next.Title() != leader.Title()
			}
			seen.weigh()
			return &Injection{seen, func(ctx context.Context, _ *Effect) error { return l.restart(ctx) }}, nil
		}}
}

// withLeader are n servers that live, the leader among them.
func withLeader(g Group, leader Process, n int) ([]Process, error) {
	lost := []Process{leader}
	for _, p := range g.Nodes() {
		if len(lost) < n && p.Title() != leader.Title() && p.Alive() {
			lost = append(lost, p)
		}
	}
	if alive := aliveOf(g.Nodes()); alive < len(g.Nodes()) {
		return nil, fmt.Errorf("%d of %d servers are lost already", len(g.Nodes())-alive, len(g.Nodes()))
	}
	return lost, nil
}

func aliveOf(all []Process) (n int) {
	for _, p := range all {
		if p.Alive() {
			n++
		}
	}
	return n
}

// A loss is servers that were killed.
type loss struct {
	group Group
	lost  []Process
	runs  []any // of those that were
}

func (l *loss) kill(ctx context.Context) error {
	for _, p := range l.lost {
		p.Lock()
		run := p.Run()
		err := p.Kill(ctx)
		p.Unlock()
		if err != nil {
			return err
		}
		l.runs = append(l.runs, run)
	}
	return nil
}

// restart starts those that have not been started since, together: one may need
// the others to answer.
func (l *loss) restart(ctx context.Context) error {
	together, starting := errgroup.WithContext(ctx)
	for i, run := range l.runs {
		p := l.lost[i]
		together.Go(func() error {
			p.Lock()
			defer p.Unlock()
			if p.Run() != run || p.Alive() {
				return nil
			}
			return p.Restart(starting)
		})
	}
	if err := together.Wait(); err != nil {
		return err
	}
	_, err := l.group.Leader(ctx)
	return err
}
