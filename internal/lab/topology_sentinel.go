package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// Redis Sentinel: a primary, two replicas, and three sentinels that watch them.
// A sentinel is the Redis server itself, started with --sentinel. The primary
// acknowledges a write before a replica has it, and sentinels promote a replica
// whatever it lacks.
const (
	// A primary that does not answer for so long is down. It is longer than a
	// busy machine lets a living one wait.
	sentinelDown     = "2000"
	sentinelFailover = "6000" // milliseconds; after them a failover that fails is tried again
)

// sentinels are what watches a primary and its replicas.
type sentinels struct {
	nodes    []*Process // primary and replicas
	watching []*Process
	password string
}

// redisSentinels starts the servers, then those that watch them.
func (l *Lab) redisSentinels(ctx context.Context, program Program) (_ *Ensemble, err error) {
	s := &sentinels{password: l.passwords.redis}
	s.nodes, err = l.launchAll(ctx, three, 1, func(i int, ports [][]int) server {
		more := []string{"--repl-diskless-sync", "no", "--repl-diskless-sync-delay", "0"}
		if i > 0 {
			more = append(more, "--replicaof", "127.0.0.1 "+strconv.Itoa(ports[0][0]))
		}
		return l.redisServer(program, member(backend.NameRedis, i), backend.NameRedis, more...)
	})
	if err != nil {
		return nil, err
	}
	if err := s.follow(ctx, s.nodes[0]); err != nil {
		return nil, err
	}
	s.watching, err = l.launchAll(ctx, three, 1, func(i int, _ [][]int) server {
		return l.sentinelServer(program, member("sentinel", i), s.nodes[0].ports[0])
	})
	if err != nil {
		return nil, err
	}
	if err := s.know(ctx); err != nil {
		return nil, fmt.Errorf("have three sentinels know each other: %w", err)
	}
	return &Ensemble{Nodes: s.nodes, Roles: []string{Primary}, kind: s}, nil
}

// sentinelServer watches the primary at a port. A sentinel rewrites its own file:
// what it has learned is there when it is started again. The name has the
// primary's port, so that another attempt to start has another file.
func (l *Lab) sentinelServer(program Program, name string, primary int) server {
	return server{
		name: name, backend: backend.NameRedis, login: l.redisURL,
		command: func(ports []int) (command, error) {
			file := filepath.Join(l.folder, fmt.Sprintf("%s-%d.conf", name, ports[0]))
			c := command{Env: l.serverEnv(), Dir: l.folder, Args: []string{program.Path, file, "--sentinel"}}
			if _, err := os.Stat(file); err == nil {
				return c, nil
			}
			text := fmt.Sprintf("port %[1]d\nbind 127.0.0.1\ndir %[2]q\nrequirepass %[3]s\nsentinel monitor %[4]s 127.0.0.1 %[5]d 2\n"+
				"sentinel auth-pass %[4]s %[3]s\nsentinel down-after-milliseconds %[4]s "+sentinelDown+
				"\nsentinel failover-timeout %[4]s "+sentinelFailover+"\nsentinel parallel-syncs %[4]s 2\n",
				ports[0], l.folder, l.passwords.redis, backend.DefaultMaster, primary)
			return c, os.WriteFile(file, []byte(text), 0o600)
		},
		check: l.checkRedis,
	}
}

// configure is how clients reach the primary: through the sentinels.
func (s *sentinels) configure(c *backend.Config, _ *Process) {
	c.RedisAddrs, c.RedisRing, c.RedisRingLost, c.RedisSentinels = nil, nil, "", nil
	for _, p := range s.watching {
		c.RedisSentinels = append(c.RedisSentinels, p.Login())
	}
	c.RedisMasterName = backend.DefaultMaster
}

// goOn: the sentinels can elect one of themselves, and there is a Redis.
func (s *sentinels) goOn() bool {
	return mostLive(s.watching) && slices.ContainsFunc(s.nodes, (*Process).Alive)
}

// say is what the sentinels that live know of the primary: two of them, at least.
func (s *sentinels) say(ctx context.Context) (all []map[string]string, err error) {
	for _, p := range s.watching {
		if !p.Alive() {
			continue
		}
		said := redis.NewMapStringStringCmd(ctx, "SENTINEL", "MASTER", backend.DefaultMaster)
		err := withRedis(ctx, p.Login(), func(c *redis.Client) error { return c.Process(ctx, said) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		all = append(all, said.Val())
	}
	if len(all) <= three/2 {
		return nil, errors.New("most of the sentinels are dead")
	}
	return all, nil
}

// node is the primary that all sentinels name which live. Until all have heard of
// a failover, one of them sends clients to the old primary.
func (s *sentinels) node(ctx context.Context, _ string) (primary *Process, err error) {
	err = await(ctx, elected, func(ctx context.Context) error {
		said, err := s.say(ctx)
		if err != nil {
			return err
		}
		for _, p := range s.nodes {
			other := func(m map[string]string) bool { return m["port"] != port(p.Addr) }
			if !p.Alive() || slices.ContainsFunc(said, other) {
				continue
			}
			role, err := askRedis(ctx, p.Login(), "Replication")
			if err == nil && role["role"] == "master" {
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
	return await(ctx, forming, func(ctx context.Context) error {
		said, err := s.say(ctx)
		for _, m := range said {
			if m["num-slaves"] != "2" || m["num-other-sentinels"] != "2" || m["flags"] != "master" {
				return fmt.Errorf("one knows %s replicas and %s other sentinels; the primary is %s",
					m["num-slaves"], m["num-other-sentinels"], m["flags"])
			}
		}
		return err
	})
}

// follow has all others follow the primary, and waits until they have what it has. A
// server that was restarted is empty, and does not know that it is none any more.
func (s *sentinels) follow(ctx context.Context, primary *Process) error {
	var others []*Process
	for _, p := range s.nodes {
		if p == primary {
			continue
		}
		if err := makeReplica(ctx, p.Login(), "127.0.0.1", port(primary.Addr)); err != nil {
			return err
		}
		others = append(others, p)
	}
	return caughtUp(ctx, primary, port(primary.Addr), others...)
}

// lag cuts the replicas off: they forget the primary's password, and the primary
// closes their connections. Sentinels still reach all of them.
func (s *sentinels) lag(ctx context.Context) error {
	primary, err := s.node(ctx, Primary)
	if err != nil {
		return err
	}
	if err := s.login(ctx, "no longer known"); err != nil {
		return err
	}
	err = withRedis(ctx, primary.Login(), func(c *redis.Client) error {
		return c.Do(ctx, "CLIENT", "KILL", "TYPE", "replica").Err()
	})
	if err != nil {
		return err
	}
	return await(ctx, answerLimit, func(ctx context.Context) error {
		of, err := askRedis(ctx, primary.Login(), "Replication")
		if err == nil && of["connected_slaves"] != "0" {
			err = fmt.Errorf("%s replicas still follow", of["connected_slaves"])
		}
		return err
	})
}

// login sets the password with which a server that lives logs in to a primary.
func (s *sentinels) login(ctx context.Context, password string) error {
	for _, p := range s.nodes {
		if !p.Alive() {
			continue
		}
		err := withRedis(ctx, p.Login(), func(c *redis.Client) error { return c.ConfigSet(ctx, "masterauth", password).Err() })
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// failOver waits until the sentinels have promoted a replica. What it lacks is
// lost.
func (s *sentinels) failOver(ctx context.Context) error {
	if err := s.login(ctx, s.password); err != nil { // the others follow the new one
		return err
	}
	_, err := s.node(ctx, Primary)
	return err
}

// heal has all follow the primary, with what it has.
func (s *sentinels) heal(ctx context.Context) error {
	primary, err := s.node(ctx, Primary)
	if err != nil {
		return err
	}
	if err := s.login(ctx, s.password); err != nil { // see lag
		return err
	}
	if err := s.follow(ctx, primary); err != nil {
		return err
	}
	return s.know(ctx)
}
