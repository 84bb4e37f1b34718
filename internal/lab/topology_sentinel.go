package lab

import (
	"context"
	"fmt"
	"slices"

	"seckill/internal/backend"
)

// Redis Sentinel: a primary, two replicas, and three sentinels that watch them.
// The primary acknowledges a write before a replica has it, and sentinels promote a
// replica whatever it lacks.
type sentinels struct {
	replicated
	watching []*Process
}

// redisSentinels starts the servers, then those that watch them.
func (l *Lab) redisSentinels(ctx context.Context, k kind, program Program) (_ *Ensemble, err error) {
	s := &sentinels{replicated: replicated{password: l.passwords.redis}}
	s.nodes, err = l.launchServers(ctx, three, 1, func(i int, _ [][]int) server {
		return l.redisServer(program, memberName(k.Name, i, three), k.Name, soonReplicated...)
	})
	if err != nil {
		return nil, err
	}
	if err := s.follow(ctx, s.nodes[0]); err != nil {
		return nil, err
	}
	s.watching, err = l.launchServers(ctx, three, 1, func(i int, _ [][]int) server {
		return l.sentinelServer(program, memberName("sentinel", i, three), s.nodes[0].ports[0])
	})
	if err == nil {
		err = s.know(ctx)
	}
	return &Ensemble{Nodes: s.nodes, Roles: []string{Primary}, configure: s.configure,
		Node: func(ctx context.Context, _ string) (*Process, error) { return s.primary(ctx) },
		heal: s.heal, Lag: s.lag, failOver: s.failOver}, err
}

// configure is how clients reach the primary: through the sentinels.
func (s *sentinels) configure(c *backend.Config, _ *Process) {
	c.RedisAddrs, c.RedisRing, c.RedisSentinels = nil, nil, nil
	for _, p := range s.watching {
		c.RedisSentinels = append(c.RedisSentinels, p.Login())
	}
}

// primary is the one that all sentinels name which live. Until all have heard of
// a failover, one of them sends clients to the old primary.
func (s *sentinels) primary(ctx context.Context) (primary *Process, err error) {
	err = Await(ctx, elected, func(ctx context.Context) error {
		said, err := askSentinels(ctx, s.watching)
		if err != nil {
			return err
		}
		for _, p := range s.nodes {
			other := func(m map[string]string) bool { return m["port"] != portOf(p.Addr) }
			if p.Alive() && !slices.ContainsFunc(said, other) {
				primary = p
				return nil
			}
		}
		return fmt.Errorf("the sentinels do not all name one primary that lives: %v", said)
	})
	return primary, err
}

// know waits until each sentinel that lives knows the other two and both replicas,
// and has done with its last failover: until then it takes no part in another.
func (s *sentinels) know(ctx context.Context) error {
	return Await(ctx, forming, func(ctx context.Context) error {
		said, err := askSentinels(ctx, s.watching)
		for _, m := range said {
			if m["num-slaves"] != "2" || m["num-other-sentinels"] != "2" || m["flags"] != "master" {
				return fmt.Errorf("one knows %s replicas and %s other sentinels; the primary is %s",
					m["num-slaves"], m["num-other-sentinels"], m["flags"])
			}
		}
		return err
	})
}

// lag stops the replication of the primary that there is.
func (s *sentinels) lag(ctx context.Context) error {
	primary, err := s.primary(ctx)
	if err != nil {
		return err
	}
	return s.replicated.lag(ctx, primary)
}

// failOver waits until the sentinels have promoted a replica. What it lacks is
// lost.
func (s *sentinels) failOver(ctx context.Context) error {
	if err := s.login(ctx, s.password); err != nil { // the others follow the new one
		return err
	}
	_, err := s.primary(ctx)
	return err
}

// heal has all others follow the primary, after a lag, too. A server that was
// restarted is empty, and does not know that it is no primary any more.
func (s *sentinels) heal(ctx context.Context) error {
	primary, err := s.primary(ctx)
	if err == nil {
		err = s.follow(ctx, primary)
	}
	if err != nil {
		return err
	}
	return s.know(ctx)
}
