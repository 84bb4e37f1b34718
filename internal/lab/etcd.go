package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"seckill/internal/backend"
)

func (l *Lab) etcdServer(program Program) server {
	member := filepath.Base(l.folder) // a name that no stranger has
	return server{
		name: backend.NameEtcd, backend: backend.NameEtcd, ports: 2,
		command: func(ports []int) (command, error) {
			return command{Env: l.serverEnv(), Dir: l.folder,
				Args: etcdArgs(program.Path, member, filepath.Join(l.folder, "etcd"), ports)}, nil
		},
		check: func(ctx context.Context, addr string, _ int) (string, error) {
			var cluster struct{ Members []struct{ Name string } }
			if err := askEtcd(ctx, http.MethodPost, addr+"/v3/cluster/member/list", &cluster); err != nil {
				return "", err
			}
			if len(cluster.Members) != 1 || cluster.Members[0].Name != member {
				return "", errors.New("another server has this port")
			}
			return etcdVersion(ctx, addr)
		},
	}
}

// etcdArgs make a cluster of one, which listens for peers all the same.
func etcdArgs(path, member, data string, ports []int) []string {
	clients := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peers := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	return []string{path, "--name", member, "--data-dir", data,
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
		"--initial-cluster", member + "=" + peers}
}

// etcdVersion asks whether it is healthy too: before there is a leader it
// answers, but does nothing.
func etcdVersion(ctx context.Context, endpoint string) (string, error) {
	var health struct{ Health string }
	if err := askEtcd(ctx, http.MethodGet, endpoint+"/health", &health); err != nil {
		return "", err
	}
	if health.Health != "true" {
		return "", errors.New("it says that it is not healthy")
	}
	var version struct{ EtcdServer string }
	if err := askEtcd(ctx, http.MethodGet, endpoint+"/version", &version); err != nil {
		return "", err
	}
	return "etcd " + version.EtcdServer, nil
}

func askEtcd(ctx context.Context, method, url string, answer any) error {
	if !strings.Contains(url, "://") {
		url = "http://" + url
	}
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("%s answers %s: %w", url, response.Status, err)
	}
	return nil
}
