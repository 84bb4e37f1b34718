package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"seckill/internal/backend"
)

// etcdServers are the members of a cluster; one alone is a cluster, too.
func (l *Lab) etcdServers(ctx context.Context, program Program, n int) ([]*Process, error) {
	return l.launch(ctx, n, 2, func(i int, ports [][]int) server {
		// The peers' ports make names unique to this attempt to start.
		var names, cluster []string
		for i, p := range ports {
			name := fmt.Sprintf("%s-%d-%d", filepath.Base(l.folder), i+1, p[1])
			names, cluster = append(names, name), append(cluster, name+"="+etcdURL(p[1]))
		}
		return server{
			name: member(backend.NameEtcd, i, n), backend: backend.NameEtcd,
			command: func(ports []int) (*exec.Cmd, error) {
				clients, peers := etcdURL(ports[0]), etcdURL(ports[1])
				return l.command(program.Path, "--name", names[i], "--data-dir", filepath.Join(l.folder, names[i]),
					"--listen-client-urls", clients, "--advertise-client-urls", clients,
					"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
					"--initial-cluster", strings.Join(cluster, ",")), nil
			},
			check: func(ctx context.Context, addr string, _ int) (string, error) {
				return checkEtcd(ctx, addr, names...)
			},
		}
	})
}

func etcdLeads(ctx context.Context, p *Process) (bool, error) {
	var status struct {
		Header struct {
			Member string `json:"member_id"`
		}
		Leader string
	}
	if err := askEtcd(ctx, p.Addr+"/v3/maintenance/status", "{}", &status); err != nil {
		return false, err
	}
	if status.Leader == "" || status.Leader == "0" {
		return false, errors.New("it knows no leader")
	}
	return status.Leader == status.Header.Member, nil
}

func etcdURL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// checkEtcd fails unless the cluster has exactly these members.
func checkEtcd(ctx context.Context, addr string, members ...string) (version string, err error) {
	var cluster struct{ Members []struct{ Name string } }
	if err := askEtcd(ctx, addr+"/v3/cluster/member/list", "{}", &cluster); err != nil {
		return "", err
	}
	ours := len(cluster.Members) == len(members)
	for _, m := range cluster.Members {
		// A member that has not joined yet has no name.
		ours = ours && (m.Name == "" || slices.Contains(members, m.Name))
	}
	if !ours {
		return "", errors.New("another server has this port")
	}
	var health struct{ Health string } // without a leader a server answers but serves no requests
	if err := askEtcd(ctx, addr+"/health", "", &health); err != nil {
		return "", err
	}
	if health.Health != "true" {
		return "", errors.New("it says that it is not healthy")
	}
	var said struct{ EtcdServer string }
	err = askEtcd(ctx, addr+"/version", "", &said)
	return "etcd " + said.EtcdServer, err
}

// askEtcd asks a server at host:port/path over HTTP, or with a body its gateway for
// gRPC. What it refuses is an error.
func askEtcd(ctx context.Context, at, body string, answer any) error {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+at, strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var said json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		return fmt.Errorf("%s answers %s: %w", at, response.Status, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", at, response.Status, said)
	}
	return json.Unmarshal(said, answer)
}
