package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"seckill/internal/backend"
)

// Voters are three servers that elect a leader.
type voters struct {
	nodes []*Process
	leads func(ctx context.Context, p *Process) (bool, error)
}

// elected bounds the wait for an election.
const elected = 20 * time.Second

// elect starts the ensemble of a backend, and returns when it has a leader.
func (l *Lab) elect(ctx context.Context, k kind, program Program) (*Ensemble, error) {
	e, err := k.ensemble(ctx, program, k.Name)
	if err == nil {
		_, err = e.Leader(ctx)
	}
	return e, err
}

// voters starts three.
func (l *Lab) voters(ctx context.Context, leads func(context.Context, *Process) (bool, error), ports int, build func(int, [][]int) server) (*Ensemble, error) {
	nodes, err := l.launch(ctx, three, ports, build)
	v := &voters{nodes, leads}
	return &Ensemble{Nodes: nodes, Roles: []string{Leader, Follower}, node: v.node, heal: func(ctx context.Context) error {
		_, err := v.leader(ctx)
		return err
	}}, err
}

func (v *voters) node(ctx context.Context, role string) (*Process, error) {
	leader, err := v.leader(ctx)
	if err != nil || role == Leader {
		return leader, err
	}
	i := slices.IndexFunc(v.nodes, func(p *Process) bool { return p != leader && p.Alive() })
	if i < 0 {
		return nil, errors.New("the leader has no follower")
	}
	return v.nodes[i], nil
}

// leader waits until there is one.
func (v *voters) leader(ctx context.Context) (leader *Process, err error) {
	err = await(ctx, elected, func(ctx context.Context) error {
		leader = nil
		var errs []error
		for _, p := range v.nodes {
			leads, err := v.leads(ctx, p)
			if leads {
				leader = p
			}
			errs = append(errs, err)
		}
		if leader == nil {
			return errors.Join(append(errs, errors.New("there is no leader"))...)
		}
		return nil
	})
	return leader, err
}

// zookeeperThree are three ZooKeeper servers, as servers of a backend. Each has a
// port for clients, one for followers and one for elections.
func (l *Lab) zookeeperThree(ctx context.Context, program Program, of string) (*Ensemble, error) {
	return l.voters(ctx, zookeeperLeads, 3, func(i int, ports [][]int) server {
		config := "initLimit=20\nsyncLimit=10\n"
		for i, p := range ports {
			config += fmt.Sprintf("server.%d=127.0.0.1:%d:%d\n", i+1, p[1], p[2])
		}
		name := member(backend.NameZooKeeper, i)
		home := filepath.Join(l.folder, name)
		return server{
			name: name, backend: of,
			command: func(ports []int) (command, error) {
				args := zookeeperArgs(program, home, "org.apache.zookeeper.server.quorum.QuorumPeerMain")
				c := command{Args: args, Env: l.serverEnv(), Dir: l.folder}
				if err := configureZooKeeper(home, ports[0], config); err != nil {
					return c, err
				}
				return c, os.WriteFile(filepath.Join(home, "data", "myid"), fmt.Appendln(nil, i+1), 0o600)
			},
			check: func(ctx context.Context, addr string, _ int) (string, error) {
				return checkZooKeeper(ctx, addr, home)
			},
		}
	})
}

func zookeeperLeads(ctx context.Context, p *Process) (bool, error) {
	answer, err := askZooKeeper(ctx, p.Addr, "srvr")
	return strings.Contains(answer, "Mode: leader"), err
}

// etcdThree are three etcd servers, as servers of a backend.
func (l *Lab) etcdThree(ctx context.Context, program Program, of string) (*Ensemble, error) {
	return l.voters(ctx, etcdLeads, 2, func(i int, ports [][]int) server {
		// The peers' ports make names unique to this attempt to start.
		var names, cluster []string
		for i, p := range ports {
			name := fmt.Sprintf("%s-%d-%d", filepath.Base(l.folder), i+1, p[1])
			names, cluster = append(names, name), append(cluster, name+"="+etcdURL(p[1]))
		}
		return server{
			name: member(backend.NameEtcd, i), backend: of,
			command: func(ports []int) (command, error) {
				return command{Env: l.serverEnv(), Dir: l.folder, Args: etcdArgs(program.Path, names[i],
					filepath.Join(l.folder, names[i]), ports, strings.Join(cluster, ","))}, nil
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
	if err := askEtcd(ctx, http.MethodPost, p.Addr+"/v3/maintenance/status", "{}", &status); err != nil {
		return false, err
	}
	if status.Leader == "" || status.Leader == "0" {
		return false, errors.New("it knows no leader")
	}
	return status.Leader == status.Header.Member, nil
}
