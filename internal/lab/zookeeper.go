package lab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"seckill/internal/backend"
	"seckill/internal/zkclient"
)

// zookeeperServers starts servers, which vote if there are several. Each has a port for clients, one for followers
// and one for elections.
func (l *Lab) zookeeperServers(ctx context.Context, program Program, n int) ([]*Process, error) {
	return l.launchServers(ctx, n, 3, func(i int, ports [][]int) server {
		class, config := "org.apache.zookeeper.server.ZooKeeperServerMain", ""
		if n > 1 {
			class, config = "org.apache.zookeeper.server.quorum.QuorumPeerMain", "initLimit=20\nsyncLimit=10\n"
			for i, p := range ports {
				config += fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", i+1, p[1], p[2])
			}
		}
		name := memberName(backend.NameZooKeeper, i, n)
		home := filepath.Join(l.folder, name)
		return server{
			name: name, backend: backend.NameZooKeeper,
			command: func(ports []int) (*exec.Cmd, error) {
				cmd := l.newCommand(program.Java, l.zookeeperArgs(program, home, class)...)
				return cmd, configureZooKeeper(home, ports[0], i+1, config)
			},
			check: checkVersion(zkclient.AskServer),
		}
	})
}

// zookeeperArgs returns Java's arguments for the main class of a server. zkServer.sh is not used, because Debian's
// package of the jars lacks it.
func (l *Lab) zookeeperArgs(program Program, home, class string) []string {
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
		class, filepath.Join(home, "zoo.cfg")}
}

// Sessions live between 2 and 20 ticks: 1 to 10 seconds.
const zookeeperConfig = `tickTime=500
dataDir=%s
clientPort=%d
clientPortAddress=127.0.0.1
maxClientCnxns=0
`

// zookeeperLogging limits the log, which would have all details. Debian's server ignores it.
const zookeeperLogging = `<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %p %c: %m%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="out"/></root></configuration>
`

// configureZooKeeper writes a server's files. It appends more to the configuration.
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
