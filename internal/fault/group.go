package fault

import (
	"context"
	"errors"
	"fmt"
)

// Faults of a backend that is several servers, of which one leads. What one of
// them acknowledged, most of them have.
const (
	// LoseZooKeeper, LoseEtcd: the leader of three is killed. The other two elect
	// another. It comes back when the fault is over.
	LoseZooKeeper Name = "lose_zookeeper"
	LoseEtcd      Name = "lose_etcd"
	// LoseMySQL: the node of a Galera cluster is killed at which the first service
	// process writes. Services are led to another until it is back.
	LoseMySQL Name = "lose_mysql"
)

// A Group is the servers of one backend of which one leads.
type Group interface {
	// Whole reports whether all of them are alive.
	Whole() bool
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
	loseZooKeeper = loses(LoseZooKeeper, "zookeeper", nodeLoss, "ZooKeeper",
		"one of three ZooKeeper servers is killed, the leader")
	loseEtcd = loses(LoseEtcd, "etcd", nodeLoss, "Etcd",
		"one of three etcd servers is killed, the leader")
	loseMySQL = loses(LoseMySQL, "mysql", "", "",
		"one of three nodes of the database is killed, at which buyers write")
)

// loses kills the leader of three, and starts it again when it is undone.
func loses(name Name, of, question, uses, describe string) Fault {
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
			if !g.Whole() {
				return nil, fmt.Errorf("%s: one of the servers is lost already", name)
			}
			seen := everywhere(ctx, e, a)
			leader.Lock()
			run := leader.Run()
			err = leader.Kill(ctx)
			leader.Unlock()
			if err != nil {
				return nil, err
			}
			restart := func(ctx context.Context) error { return restartLeader(ctx, g, leader, run) }
			next, err := g.Leader(ctx) // the others must go on
			if err != nil {
				return nil, errors.Join(err, restart(context.WithoutCancel(ctx)))
			}
			seen.Took = next.Title() != leader.Title()
			seen.weigh()
			return &Injection{seen, func(ctx context.Context, _ *Effect) error { return restart(ctx) }}, nil
		}}
}

// restartLeader starts the server that led, unless it has been started since.
func restartLeader(ctx context.Context, g Group, p Process, run any) error {
	p.Lock()
	defer p.Unlock()
	if p.Run() == run && !p.Alive() {
		if err := p.Restart(ctx); err != nil {
			return err
		}
	}
	_, err := g.Leader(ctx)
	return err
}
