package lab

import (
	"cmp"
	"context"
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

// A galera is a cluster of three MariaDB servers, each of which accepts writes. A transaction runs at one node with
// the locks of that node. At COMMIT the node sends the transaction to all nodes, and all nodes receive transactions
// in the same order. If two transactions changed the same row, the nodes refuse the later one (error 1213).
//
// Services connect through relays, one for each node. If a node is dead, its relay points to another node.
type galera struct {
	lab    *Lab
	nodes  []*Process
	relays []*Relay
}

// galeraCopy is the script with which a server copies its data to another node. The server runs the script under the
// name "wsrep_sst_", followed by the value of --wsrep-sst-method.
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
	if err := l.prepareMySQL(ctx, l.mysqlServer(program, memberName(k.Name, 0, groupSize))); err != nil {
		return nil, err
	}
	g := &galera{lab: l}
	g.nodes, err = l.launchServers(ctx, groupSize, 3, func(i int, ports [][]int) server {
		return g.nodeServer(program, library.Path, i, ports)
	})
	if err != nil {
		return nil, err
	}
	for _, p := range g.nodes {
		relay, err := l.linkOf(linkKey{server: p.Name})
		if err != nil {
			return nil, err
		}
		g.relays = append(g.relays, relay)
	}
	return &Ensemble{Nodes: g.nodes, Roles: []string{AnyOne}, FindNode: g.firstSynced, setClients: g.setClients}, nil
}

// nodeServer describes a node. A node has three ports: for clients, for the cluster, and for receiving the data.
func (g *galera) nodeServer(program Program, library string, i int, ports [][]int) server {
	l, name := g.lab, memberName(backend.NameMySQL, i, groupSize)
	m := l.mysqlServer(program, name)
	s := l.mysqlProcess(m, name)
	var group []string
	for _, p := range ports {
		group = append(group, "127.0.0.1:"+strconv.Itoa(p[1]))
	}
	s.command = func(ports []int) (*exec.Cmd, error) {
		at := func(i int) string { return "127.0.0.1:" + strconv.Itoa(ports[i]) }
		args := append(m.serveArgs(ports[0]), "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
			"--wsrep-on=ON", "--wsrep-provider="+library, "--wsrep-cluster-name="+filepath.Base(l.folder),
			"--wsrep-cluster-address=gcomm://"+strings.Join(group, ","), "--wsrep-node-name="+name,
			"--wsrep-node-address="+at(1), "--wsrep-sst-method=seckill", "--wsrep-sst-receive-address="+at(2),
			"--wsrep-provider-options=base_host=127.0.0.1;base_port="+strconv.Itoa(ports[1])+
				";gmcast.listen_addr=tcp://"+at(1)+";ist.recv_addr="+at(2)+";gcache.size=64M")
		if i == 0 && g.nodes == nil { // the first node's first start makes the cluster and the accounts
			args = append(args, "--wsrep-new-cluster", "--init-file="+m.accountsFile())
		}
		cmd := l.newCommand(program.Path, args...)
		cmd.Env = append(cmd.Env, "PATH="+l.folder+string(os.PathListSeparator)+l.options.Host.Getenv("PATH"))
		accounts := []byte(m.accountStatements(l.password))
		return cmd, errors.Join(os.MkdirAll(m.data, 0o700), os.WriteFile(m.accountsFile(), accounts, 0o600))
	}
	s.ask = func(ctx context.Context, addr string) (string, bool, error) {
		version, leads, err := l.askMySQL(ctx, addr)
		return version, leads, cmp.Or(err, g.checkSynced(ctx, addr))
	}
	return s
}

// checkSynced returns nil if a node has received all data of the cluster and accepts statements.
func (g *galera) checkSynced(ctx context.Context, addr string) error {
	var state string
	err := g.lab.queryMySQL(ctx, addr, &state, "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS "+
		"WHERE VARIABLE_NAME = 'WSREP_LOCAL_STATE_COMMENT'")
	if err == nil && state != "Synced" {
		err = fmt.Errorf("the node is %s", state)
	}
	return err
}

// firstSynced returns the first synced node (see checkSynced). It points the relay of each synced node to that node,
// and every other relay to the first synced node.
func (g *galera) firstSynced(ctx context.Context, _ string) (first *Process, err error) {
	err = Await(ctx, electionTimeout, func(ctx context.Context) error {
		synced := make([]*Process, len(g.nodes))
		var errs []error
		first = nil
		for i, p := range g.nodes {
			if err := g.checkSynced(ctx, p.Addr); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", p.Name, err))
				continue
			}
			synced[i], first = p, cmp.Or(first, p)
		}
		if first == nil {
			return errors.Join(errs...)
		}
		for i, relay := range g.relays {
			relay.PointTo(cmp.Or(synced[i], first).Addr)
		}
		return nil
	})
	return first, err
}

// setClients gives clients the address of one node. A read waits until this node has all transactions that other nodes
// have committed. Otherwise the holder of a lock might not see what the previous holder wrote to another node.
func (g *galera) setClients(c *backend.Config, first *Process) {
	relay := g.relays[max(0, slices.Index(g.nodes, first))]
	c.MySQLDSN = g.lab.mysqlConfig(relay.Addr(), "seckill").FormatDSN() + "?wsrep_sync_wait=1"
}
