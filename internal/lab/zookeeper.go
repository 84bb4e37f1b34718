package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"seckill/internal/backend"
)

func (l *Lab) startZooKeeper(ctx context.Context, program Program) ([]*Process, error) {
	home := filepath.Join(l.folder, "zookeeper")
	return l.launch(ctx, 1, 1, alone(server{
		name: backend.NameZooKeeper, backend: backend.NameZooKeeper,
		command: func(ports []int) (command, error) {
			args := zookeeperArgs(program, home, "org.apache.zookeeper.server.ZooKeeperServerMain")
			return command{Args: args, Env: l.serverEnv(), Dir: l.folder}, configureZooKeeper(home, ports[0])
		},
		check: func(ctx context.Context, addr string, _ int) (string, error) {
			return checkZooKeeper(ctx, addr, home)
		},
	}))
}

// checkZooKeeper fails while a server waits for the rest of its ensemble, and so
// has no version.
func checkZooKeeper(ctx context.Context, addr, home string) (version string, err error) {
	conf, err := askZooKeeper(ctx, addr, "conf")
	if err != nil {
		return "", err
	}
	if version, err = zookeeperVersion(ctx, addr); err == nil && !strings.Contains(conf, home) {
		return "", errors.New("another server has this port")
	}
	return version, err
}

// zookeeperArgs start a server's main class without zkServer.sh, which Debian's
// jars do not have.
func zookeeperArgs(program Program, home, class string) []string {
	return []string{program.Java,
		"-Xmx256m", "-XX:+UseSerialGC",
		"-XX:TieredStopAtLevel=1", "-Xshare:auto", // starts faster, runs slower
		"-XX:-UsePerfData",                     // which would leave a file in /tmp
		"-Dzookeeper.admin.enableServer=false", // which would take port 8080
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
4lw.commands.whitelist=ruok,srvr,conf,stat,mntr,cons
`

// Releases differ in their logger. Each reads its own file.
var zookeeperLogging = map[string]string{
	"logback.xml": `<configuration><appender name="out" class="ch.qos.logback.core.ConsoleAppender">
<encoder><pattern>%d %p %c: %m%n</pattern></encoder></appender>
<root level="INFO"><appender-ref ref="out"/></root></configuration>
`,
	"log4j.properties": `log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c: %m%n
`,
}

// configureZooKeeper writes a server's files; more is added to its configuration.
func configureZooKeeper(home string, port int, more ...string) error {
	data := filepath.Join(home, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	files := map[string]string{"zoo.cfg": fmt.Sprintf(zookeeperConfig, filepath.ToSlash(data), port) +
		strings.Join(more, "")}
	for name, text := range zookeeperLogging {
		files[name] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

var zookeeperSays = regexp.MustCompile(`version: (\d[\d.]*)`)

func zookeeperVersion(ctx context.Context, addr string) (string, error) {
	answer, err := askZooKeeper(ctx, addr, "srvr")
	if err != nil {
		return "", err
	}
	version := zookeeperSays.FindStringSubmatch(answer)
	if version == nil {
		return "", fmt.Errorf("srvr says %q", strings.TrimSpace(answer))
	}
	return "ZooKeeper " + version[1], nil
}

// askZooKeeper sends one of the four-letter words on a connection of its own.
func askZooKeeper(ctx context.Context, addr, word string) (string, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}
