package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

func (l *Lab) redisServers(program Program) []server {
	return []server{l.redisServer(program, backend.NameRedis, backend.NameRedis)}
}

func (l *Lab) redlockServers(program Program) []server {
	nodes := make([]server, l.options.RedlockNodes)
	for i := range nodes {
		nodes[i] = l.redisServer(program, member(backend.NameRedlock, i), backend.NameRedlock)
	}
	return nodes
}

// redisServer keeps nothing on disk: after a restart it is empty. Clients,
// replicas and the other nodes of a Cluster need the lab's password.
func (l *Lab) redisServer(program Program, name, of string, more ...string) server {
	return server{
		name: name, backend: of, ports: 1, login: l.redisURL,
		command: func(ports []int) (command, error) {
			secrets, err := l.redisSecrets(name)
			return command{Env: l.serverEnv(), Dir: l.folder, Args: append([]string{program.Path, secrets,
				"--port", strconv.Itoa(ports[0]), "--bind", "127.0.0.1",
				"--save", "", "--appendonly", "no", "--dbfilename", name + ".rdb"}, more...)}, err
		},
		check: l.checkRedis,
	}
}

func (l *Lab) checkRedis(ctx context.Context, addr string, pid int) (version string, err error) {
	info, err := askRedis(ctx, l.redisURL(addr), "Server")
	if err == nil && info["process_id"] != strconv.Itoa(pid) {
		return "", errors.New("another server has this port")
	}
	return redisName(info), err
}

// redisSecrets writes the passwords to a configuration file of mode 0600 and
// returns its path. It is written at each start.
func (l *Lab) redisSecrets(name string) (file string, err error) {
	file = filepath.Join(l.folder, name+".conf")
	text := fmt.Sprintf("requirepass %[1]s\nmasterauth %[1]s\n", l.passwords.redis)
	return file, os.WriteFile(file, []byte(text), 0o600)
}

func redisVersion(ctx context.Context, address string) (string, error) {
	info, err := askRedis(ctx, address, "Server")
	return redisName(info), err
}

func redisName(info map[string]string) string {
	if v := info["valkey_version"]; v != "" {
		return "Valkey " + v
	}
	return "Redis " + info["redis_version"]
}

// withRedis opens one connection for do and dials once: a caller that waits for a
// server calls it again. go-redis would log every dial that fails, so it is given
// the open connection.
func withRedis(ctx context.Context, address string, do func(*redis.Client) error) error {
	a, err := backend.ParseRedis(address)
	if err != nil {
		return err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.Host)
	if err != nil {
		return err
	}
	defer conn.Close()
	o := a.Options()
	o.Dialer = func(context.Context, string, string) (net.Conn, error) { return conn, nil }
	o.DisableIdentity, o.ContextTimeoutEnabled, o.MaxRetries, o.PoolSize = true, true, -1, 1
	client := redis.NewClient(o)
	defer client.Close()
	return do(client)
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

// makeReplica has a Redis follow another; "NO", "ONE" makes it a primary.
func makeReplica(ctx context.Context, address, host, port string) error {
	err := withRedis(ctx, address, func(c *redis.Client) error { return c.ReplicaOf(ctx, host, port).Err() })
	if err != nil {
		return fmt.Errorf("have Redis at %s follow %s:%s: %w", backend.ShowAddresses([]string{address}), host, port, err)
	}
	return nil
}

// caughtUp waits until replicas that follow a port have all that the primary has.
func caughtUp(ctx context.Context, primary *Process, port string, replicas ...*Process) error {
	return await(ctx, answerLimit, func(ctx context.Context) error {
		of, err := askRedis(ctx, primary.Login(), "Replication")
		if err != nil {
			return err
		}
		for _, p := range replicas {
			by, err := askRedis(ctx, p.Login(), "Replication")
			if err != nil {
				return err
			}
			if by["master_link_status"] != "up" || by["master_port"] != port || by["slave_repl_offset"] != of["master_repl_offset"] {
				return fmt.Errorf("%s is %s and at %s, the primary at %s", p.Name, by["master_link_status"],
					by["slave_repl_offset"], of["master_repl_offset"])
			}
		}
		return nil
	})
}
