package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"seckill/internal/backend"
)

const three = 3

// addVoters starts three servers of a backend in place of one.
func (l *Lab) addVoters(ctx context.Context, k kind, program Program) (backend.Status, error) {
	e, err := k.voters(ctx, program, k.Name)
	if err == nil {
		_, err = e.Node(ctx, Leader)
	}
	if err != nil {
		return backend.Status{}, fmt.Errorf("start three servers of %s: %w", k.Title, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addGroup(k.Name, e)
	addrs := e.addrs()
	l.setPrivate(&l.config, k.Name, addrs...)
	name, version, _ := strings.Cut(e.Nodes[0].version, " ")
	return backend.Status{Name: k.Name, Tier: backend.Private, OK: true, Address: strings.Join(addrs, ","),
		Version: fmt.Sprintf("%s of %d, %s", name, len(addrs), version)}, nil
}

// ensembleOfVoters is the ensemble that runs in addition to the lab's server.
func (l *Lab) ensembleOfVoters(k kind) func(context.Context, Program) (*Ensemble, error) {
	return func(ctx context.Context, program Program) (*Ensemble, error) {
		return k.voters(ctx, program, ensembleOf(k.Name))
	}
}

// zookeeperThree are three ZooKeeper servers, as servers of a backend. Each has a
// port for clients, one for followers and one for elections.
func (l *Lab) zookeeperThree(ctx context.Context, program Program, of string) (*Ensemble, error) {
	nodes, err := l.launchAll(ctx, three, 3, func(ports [][]int) []server {
		config := "initLimit=20\nsyncLimit=10\n"
		for i, p := range ports {
			config += fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", i+1, p[1], p[2])
		}
		servers := make([]server, three)
		for i := range servers {
			servers[i] = l.zookeeperMember(program, of, i, config)
		}
		return servers
	})
	if err != nil {
		return nil, err
	}
	return &Ensemble{Nodes: nodes, Roles: []string{Leader, Follower},
		kind: &voters{nodes, zookeeperLeads}}, nil
}

func (l *Lab) zookeeperMember(program Program, of string, i int, ensemble string) server {
	name := member(backend.NameZooKeeper, i)
	home := filepath.Join(l.folder, name)
	return server{
		name: name, backend: of, ports: 3,
		command: func(ports []int) (command, error) {
			args := zookeeperArgs(program, home, "org.apache.zookeeper.server.quorum.QuorumPeerMain")
			c := command{Args: args, Env: l.serverEnv(), Dir: l.folder}
			if err := configureZooKeeper(home, ports[0], ensemble); err != nil {
				return c, err
			}
			return c, os.WriteFile(filepath.Join(home, "data", "myid"), fmt.Appendln(nil, i+1), 0o600)
		},
		check: func(ctx context.Context, addr string, _ int) (string, error) {
			return checkZooKeeper(ctx, addr, home)
		},
	}
}

func zookeeperLeads(ctx context.Context, p *Process) (bool, error) {
	answer, err := askZooKeeper(ctx, p.Addr, "srvr")
	return strings.Contains(answer, "Mode: leader"), err
}

// etcdThree are three etcd servers, as servers of a backend.
func (l *Lab) etcdThree(ctx context.Context, program Program, of string) (*Ensemble, error) {
	nodes, err := l.launchAll(ctx, three, 2, func(ports [][]int) []server {
		// The peers' ports make names unique to this attempt to start.
		var names, cluster []string
		for i, p := range ports {
			name := fmt.Sprintf("%s-%d-%d", filepath.Base(l.folder), i+1, p[1])
			names, cluster = append(names, name), append(cluster, name+"="+etcdURL(p[1]))
		}
		servers := make([]server, three)
		for i := range servers {
			servers[i] = l.etcdMember(program, of, i, names, strings.Join(cluster, ","))
		}
		return servers
	})
	if err != nil {
		return nil, err
	}
	return &Ensemble{Nodes: nodes, Roles: []string{Leader, Follower},
		kind: &voters{nodes, etcdLeads}}, nil
}

func (l *Lab) etcdMember(program Program, of string, i int, names []string, cluster string) server {
	return server{
		name: member(backend.NameEtcd, i), backend: of, ports: 2,
		command: func(ports []int) (command, error) {
			return command{Env: l.serverEnv(), Dir: l.folder,
				Args: etcdArgs(program.Path, names[i], filepath.Join(l.folder, names[i]), ports, cluster)}, nil
		},
		check: func(ctx context.Context, addr string, _ int) (string, error) {
			return checkEtcd(ctx, addr, names...)
		},
	}
}

func etcdLeads(ctx context.Context, p *Process) (bool, error) {
	var status struct {
		Header struct {
			Member string `json:"member_id"`
		}
		Leader string
	}
	if err := askEtcd(ctx, http.MethodPost, p.Addr+"/v3/maintenance/status", "{}", &status); err != nil {
		return false, err
	}
	if status.Leader == "" || status.Leader == "0" {
		return false, errors.New("it knows no leader")
	}
	return status.Leader == status.Header.Member, nil
}
