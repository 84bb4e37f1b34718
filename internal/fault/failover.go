package fault

import (
	"context"
	"errors"
	"fmt"
)

const (
	// FailoverRedis: replication stands still while the primary goes on to
	// acknowledge writes. Then the primary is killed, and sentinels promote a replica
	// that does not have them. The old primary comes back as a replica.
	FailoverRedis Name = "failover_redis"
	// FailoverMySQL is the same with the database: what it forgets are orders.
	FailoverMySQL Name = "failover_mysql"
)

// MySQLReplica is the group of a database and its replica; "mysql" is the one in
// which each node takes writes.
const MySQLReplica = "mysql_replica"

var (
	failoverRedis = failsOver(FailoverRedis, redisServer, nodeLoss, "Redis",
		"replication to Redis' replicas stops, then the primary dies and one of them takes over without the last writes")
	// No strategy promises anything about it: the ledger itself goes back.
	failoverMySQL = failsOver(FailoverMySQL, MySQLReplica, "", "",
		"replication to the database's replica stops, then the primary dies and the replica takes over without the last orders")
)

func failsOver(name Name, server, question, uses, describe string) Fault {
	return Fault{Name: name, Question: question, Everywhere: true, Lasts: true, Uses: uses, Describe: describe,
		missing: func(e Env) *Lack {
			_, why := e.Group(server)
			return why
		},
		inject: func(ctx context.Context, e Env, a Aim) (*Injection, error) {
			g, why := e.Group(server)
			if why != nil {
				return nil, fmt.Errorf("%s: %s", name, why)
			}
			primary, err := g.Leader(ctx)
			if err != nil {
				return nil, err
			}
			seen := everywhere(ctx, e, a)
			if err := g.Lag(ctx); err != nil {
				return nil, errors.Join(err, g.Heal(context.WithoutCancel(ctx)))
			}
			if err := e.Mark(ctx, server); err != nil { // it is acknowledged, and not replicated
				return nil, errors.Join(fmt.Errorf("leave a mark in %s: %w", server, err), g.Heal(context.WithoutCancel(ctx)))
			}
			seen.Took = true
			seen.weigh()
			return &Injection{seen, func(ctx context.Context, seen *Effect) error {
				return failOver(ctx, e, g, server, primary, seen)
			}}, nil
		}}
}

// failOver loses the primary, and looks whether the mark was lost with it.
func failOver(ctx context.Context, e Env, g Group, server string, primary Process, seen *Effect) error {
	primary.Lock()
	err := g.Lose(ctx, primary)
	primary.Unlock()
	if err != nil {
		return errors.Join(fmt.Errorf("have a replica take over: %w", err), g.Heal(ctx))
	}
	kept, err := e.Marked(ctx, server)
	if err == nil && kept {
		seen.Took, seen.Matters, seen.Why = false, false, DataKept
	}
	return errors.Join(err, g.Heal(ctx))
}
