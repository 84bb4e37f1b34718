package lab

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"seckill/internal/backend"
)

// Galera: three MariaDB servers that all take writes. A transaction runs at one
// node with that node's locks; at COMMIT it is sent to all, in one order, and of
// two that changed the same row the second is refused (error 1213).
//
// Services come in by doors, one for each node, as by a proxy: a door whose node
// is dead leads to another.
type galera struct {
	lab   *Lab
	nodes []*Process
	doors []*Relay
}

// The server runs this script to bring a node's data to another, by the name wsrep_sst_
// with that of --wsrep-sst-method behind it.
//
//go:embed galera_copy.sh
var galeraCopy []byte

func (l *Lab) startGalera(ctx context.Context, k kind, program Program) (_ *Ensemble, err error) {
	library := l.programs[GaleraLibrary]
	switch {
	case !isMariaDB(program.Path):
		return nil, fmt.Errorf("it needs MariaDB, and %s is MySQL", program.Path)
	case !library.Found():
		return nil, errors.New(library.Missing())
	}
	if err := os.WriteFile(filepath.Join(l.folder, "wsrep_sst_seckill"), galeraCopy, 0o700); err != nil {
		return nil, err
	}
	if err := l.prepareMySQL(ctx, l.mysqlServer(program, memberName(k.Name, 0, three))); err != nil {
		return nil, err
	}
	g := &galera{lab: l}
	g.nodes, err = l.launchServers(ctx, three, 3, func(i int, ports [][]int) server {
		return g.server(program, library.Path, i, ports)
	})
	if err != nil {
		return nil, err
	}
	for range three {
		door, err := l.newRelay()
		if err != nil {
			return nil, err
		}
		g.doors = append(g.doors, door)
	}
	return &Ensemble{Nodes: g.nodes, Roles: []string{AnyOne}, Node: g.node, heal: g.heal,
		configure: func(c *backend.Config, first *Process) { c.MySQLDSN = g.dsn(max(0, slices.Index(g.nodes, first))) }}, g.heal(ctx)
}

// server is a node. Its ports are those of clients, of the group, and of what a
// node has missed.
func (g *galera) server(program Program, library string, i int, ports [][]int) server {
	l, name := g.lab, memberName(backend.NameMySQL, i, three)
	m := l.mysqlServer(program, name)
	s := l.ofMySQL(m, name)
	var group []string
	for _, p := range ports {
		group = append(group, "127.0.0.1:"+strconv.Itoa(p[1]))
	}
	s.command = func(ports []int) (*exec.Cmd, error) {
		at := func(i int) string { return "127.0.0.1:" + strconv.Itoa(ports[i]) }
		args := append(m.serveArgs(ports[0]), "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--wsrep-on=ON", "--wsrep-provider="+library,
			"--wsrep-cluster-name="+filepath.Base(l.folder), "--wsrep-cluster-address=gcomm://"+strings.Join(group, ","),
			"--wsrep-node-name="+name, "--wsrep-node-address="+at(1), "--wsrep-sst-method=seckill", "--wsrep-sst-receive-address="+at(2),
			"--wsrep-provider-options=base_host=127.0.0.1;base_port="+strconv.Itoa(ports[1])+
				";gmcast.listen_addr=tcp://"+at(1)+";ist.recv_addr="+at(2)+";gcache.size=64M")
		if i == 0 && g.nodes == nil { // it makes the cluster, and the accounts, which the others copy
			args = append(args, "--wsrep-new-cluster", "--init-file="+m.accountsFile())
		}
		cmd := l.newCommand(program.Path, args...)
		cmd.Env = append(cmd.Env, "PATH="+l.folder+string(os.PathListSeparator)+l.options.Host.Getenv("PATH"))
		return cmd, errors.Join(os.MkdirAll(m.data, 0o700), os.WriteFile(m.accountsFile(), []byte(m.accountStatements(l.passwords.mysql)), 0o600))
	}
	answers := s.check
	s.check = func(ctx context.Context, addr string) (string, error) {
		version, err := answers(ctx, addr)
		return version, cmp.Or(err, g.synced(ctx, addr))
	}
	return s
}

// synced: the node has what the others have, and takes statements.
func (g *galera) synced(ctx context.Context, addr string) error {
	var state string
	err := onMySQL(ctx, g.lab.mysqlDSN(addr, ""), func(db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'WSREP_LOCAL_STATE_COMMENT'").Scan(&state)
	})
	if err == nil && state != "Synced" {
		err = fmt.Errorf("the node is %s", state)
	}
	return err
}

// node is the first that is in the cluster. A door whose node is not leads there.
func (g *galera) node(ctx context.Context, _ string) (first *Process, err error) {
	err = Await(ctx, elected, func(ctx context.Context) error {
		in := make([]*Process, len(g.nodes))
		var errs []error
		first = nil
		for i, p := range g.nodes {
			if err := g.synced(ctx, p.Addr); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", p.Name, err))
				continue
			}
			in[i], first = p, cmp.Or(first, p)
		}
		if first == nil {
			return errors.Join(errs...)
		}
		for i, door := range g.doors {
			door.Point(cmp.Or(in[i], first).Addr)
		}
		return nil
	})
	return first, err
}

// heal leads every door to its own node: one that was started again is in the cluster.
func (g *galera) heal(ctx context.Context) error {
	_, err := g.node(ctx, AnyOne)
	return err
}

// dsn leads to a node. A read waits until the node has what others had committed
// before: without that, a buyer who has the lock may read the stock as it was before
// the last holder's write.
func (g *galera) dsn(i int) string {
	return g.lab.mysqlDSN(g.doors[i].Addr(), "seckill") + "?wsrep_sync_wait=1"
}
