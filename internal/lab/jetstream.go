package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"seckill/internal/backend"
)

// NATS is a Go library, too: the lab's own program is the server, as a process of
// its own. What Debian 12 packages (2.9) cannot sync every message.

// jetstreamArg begins the one argument of such a process; its settings follow.
const jetstreamArg = "lab-jetstream:"

type jetstreamSettings struct {
	Name, Folder string
	Port         int
	// Volatile leaves messages in the system's memory for two minutes, as NATS
	// does by default; otherwise every message is synced before it is acknowledged.
	Volatile bool
}

func (l *Lab) jetstreamServers(program Program) []server {
	name := filepath.Base(l.folder) // unique
	return []server{{
		name: backend.NameJetStream, backend: backend.NameJetStream, ports: 1,
		command: func(ports []int) (command, error) {
			settings, err := json.Marshal(jetstreamSettings{Name: name, Port: ports[0], Volatile: l.options.Volatile,
				Folder: filepath.Join(l.folder, "jetstream")})
			return command{Env: l.serverEnv(), Dir: l.folder, Args: []string{program.Path, jetstreamArg + string(settings)}}, err
		},
		check: func(ctx context.Context, addr string, _ int) (string, error) {
			info, err := greeting(ctx, addr)
			if err == nil && info.ServerName != name {
				return "", errors.New("another server has this port")
			}
			return info.version(), err
		},
	}}
}

// runJetStream serves until the process is killed, and returns its exit status.
func runJetStream(arg string) int {
	var s jetstreamSettings
	if err := json.Unmarshal([]byte(strings.TrimPrefix(arg, jetstreamArg)), &s); err != nil {
		fmt.Fprintln(os.Stderr, "the settings of the JetStream server:", err)
		return 2
	}
	nats, err := natsserver.NewServer(&natsserver.Options{ServerName: s.Name, Host: "127.0.0.1", Port: s.Port, JetStream: true,
		StoreDir: s.Folder, SyncAlways: !s.Volatile})
	if err != nil {
		fmt.Fprintln(os.Stderr, "the JetStream server:", err)
		return 2
	}
	nats.ConfigureLogger()
	nats.Start()
	nats.WaitForShutdown()
	return 0
}

// A natsGreeting is the line that a NATS server begins every connection with.
type natsGreeting struct {
	ServerName string `json:"server_name"`
	Version    string `json:"version"`
	JetStream  bool   `json:"jetstream"`
}

func (g natsGreeting) version() string { return "NATS " + g.Version }

func greeting(ctx context.Context, addr string) (g natsGreeting, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return g, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	} else {
		conn.SetDeadline(time.Now().Add(checkLimit))
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return g, err
	}
	text, is := strings.CutPrefix(line, "INFO ")
	if !is || json.Unmarshal([]byte(text), &g) != nil {
		return g, errors.New("what answers there is not NATS")
	}
	if !g.JetStream {
		return g, errors.New("this NATS server has no JetStream: start it with -js")
	}
	return g, nil
}

func jetstreamVersion(ctx context.Context, address string) (string, error) {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		address = u.Host
	}
	info, err := greeting(ctx, address)
	return info.version(), err
}
