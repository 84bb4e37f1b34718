package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"seckill/internal/backend"
	"seckill/internal/zkclient"
)

// electionTimeout bounds the wait for an election.
const electionTimeout = 20 * time.Second

// startVoters starts three servers, which elect a leader.
func (l *Lab) startVoters(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	nodes, err := k.start(ctx, program, groupSize)
	findNode := func(ctx context.Context, role string) (found *Process, err error) {
		err = Await(ctx, electionTimeout, func(ctx context.Context) error {
			first := map[string]*Process{} // by role
			var errs []error
			for _, p := range nodes {
				_, leads, err := p.server.ask(ctx, p.Addr)
				errs = append(errs, err)
				switch {
				case leads:
					first[Leader] = p
				case p.Alive():
					first[Follower] = cmp.Or(first[Follower], p)
				}
			}
			if found = first[role]; found == nil || first[Leader] == nil {
				return errors.Join(append(errs, fmt.Errorf("there is no leader, or no %s", role))...)
			}
			return nil
		})
		return found, err
	}
	return &Ensemble{Nodes: nodes, Roles: []string{Leader, Follower}, FindNode: findNode}, err
}

// etcdServers starts the members of a cluster. A single member is a cluster, too.
func (l *Lab) etcdServers(ctx context.Context, program Program, n int) ([]*Process, error) {
	return l.launchServers(ctx, n, 2, func(i int, ports [][]int) server {
		// A member's name is also the name of its data folder. The name contains the port. So a second attempt, with
		// other ports, starts without the data of the first.
		var names, cluster []string
		for i, p := range ports {
			name := fmt.Sprintf("%s-%d-%d", filepath.Base(l.folder), i+1, p[1])
			names, cluster = append(names, name), append(cluster, name+"="+etcdURL(p[1]))
		}
		return server{
			name: memberName(backend.NameEtcd, i, n), backend: backend.NameEtcd,
			command: func(ports []int) (*exec.Cmd, error) {
				clients, peers := etcdURL(ports[0]), etcdURL(ports[1])
				return l.newCommand(program.Path, "--name", names[i], "--data-dir", filepath.Join(l.folder, names[i]),
					"--listen-client-urls", clients, "--advertise-client-urls", clients,
					"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
					"--initial-cluster", strings.Join(cluster, ","),
					// Any web page in a browser of this machine can send HTTP requests to etcd. So the HTTP
					// gateway is off, and other HTTP requests are limited to this host name and origin.
					"--enable-grpc-gateway=false", "--host-whitelist", "127.0.0.1", "--cors", clients), nil
			},
			ask: askEtcd,
		}
	})
}

// askEtcd asks a member for its version and whether it is the leader. If the member knows no leader, askEtcd returns an
// error, because such a member answers no requests of clients.
func askEtcd(ctx context.Context, addr string) (version string, leads bool, err error) {
	// If the member is down, this dial fails at once and the caller can ask again. etcd's client would wait a second.
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", false, err
	}
	conn.Close()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Logger: zap.NewNop()})
	if err != nil {
		return "", false, err
	}
	defer c.Close()
	status, err := c.Status(ctx, addr)
	switch {
	case err != nil:
		return "", false, err
	case status.Leader == 0:
		return "", false, errors.New("it knows no leader")
	}
	return "etcd " + status.Version, status.Leader == status.Header.MemberId, nil
}

func etcdURL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// zookeeperServers starts n servers. If n > 1, they elect a leader. Each server has a port for clients, a port for
// followers and a port for elections.
func (l *Lab) zookeeperServers(ctx context.Context, program Program, n int) ([]*Process, error) {
	return l.launchServers(ctx, n, 3, func(i int, ports [][]int) server {
		config := "initLimit=20\nsyncLimit=10\n"
		for i, p := range ports { // if this line is the only one, ZooKeeper ignores it
			config += fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", i+1, p[1], p[2])
		}
		name := memberName(backend.NameZooKeeper, i, n)
		home := filepath.Join(l.folder, name)
		return server{
			name: name, backend: backend.NameZooKeeper,
			command: func(ports []int) (*exec.Cmd, error) {
				cmd := l.newCommand(program.Java, l.zookeeperArgs(program, home)...)
				return cmd, configureZooKeeper(home, ports[0], i+1, config)
			},
			ask: zkclient.AskServer,
		}
	})
}

// zookeeperArgs returns the arguments with which Java runs the main class of a server. The lab does not use
// zkServer.sh, because Debian's package with the jars does not contain it.
func (l *Lab) zookeeperArgs(program Program, home string) []string {
	sync := "yes"
	if l.options.Volatile {
		sync = "no"
	}
	return []string{
		"-Dzookeeper.forceSync=" + sync,
		"-Xmx256m", "-XX:+UseSerialGC",
		"-XX:TieredStopAtLevel=1", "-Xshare:auto", // starts faster, runs slower
		"-XX:-UsePerfData",                     // leaves no file in /tmp
		"-Dzookeeper.admin.enableServer=false", // does not use port 8080
		"-Dzookeeper.jmx.log4j.disable=true",
		"-Djava.net.preferIPv4Stack=true",
		"-cp", home + string(os.PathListSeparator) + program.Classpath,
		"org.apache.zookeeper.server.quorum.QuorumPeerMain", filepath.Join(home, "zoo.cfg")}
}

// The timeout of a session can be 2 to 20 ticks, which are 1 to 10 seconds.
const zookeeperConfig = `tickTime=500
dataDir=%s
clientPort=%d
clientPortAddress=127.0.0.1
maxClientCnxns=0
`

// zookeeperLogging keeps debug messages out of the log. Debian's server ignores this file.
const zookeeperLogging = `<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %p %c: %m%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="out"/></root></configuration>
`

// configureZooKeeper writes a server's files. It appends the parameter more to the configuration.
func configureZooKeeper(home string, port, id int, more string) error {
	data := filepath.Join(home, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	for name, text := range map[string]string{"zoo.cfg": fmt.Sprintf(zookeeperConfig, data, port) + more,
		"data/myid": fmt.Sprintln(id), "logback.xml": zookeeperLogging} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}
