package fault

import (
	"context"
	"fmt"
)

// Faults of a server that keeps its data. The processes that use it stay; each
// command that it had taken, and not answered, is an unknown outcome.
const (
	// RestartMySQL: the database is killed and recovers from its log. This does not
	// test fsync: what the system has in memory survives a kill.
	RestartMySQL     Name = "restart_mysql"
	RestartZooKeeper Name = "restart_zookeeper"
	RestartEtcd      Name = "restart_etcd"
	// PauseMySQL: the database stands still. Its sockets stay open, and what was
	// sent runs when it goes on.
	PauseMySQL Name = "pause_mysql"
	PauseRedis Name = "pause_redis"
)

var (
	restartMySQL = restarts(RestartMySQL, "mysql", lostReply, "",
		"MySQL is killed, and recovers with its data")
	restartZooKeeper = restarts(RestartZooKeeper, "zookeeper", leaseEnd, "ZooKeeper",
		"ZooKeeper is killed, and comes back with its data")
	restartEtcd = restarts(RestartEtcd, "etcd", leaseEnd, "Etcd",
		"etcd is killed, and comes back with its data")
	pauseMySQL = standsStill(PauseMySQL, "mysql", lateCommand, "",
		"MySQL stands still")
	pauseRedis = standsStill(PauseRedis, redisServer, leaseEnd, "Redis",
		"Redis stands still, while leases run out")
)

// ofLab finds the server, or says why there is none that may come to harm.
func ofLab(server string) func(Env) *Lack {
	return func(e Env) *Lack {
		_, why := e.Server(server)
		return why
	}
}

// restarts kills a server and starts it again, on its data.
func restarts(name Name, server, question, uses, describe string) Fault {
	return Fault{Name: name, Question: question, Everywhere: true, Uses: uses, Describe: describe, missing: ofLab(server),
		inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
			p, why := e.Server(server)
			if why != nil {
				return nil, fmt.Errorf("%s: %s", name, why)
			}
			p.Lock()
			defer p.Unlock()
			seen, run := everywhere(ctx, e, a), p.Run()
			if err := p.Kill(ctx); err != nil {
				return nil, err
			}
			// It comes back whatever becomes of the caller: there is only one.
			if err := p.Restart(context.WithoutCancel(ctx)); err != nil {
				return nil, err
			}
			seen.Took = p.Run() != run
			seen.weigh()
			return &Injection{Effect: seen}, nil
		}}
}

// standsStill pauses a server.
func standsStill(name Name, server, question, uses, describe string) Fault {
	return Fault{Name: name, Question: question, Everywhere: true, Lasts: true, Uses: uses, Describe: describe,
		missing: ofLab(server),
		inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
			p, why := e.Server(server)
			if why != nil {
				return nil, fmt.Errorf("%s: %s", name, why)
			}
			p.Lock()
			defer p.Unlock()
			if p.Paused() {
				return nil, fmt.Errorf("%s is paused already", p.Title())
			}
			return pause(ctx, p, everywhere(ctx, e, a))
		}}
}
