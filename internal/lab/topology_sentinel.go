package lab

import (
	"context"
	"fmt"
	"slices"

	"seckill/internal/backend"
)

// sentinels are a Redis primary with two replicas, and three Sentinel servers that watch them. The primary
// acknowledges a write before a replica has it. The sentinels promote a replica even if it lacks such writes.
type sentinels struct {
	replicated
	sentinels []*Process
}

// redisSentinels starts the primary and its replicas, and then the sentinels.
func (l *Lab) redisSentinels(ctx context.Context, k kind, program Program) (_ *Ensemble, err error) {
	s := &sentinels{replicated: replicated{password: l.passwords.redis}}
	s.nodes, err = l.launchServers(ctx, groupSize, 1, func(i int, _ [][]int) server {
		return l.redisServer(program, memberName(k.Name, i, groupSize), k.Name, fastReplication...)
	})
	if err != nil {
		return nil, err
	}
	if err := s.followPrimary(ctx, s.nodes[0]); err != nil {
		return nil, err
	}
	s.sentinels, err = l.launchServers(ctx, groupSize, 1, func(i int, _ [][]int) server {
		return l.sentinelServer(program, memberName("sentinel", i, groupSize), s.nodes[0].ports[0])
	})
	if err == nil {
		err = s.awaitReady(ctx)
	}
	return &Ensemble{Nodes: s.nodes, Roles: []string{Primary}, setClients: s.setClients,
		FindNode: func(ctx context.Context, _ string) (*Process, error) { return s.awaitPrimary(ctx) },
		repair:   s.restoreRoles, StopReplication: s.stopReplication, failOver: s.failOver}, err
}

// setClients gives clients the addresses of the sentinels, which name the primary.
func (s *sentinels) setClients(c *backend.Config, _ *Process) {
	c.RedisAddrs, c.RedisRing, c.RedisSentinels = nil, nil, nil
	for _, p := range s.sentinels {
		c.RedisSentinels = append(c.RedisSentinels, p.Login())
	}
}

// awaitPrimary waits until all running sentinels name the same running primary. After a failover some sentinels
// still name the old primary for a while.
func (s *sentinels) awaitPrimary(ctx context.Context) (primary *Process, err error) {
	err = Await(ctx, electionTimeout, func(ctx context.Context) error {
		answers, err := askSentinels(ctx, s.sentinels)
		if err != nil {
			return err
		}
		for _, p := range s.nodes {
			namesOther := func(m map[string]string) bool { return m["port"] != portOf(p.Addr) }
			if p.Alive() && !slices.ContainsFunc(answers, namesOther) {
				primary = p
				return nil
			}
		}
		return fmt.Errorf("the sentinels do not name the same running primary: %v", answers)
	})
	return primary, err
}

// awaitReady waits until each running sentinel knows the other two and both replicas, and has finished its last
// failover. Before that it takes no part in another failover.
func (s *sentinels) awaitReady(ctx context.Context) error {
	return Await(ctx, formTimeout, func(ctx context.Context) error {
		answers, err := askSentinels(ctx, s.sentinels)
		for _, m := range answers {
			if m["num-slaves"] != "2" || m["num-other-sentinels"] != "2" || m["flags"] != "master" {
				return fmt.Errorf("a sentinel knows %s replicas and %s other sentinels; the primary is %s",
					m["num-slaves"], m["num-other-sentinels"], m["flags"])
			}
		}
		return err
	})
}

// stopReplication stops the replication of the current primary.
func (s *sentinels) stopReplication(ctx context.Context) error {
	primary, err := s.awaitPrimary(ctx)
	if err != nil {
		return err
	}
	return s.replicated.disconnectReplicas(ctx, primary)
}

// failOver waits until the sentinels have promoted a replica. Writes that the replica lacks are lost.
func (s *sentinels) failOver(ctx context.Context) error {
	if err := s.setPrimaryPassword(ctx, s.password); err != nil { // so that a replica can follow the new primary
		return err
	}
	_, err := s.awaitPrimary(ctx)
	return err
}

// restoreRoles makes all other servers follow the primary, also after stopReplication. An old primary that was
// restarted is empty, and still takes itself for the primary.
func (s *sentinels) restoreRoles(ctx context.Context) error {
	primary, err := s.awaitPrimary(ctx)
	if err == nil {
		err = s.followPrimary(ctx, primary)
	}
	if err != nil {
		return err
	}
	return s.awaitReady(ctx)
}
