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

// redisServers starts n independent Redis servers.
func (l *Lab) redisServers(ctx context.Context, program Program, n int, name, backend string) ([]*Process, error) {
	return l.launchServers(ctx, n, 1, func(i int, _ [][]int) server {
		return l.redisServer(program, memberName(name, i, n), backend)
	})
}

// redisServer describes a Redis server that keeps nothing on disk, so that it is empty after a
// restart. Clients, replicas and the other nodes of a Cluster must log in with the lab's password.
func (l *Lab) redisServer(program Program, name, backend string, more ...string) server {
	return server{
		name: name, backend: backend,
		command: func(ports []int) (*exec.Cmd, error) {
			file := filepath.Join(l.folder, name+".conf") // the file contains the password; only this user can read it
			secrets := fmt.Sprintf("requirepass %[1]s\nmasterauth %[1]s\n", l.password)
			args := append([]string{file, "--port", strconv.Itoa(ports[0]), "--bind", "127.0.0.1",
				"--save", "", "--appendonly", "no", "--dbfilename", name + ".rdb"}, more...)
			return l.newCommand(program.Path, args...), os.WriteFile(file, []byte(secrets), 0o600)
		},
		ask: l.askRedis,
	}
}

// sentinelServer describes a sentinel that watches the primary at a port. A sentinel writes its state into its
// configuration file and reads it at a restart. The file's name contains the sentinel's own port. So a second attempt
// to start a sentinel, on another port, uses a new file. A primary counts as down after 2 s without an answer. A
// running primary answers sooner, even on a busy machine.
func (l *Lab) sentinelServer(program Program, name string, primary int) server {
	return server{
		name: name, backend: backend.NameRedis,
		command: func(ports []int) (*exec.Cmd, error) {
			file := filepath.Join(l.folder, fmt.Sprintf("%s-%d.conf", name, ports[0]))
			cmd := l.newCommand(program.Path, file, "--sentinel")
			if _, err := os.Stat(file); err == nil {
				return cmd, nil
			}
			text := fmt.Sprintf("port %[1]d\nbind 127.0.0.1\ndir %[2]q\nrequirepass %[3]s\n"+
				"sentinel monitor %[4]s 127.0.0.1 %[5]d 2\n"+
				"sentinel auth-pass %[4]s %[3]s\nsentinel down-after-milliseconds %[4]s 2000\n"+
				"sentinel failover-timeout %[4]s 6000\nsentinel parallel-syncs %[4]s 2\n",
				ports[0], l.folder, l.password, backend.DefaultMaster, primary)
			return cmd, os.WriteFile(file, []byte(text), 0o600)
		},
		ask: l.askRedis,
	}
}

func (l *Lab) askRedis(ctx context.Context, addr string) (version string, leads bool, err error) {
	err = withRedis(ctx, l.redisURL(addr), func(c *redis.Client) error {
		info, err := c.Info(ctx, "server").Result()
		version = backend.RedisVersion(info)
		return err
	})
	return version, false, err
}

// withRedis calls the function do with a client that has one connection. withRedis dials only once, so a caller that
// waits for a server must call withRedis again. It dials itself, because go-redis would log every failed dial.
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

func forEachAlive(ctx context.Context, servers []*Process, do func(*Process, *redis.Client) error) error {
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

// redisInfo returns one section of a server's answer to INFO, such as "Server".
func redisInfo(ctx context.Context, address, section string) (map[string]string, error) {
	var info map[string]string
	err := withRedis(ctx, address, func(c *redis.Client) error {
		sections, err := c.InfoMap(ctx, strings.ToLower(section)).Result()
		info = sections[section]
		return err
	})
	return info, err
}

// askSentinels returns each running sentinel's information about the primary. If no majority of the sentinels runs, it
// returns an error.
func askSentinels(ctx context.Context, sentinels []*Process) ([]map[string]string, error) {
	var all []map[string]string
	err := forEachAlive(ctx, sentinels, func(_ *Process, c *redis.Client) error {
		answer := redis.NewMapStringStringCmd(ctx, "SENTINEL", "MASTER", backend.DefaultMaster)
		err := c.Process(ctx, answer)
		all = append(all, answer.Val())
		return err
	})
	if err == nil && len(all) <= len(sentinels)/2 {
		err = errors.New("most of the sentinels are dead")
	}
	return all, err
}

// A replicated is a Redis primary with its replicas. The primary acknowledges a write before a replica has received it.
type replicated []*Process

// fastReplication makes a primary send its data to a replica at once. By default a primary waits five seconds for more
// replicas.
var fastReplication = []string{"--repl-diskless-sync", "no", "--repl-diskless-sync-delay", "0"}

// setPrimaryPassword sets on each running server the password with which it logs in to a primary.
func (r replicated) setPrimaryPassword(ctx context.Context, password string) error {
	return forEachAlive(ctx, r, func(_ *Process, c *redis.Client) error {
		return c.ConfigSet(ctx, "masterauth", password).Err()
	})
}

// disconnectReplicas gives the replicas a wrong password for the primary, and makes the primary close their
// connections. So the replicas cannot connect again. Sentinels still reach all servers.
func (r replicated) disconnectReplicas(ctx context.Context, primary *Process) error {
	if err := r.setPrimaryPassword(ctx, "no longer known"); err != nil {
		return err
	}
	return Await(ctx, answerTimeout, func(ctx context.Context) error {
		return forEachAlive(ctx, []*Process{primary}, func(_ *Process, c *redis.Client) error {
			closed, err := c.Do(ctx, "CLIENT", "KILL", "TYPE", "replica").Int()
			if err == nil && closed > 0 {
				err = fmt.Errorf("%d replicas still followed", closed)
			}
			return err
		})
	})
}

// followPrimary makes all other servers replicas of the primary, and waits until they have its data.
func (r replicated) followPrimary(ctx context.Context, primary *Process) error {
	if err := r.setPrimaryPassword(ctx, primary.lab.password); err != nil {
		return err
	}
	for _, p := range r.replicasOf(primary) {
		err := withRedis(ctx, p.Login(), func(c *redis.Client) error {
			return c.ReplicaOf(ctx, "127.0.0.1", strconv.Itoa(primary.ports[0])).Err()
		})
		if err != nil {
			return err
		}
	}
	return r.awaitReplicas(ctx, primary)
}

func (r replicated) replicasOf(primary *Process) []*Process {
	return slices.DeleteFunc(slices.Clone(r), func(p *Process) bool { return p == primary })
}

func (r replicated) awaitReplicas(ctx context.Context, primary *Process) error {
	return Await(ctx, answerTimeout, func(ctx context.Context) error {
		goal, err := redisInfo(ctx, primary.Login(), "Replication")
		if err != nil {
			return err
		}
		for _, p := range r.replicasOf(primary) {
			replica, err := redisInfo(ctx, p.Login(), "Replication")
			if err != nil {
				return err
			}
			status, offset := replica["master_link_status"], replica["slave_repl_offset"]
			end := goal["master_repl_offset"]
			if status != "up" || replica["master_port"] != strconv.Itoa(primary.ports[0]) || offset != end {
				return fmt.Errorf("%s is %s and at %s, the primary at %s", p.Name, status, offset, end)
			}
		}
		return nil
	})
}
