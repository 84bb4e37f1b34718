package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
)

func (l *Lab) startEtcd(ctx context.Context, program Program) ([]*Process, error) {
	member := filepath.Base(l.folder) // unique
	return l.launch(ctx, 1, 2, alone(server{
		name: backend.NameEtcd, backend: backend.NameEtcd,
		command: func(ports []int) (command, error) {
			return command{Env: l.serverEnv(), Dir: l.folder,
				Args: etcdArgs(program.Path, member, filepath.Join(l.folder, "etcd"), ports,
					member+"="+etcdURL(ports[1]))}, nil
		},
		check: func(ctx context.Context, addr string, _ int) (string, error) {
			return checkEtcd(ctx, addr, member)
		},
	}))
}

// etcdArgs are those of a cluster's member. A cluster of one listens for peers,
// too.
func etcdArgs(path, member, data string, ports []int, cluster string) []string {
	clients, peers := etcdURL(ports[0]), etcdURL(ports[1])
	return []string{path, "--name", member, "--data-dir", data,
		"--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
		"--initial-cluster", cluster}
}

func etcdURL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// checkEtcd fails unless the cluster has exactly these members.
func checkEtcd(ctx context.Context, addr string, members ...string) (version string, err error) {
	var cluster struct{ Members []struct{ Name string } }
	if err := askEtcd(ctx, http.MethodPost, addr+"/v3/cluster/member/list", "{}", &cluster); err != nil {
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
	return etcdVersion(ctx, addr)
}

// etcdVersion also asks whether the server is healthy: without a leader it
// answers but serves no requests.
func etcdVersion(ctx context.Context, endpoint string) (string, error) {
	var health struct{ Health string }
	if err := askEtcd(ctx, http.MethodGet, endpoint+"/health", "", &health); err != nil {
		return "", err
	}
	if health.Health != "true" {
		return "", errors.New("it says that it is not healthy")
	}
	var version struct{ EtcdServer string }
	if err := askEtcd(ctx, http.MethodGet, endpoint+"/version", "", &version); err != nil {
		return "", err
	}
	return "etcd " + version.EtcdServer, nil
}

// AskEtcd asks the gateway for gRPC and JSON of a server. What it refuses is an
// error.
func AskEtcd(ctx context.Context, url, body string, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return askEtcd(ctx, http.MethodPost, url, body, answer)
}

// askEtcd asks a server over HTTP, or its gateway for gRPC.
func askEtcd(ctx context.Context, method, url, body string, answer any) error {
	if !strings.Contains(url, "://") {
		url = "http://" + url
	}
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
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
		return fmt.Errorf("%s answers %s: %w", url, response.Status, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, response.Status, said)
	}
	return json.Unmarshal(said, answer)
}
