package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"seckill/internal/backend"
)

// etcdServers starts the members of a cluster. A single member is a cluster, too.
func (l *Lab) etcdServers(ctx context.Context, program Program, n int) ([]*Process, error) {
	return l.launchServers(ctx, n, 2, func(i int, ports [][]int) server {
		// The names contain the peers' ports, so that they are unique to this attempt to start.
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
					// Any web page in a browser of this machine can send HTTP requests to etcd. So HTTP is off
					// where possible, and otherwise limited to this host name and origin.
					"--enable-grpc-gateway=false", "--host-whitelist", "127.0.0.1", "--cors", clients), nil
			},
			check: checkVersion(askEtcd),
		}
	})
}

// askEtcd asks a member for its version and whether it leads. A member that knows no leader is an error, because
// it serves no requests.
func askEtcd(ctx context.Context, addr string) (version string, leads bool, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr) // etcd's client would wait a second between two dials
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
