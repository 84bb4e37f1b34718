package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// Redis Sentinel: a primary, two replicas, and three sentinels that watch them.
// A sentinel is the Redis server itself, started with --sentinel. The primary
// acknowledges a write before a replica has it, and sentinels promote a replica
// whatever it lacks.
const (
	sentinelCount = 3

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
	cut      bool // the replicas have lost the primary: see lag
}

// addSentinel starts the servers, then those that watch them.
func (l *Lab) addSentinel(ctx context.Context, program Program) (backend.Status, error) {
	s := &sentinels{password: l.passwords.redis}
	var err error
	s.nodes, err = l.launchAll(ctx, three, 1, func(ports [][]int) []server {
		all := make([]server, three)
		for i := range all {
			more := []string{"--repl-diskless-sync", "no", "--repl-diskless-sync-delay", "0"}
			if i > 0 {
				more = append(more, "--replicaof", "127.0.0.1 "+strconv.Itoa(ports[0][0]))
			}
			all[i] = l.redisServer(program, member(backend.NameRedis, i), backend.NameRedis, more...)
		}
		return all
	})
	if err != nil {
		return backend.Status{}, fmt.Errorf("start Redis and two replicas: %w", err)
	}
	if err := s.follow(ctx, s.nodes[0]); err != nil {
		return backend.Status{}, fmt.Errorf("have two Redis follow a third: %w", err)
	}
	s.watching, err = l.launchAll(ctx, sentinelCount, 1, func([][]int) []server {
		all := make([]server, sentinelCount)
		for i := range all {
			all[i] = l.sentinelServer(program, member("sentinel", i), s.nodes[0].ports[0])
		}
		return all
	})
	if err != nil {
		return backend.Status{}, fmt.Errorf("start three sentinels: %w", err)
	}
	if err := s.know(ctx); err != nil {
		return backend.Status{}, fmt.Errorf("have three sentinels know each other: %w", err)
	}
	e := &Ensemble{Nodes: s.nodes, Roles: []string{Primary}, kind: s}
	maker, version, _ := strings.Cut(s.nodes[0].version, " ")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addGroup(backend.NameRedis, e)
	s.configure(&l.config)
	return backend.Status{Name: backend.NameRedis, Tier: backend.Private, OK: true,
		Address: backend.ShowAddresses(l.config.RedisSentinels),
		Version: fmt.Sprintf("%s with %d replicas and %d sentinels, %s", maker, three-1, sentinelCount, version)}, nil
}

// sentinelServer watches the primary at a port. A sentinel rewrites its own file:
// what it has learned is there when it is started again. The name has the
// primary's port, so that another attempt to start has another file.
func (l *Lab) sentinelServer(program Program, name string, primary int) server {
	return server{
		name: name, backend: backend.NameRedis, ports: 1, login: l.redisURL,
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
		check: func(ctx context.Context, addr string, pid int) (string, error) {
			info, err := askRedis(ctx, l.redisURL(addr), "Server")
			if err == nil && info["process_id"] != strconv.Itoa(pid) {
				return "", errors.New("another server has this port")
			}
			return redisName(info), err
		},
	}
}

// configure is how clients reach the primary: through the sentinels.
func (s *sentinels) configure(c *backend.Config) {
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

// node is the primary that all sentinels name which live, two at least. Until all
// have heard of a failover, one of them sends clients to the old primary.
func (s *sentinels) node(ctx context.Context, _ string) (primary *Process, err error) {
	err = await(ctx, elected, func(ctx context.Context) error {
		says, asked := map[string]int{}, 0
		for _, p := range s.watching {
			if !p.Alive() {
				continue
			}
			asked++
			if addr, err := s.namedBy(ctx, p); err == nil {
				says[addr]++
			}
		}
		for _, p := range s.nodes {
			if says[p.Addr] == asked && asked > sentinelCount/2 && p.Alive() {
				role, err := askRedis(ctx, p.Login(), "Replication")
				if err == nil && role["role"] == "master" {
					primary = p
					return nil
				}
			}
		}
		return fmt.Errorf("the sentinels name %v, of which none is a primary that lives", says)
	})
	return primary, err
}

// namedBy is the address that a sentinel gives to clients.
func (s *sentinels) namedBy(ctx context.Context, p *Process) (addr string, err error) {
	err = withRedis(ctx, p.Login(), func(c *redis.Client) error {
		named, err := c.Do(ctx, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", backend.DefaultMaster).StringSlice()
		if err == nil && len(named) == 2 {
			addr = net.JoinHostPort(named[0], named[1])
		}
		return err
	})
	return addr, err
}

// know waits until each sentinel that lives knows the other two and both replicas,
// and has done with its last failover: until then it takes no part in another.
func (s *sentinels) know(ctx context.Context) error {
	for _, p := range s.watching {
		if !p.Alive() {
			continue
		}
		err := await(ctx, forming, func(ctx context.Context) error {
			return withRedis(ctx, p.Login(), func(c *redis.Client) error {
				m := redis.NewMapStringStringCmd(ctx, "SENTINEL", "MASTER", backend.DefaultMaster)
				if err := c.Process(ctx, m); err != nil {
					return err
				}
				if m.Val()["num-slaves"] != "2" || m.Val()["num-other-sentinels"] != "2" || m.Val()["flags"] != "master" {
					return fmt.Errorf("it knows %s replicas and %s other sentinels; the primary is %s",
						m.Val()["num-slaves"], m.Val()["num-other-sentinels"], m.Val()["flags"])
				}
				return nil
			})
		})
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// follow waits until all others have what the primary has.
func (s *sentinels) follow(ctx context.Context, primary *Process) error {
	return await(ctx, forming, func(ctx context.Context) error {
		of, err := askRedis(ctx, primary.Login(), "Replication")
		if err != nil {
			return err
		}
		for _, p := range s.nodes {
			if p == primary {
				continue
			}
			by, err := askRedis(ctx, p.Login(), "Replication")
			if err != nil {
				return err
			}
			if by["master_link_status"] != "up" || by["master_port"] != strconv.Itoa(primary.ports[0]) ||
				by["slave_repl_offset"] != of["master_repl_offset"] {
				return fmt.Errorf("%s is %s and at %s, the primary at %s", p.Name, by["master_link_status"],
					by["slave_repl_offset"], of["master_repl_offset"])
			}
		}
		return nil
	})
}

// lag cuts the replicas off: they forget the primary's password, and the primary
// closes their connections. Sentinels still reach all of them.
func (s *sentinels) lag(ctx context.Context) error {
	primary, err := s.node(ctx, Primary)
	if err != nil {
		return err
	}
	s.cut = true
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
	s.cut = false
	_, err := s.node(ctx, Primary)
	return err
}

// heal has all follow the primary, with what it has. A server that was restarted
// is empty, and does not know that it is none any more.
func (s *sentinels) heal(ctx context.Context) error {
	primary, err := s.node(ctx, Primary)
	if err != nil {
		return err
	}
	if s.cut {
		if err := s.login(ctx, s.password); err != nil {
			return err
		}
		s.cut = false
	}
	for _, p := range s.nodes {
		if p == primary {
			continue
		}
		if err := makeReplica(ctx, p.Login(), "127.0.0.1", strconv.Itoa(primary.ports[0])); err != nil {
			return err
		}
	}
	if err := s.follow(ctx, primary); err != nil {
		return err
	}
	return s.know(ctx)
}
