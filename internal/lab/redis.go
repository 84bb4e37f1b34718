package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// redisServers know nothing of each other.
func (l *Lab) redisServers(ctx context.Context, program Program, n int, name, of string) ([]*Process, error) {
	return l.launchServers(ctx, n, 1, func(i int, _ [][]int) server { return l.redisServer(program, memberName(name, i, n), of) })
}

// redisServer keeps nothing on disk: after a restart it is empty. Clients,
// replicas and the other nodes of a Cluster need the lab's password.
func (l *Lab) redisServer(program Program, name, of string, more ...string) server {
	return server{
		name: name, backend: of,
		command: func(ports []int) (*exec.Cmd, error) {
			file := filepath.Join(l.folder, name+".conf") // only this user reads it
			secrets := fmt.Sprintf("requirepass %[1]s\nmasterauth %[1]s\n", l.passwords.redis)
			return l.newCommand(program.Path, append([]string{file, "--port", strconv.Itoa(ports[0]), "--bind", "127.0.0.1",
				"--save", "", "--appendonly", "no", "--dbfilename", name + ".rdb"}, more...)...), os.WriteFile(file, []byte(secrets), 0o600)
		},
		check: l.checkRedis,
	}
}

const (
	// A primary that does not answer for so long is down. It is longer than a
	// busy machine lets a living one wait.
	sentinelDown     = "2000"
	sentinelFailover = "6000" // milliseconds; after them a failover that fails is tried again
)

// sentinelServer watches the primary at a port. A sentinel rewrites its own file:
// what it has learned is there when it is started again. The name has the
// primary's port, so that another attempt to start has another file.
func (l *Lab) sentinelServer(program Program, name string, primary int) server {
	return server{
		name: name, backend: backend.NameRedis,
		command: func(ports []int) (*exec.Cmd, error) {
			file := filepath.Join(l.folder, fmt.Sprintf("%s-%d.conf", name, ports[0]))
			cmd := l.newCommand(program.Path, file, "--sentinel")
			if _, err := os.Stat(file); err == nil {
				return cmd, nil
			}
			text := fmt.Sprintf("port %[1]d\nbind 127.0.0.1\ndir %[2]q\nrequirepass %[3]s\nsentinel monitor %[4]s 127.0.0.1 %[5]d 2\n"+
				"sentinel auth-pass %[4]s %[3]s\nsentinel down-after-milliseconds %[4]s "+sentinelDown+
				"\nsentinel failover-timeout %[4]s "+sentinelFailover+"\nsentinel parallel-syncs %[4]s 2\n",
				ports[0], l.folder, l.passwords.redis, backend.DefaultMaster, primary)
			return cmd, os.WriteFile(file, []byte(text), 0o600)
		},
		check: l.checkRedis,
	}
}

func (l *Lab) checkRedis(ctx context.Context, addr string) (version string, err error) {
	err = withRedis(ctx, l.redisURL(addr), func(c *redis.Client) error {
		info, err := c.Info(ctx, "server").Result()
		version = backend.RedisVersion(info)
		return err
	})
	return version, err
}

// withRedis opens one connection for do and dials once: a caller that waits for a
// server calls it again. go-redis would log every dial that fails, so it is given
// the open connection.
func withRedis(ctx context.Context, address string, do func(*redis.Client) error) error {
	o, err := redis.ParseURL(address)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", o.Addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	o.Dialer = func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	o.DisableIdentity, o.ContextTimeoutEnabled, o.MaxRetries, o.PoolSize = true, true, -1, 1
	client := redis.NewClient(o)
	defer client.Close()
	return do(client)
}

// onEach runs do on each server that lives.
func onEach(ctx context.Context, servers []*Process, do func(*Process, *redis.Client) error) error {
	for _, p := range servers {
		if !p.Alive() {
			continue
		}
		if err := withRedis(ctx, p.Login(), func(c *redis.Client) error { return do(p, c) }); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

// askRedis reads one section of INFO, such as "Server".
func askRedis(ctx context.Context, address, section string) (info map[string]string, err error) {
	err = withRedis(ctx, address, func(c *redis.Client) error {
		sections, err := c.InfoMap(ctx, strings.ToLower(section)).Result()
		info = sections[section]
		return err
	})
	return info, err
}

// askSentinels reads what the sentinels that live know of the primary: most of them
// must.
func askSentinels(ctx context.Context, sentinels []*Process) (all []map[string]string, err error) {
	err = onEach(ctx, sentinels, func(_ *Process, c *redis.Client) error {
		said := redis.NewMapStringStringCmd(ctx, "SENTINEL", "MASTER", backend.DefaultMaster)
		err := c.Process(ctx, said)
		all = append(all, said.Val())
		return err
	})
	if err == nil && len(all) <= len(sentinels)/2 {
		err = errors.New("most of the sentinels are dead")
	}
	return all, err
}

// makeReplica has a Redis follow another.
func makeReplica(ctx context.Context, address, host, port string) error {
	return withRedis(ctx, address, func(c *redis.Client) error { return c.ReplicaOf(ctx, host, port).Err() })
}

// A replicated is a Redis primary with its replicas. Redis acknowledges a write before
// a replica has it.
type replicated struct {
	nodes    []*Process
	password string
}

// soonReplicated: by default a primary waits five seconds for more replicas.
var soonReplicated = []string{"--repl-diskless-sync", "no", "--repl-diskless-sync-delay", "0"}

// login sets the password with which a server that lives logs in to a primary.
func (r replicated) login(ctx context.Context, password string) error {
	return onEach(ctx, r.nodes, func(_ *Process, c *redis.Client) error {
		return c.ConfigSet(ctx, "masterauth", password).Err()
	})
}

// lag cuts the replicas off: they forget the primary's password, and the primary
// closes their connections. Sentinels still reach all of them.
func (r replicated) lag(ctx context.Context, primary *Process) error {
	if err := r.login(ctx, "no longer known"); err != nil {
		return err
	}
	return Await(ctx, answerLimit, func(ctx context.Context) error {
		return onEach(ctx, []*Process{primary}, func(_ *Process, c *redis.Client) error {
			closed, err := c.Do(ctx, "CLIENT", "KILL", "TYPE", "replica").Int()
			if err == nil && closed > 0 {
				err = fmt.Errorf("%d replicas still followed", closed)
			}
			return err
		})
	})
}

// follow has all others follow the primary, and waits until they have what it has.
func (r replicated) follow(ctx context.Context, primary *Process) error {
	if err := r.login(ctx, r.password); err != nil {
		return err
	}
	for _, p := range r.replicas(primary) {
		if err := makeReplica(ctx, p.Login(), "127.0.0.1", portOf(primary.Addr)); err != nil {
			return err
		}
	}
	return r.caughtUp(ctx, primary)
}

func (r replicated) replicas(primary *Process) []*Process {
	return slices.DeleteFunc(slices.Clone(r.nodes), func(p *Process) bool { return p == primary })
}

// caughtUp waits until the replicas have all that the primary has.
func (r replicated) caughtUp(ctx context.Context, primary *Process) error {
	return Await(ctx, answerLimit, func(ctx context.Context) error {
		of, err := askRedis(ctx, primary.Login(), "Replication")
		if err != nil {
			return err
		}
		for _, p := range r.replicas(primary) {
			by, err := askRedis(ctx, p.Login(), "Replication")
			if err != nil {
				return err
			}
			if by["master_link_status"] != "up" || by["master_port"] != portOf(primary.Addr) || by["slave_repl_offset"] != of["master_repl_offset"] {
				return fmt.Errorf("%s is %s and at %s, the primary at %s", p.Name, by["master_link_status"],
					by["slave_repl_offset"], of["master_repl_offset"])
			}
		}
		return nil
	})
}
