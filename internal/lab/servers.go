package lab

import (
	"fmt"
	"os"
	"runtime"

	"seckill/internal/backend"
)

// servers are the processes that make up a backend.
func (l *Lab) servers(name string, program Program) []server {
	switch name {
	case backend.NameMySQL:
		return []server{l.mysqlServer(program)}
	case backend.NameRedis:
		return []server{l.redisServer(program, name, name)}
	case backend.NameRedlock:
		nodes := make([]server, l.options.RedlockNodes)
		for i := range nodes {
			nodes[i] = l.redisServer(program, fmt.Sprintf("%s-%d", name, i+1), name)
		}
		return nodes
	case backend.NameZooKeeper:
		return []server{l.zookeeperServer(program)}
	case backend.NameEtcd:
		return []server{l.etcdServer(program)}
	}
	panic("no servers for " + name) // Programs.For knows as many names
}

// serverEnv is small, so that nobody's ETCD_…, MYSQL_… or JAVA_TOOL_OPTIONS
// changes a private server; its temporary files are in the lab's folder.
func (l *Lab) serverEnv() []string {
	env := []string{"LC_ALL=C", "HOME=" + l.folder, "TMPDIR=" + l.folder,
		"ETCD_UNSUPPORTED_ARCH=" + runtime.GOARCH} // else etcd 3.4 refuses ARM
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SystemRoot"} {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}
