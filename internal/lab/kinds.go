package lab

import (
	"context"
	"fmt"
	"runtime"

	"seckill/internal/backend"
)

// A kind says how the lab provides one of backend.Kinds.
type kind struct {
	backend.Kind
	tool Tool // the program it runs on
	// start starts a private one.
	start func(context.Context, Program) ([]*Process, error)
	// embedded starts an engine in this process; nil: there is none.
	embedded func(context.Context) (backend.Status, error)
	// ensemble starts servers of which one can be lost, as servers of a backend; nil:
	// there is none.
	ensemble func(ctx context.Context, program Program, of string) (*Ensemble, error)
	// version asks a server at an address of the form of the flags.
	version func(ctx context.Context, address string) (string, error)
	// address is that form of a private server's host:port; nil: the same.
	address func(addr string) string
}

// makeKinds is the lab's one table of backends.
func (l *Lab) makeKinds() map[string]kind {
	all := map[string]kind{
		backend.NameMySQL: {tool: MariaDB, start: l.startMySQL, embedded: l.addSQLite,
			version: mysqlVersion, address: func(addr string) string { return l.mysqlDSN(addr, "seckill") }},
		backend.NameRedis: {tool: Redis, start: l.startRedis, embedded: l.addMiniredis,
			ensemble: l.redisPair, version: redisVersion, address: l.redisURL},
		backend.NameRedlock: {tool: Redis, start: l.startRedlock,
			ensemble: l.redisFive, version: redisVersion, address: l.redisURL},
		backend.NameZooKeeper: {tool: ZooKeeper, start: l.startZooKeeper,
			ensemble: l.zookeeperThree, version: zookeeperVersion},
		backend.NameEtcd: {tool: Etcd, start: l.startEtcd,
			ensemble: l.etcdThree, version: etcdVersion},
	}
	for name, k := range all {
		k.Kind, _ = backend.KindNamed(name)
		if l.options.Given.SQLitePath != "" && name == backend.NameMySQL {
			k.version = sqliteVersion
		}
		all[name] = k
	}
	return all
}

func (l *Lab) kindNamed(name string) (kind, error) {
	k, known := l.kinds[name]
	if !known {
		return kind{}, fmt.Errorf("no backend is called %q: choose from %v", name, backend.Names())
	}
	return k, nil
}

// setPrivate enters the lab's own servers into a configuration.
func (l *Lab) setPrivate(c *backend.Config, name string, addrs ...string) {
	k := l.kinds[name]
	addresses := make([]string, len(addrs))
	for i, addr := range addrs {
		if addresses[i] = addr; k.address != nil {
			addresses[i] = k.address(addr)
		}
	}
	k.Set(c, addresses...)
}

// serverEnv is small, so that no ETCD_…, MYSQL_… or JAVA_TOOL_OPTIONS of the
// user changes a private server. Its temporary files are in the lab's folder.
func (l *Lab) serverEnv() []string {
	env := []string{"LC_ALL=C", "HOME=" + l.folder, "TMPDIR=" + l.folder,
		"ETCD_UNSUPPORTED_ARCH=" + runtime.GOARCH} // otherwise etcd 3.4 refuses ARM
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value := l.options.Host.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
