package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
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
			check: versionBy(askEtcd),
		}
	})
}

// askEtcd asks a member for its version, and whether it leads. One that knows no leader
// serves no requests.
func askEtcd(ctx context.Context, addr string) (version string, leads bool, err error) {
	var said struct {
		Header struct {
			Member string `json:"member_id"`
		}
		Version, Leader string
	}
	if err := ask(ctx, addr+"/v3/maintenance/status", "{}", &said); err != nil {
		return "", false, err
	}
	if said.Leader == "" || said.Leader == "0" {
		return "", false, errors.New("it knows no leader")
	}
	return "etcd " + said.Version, said.Leader == said.Header.Member, nil
}

func etcdURL(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

// client keeps no connection open: a server that stops would wait for it.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// ask asks a server at host:port/path over HTTP, by POST if there is a body; the answer is
// JSON. What it refuses is an error.
func ask(ctx context.Context, at, body string, answer any) error {
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
