package lab

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
)

// A MariaDB with a replica: the primary acknowledges a COMMIT before the replica
// has it. Clients come in by a door that leads to the primary. Nothing is read at
// the replica: it is there to take over.
type mysqlPair struct {
	lab     *Lab
	nodes   []*Process
	primary *Process
	door    *relay
}

// replicationUser follows the primary.
const replicationUser = "replica"

func (l *Lab) addReplica(ctx context.Context, program Program) (backend.Status, error) {
	if !isMariaDB(program.Path) {
		return backend.Status{}, fmt.Errorf("topology %s needs MariaDB, and %s is MySQL", Replica, program.Path)
	}
	r := &mysqlPair{lab: l}
	if err := r.start(ctx, program); err != nil {
		return backend.Status{}, errors.Join(fmt.Errorf("start MariaDB and a replica: %w", err), r.door.Close())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closers = append(l.closers, r.door.Close)
	l.addGroup(backend.NameMySQL, &Ensemble{Nodes: r.nodes, Roles: []string{Primary}, kind: r})
	r.configure(&l.config)
	return backend.Status{Name: backend.NameMySQL, Tier: backend.Private, OK: true, Address: r.door.Addr(),
		Version: r.primary.version + " with a replica"}, nil
}

func (r *mysqlPair) start(ctx context.Context, program Program) (err error) {
	if r.door, err = r.lab.door(); err != nil {
		return err
	}
	const n = 2
	for i := range n {
		if err := r.lab.prepareMySQL(ctx, r.server(program, i)); err != nil {
			return err
		}
	}
	r.nodes, err = r.lab.launchAll(ctx, n, 1, func([][]int) []server {
		all := make([]server, n)
		for i := range all {
			all[i] = r.process(program, i)
		}
		return all
	})
	if err != nil {
		return err
	}
	if err := r.promote(ctx, r.nodes[0]); err != nil {
		return err
	}
	return r.heal(ctx)
}

// server is the i-th. Both write logs from which another can follow them.
func (r *mysqlPair) server(program Program, i int) mysqlServer {
	m := r.lab.mysqlServer(program, member(backend.NameMySQL, i))
	// Each makes its own accounts.
	m.before = "SET SESSION sql_log_bin = 0;\n" + fmt.Sprintf(
		"CREATE USER IF NOT EXISTS '%[1]s'@'127.0.0.1' IDENTIFIED BY '%[2]s';\nGRANT REPLICATION SLAVE ON *.* TO '%[1]s'@'127.0.0.1';\n",
		replicationUser, r.lab.passwords.mysql)
	return m
}

// process is read-only until it is promoted, so that a primary that comes back
// takes no order.
func (r *mysqlPair) process(program Program, i int) server {
	m, id := r.server(program, i), i+1
	s := r.lab.ofMySQL(m, member(backend.NameMySQL, i))
	plain := s.command
	s.command = func(ports []int) (command, error) {
		c, err := plain(ports)
		c.Args = append(c.Args, "--log-bin=binlog", "--sync-binlog=1", "--binlog-format=ROW", "--log-slave-updates=ON",
			"--server-id="+fmt.Sprint(id), "--relay-log=relay", "--skip-slave-start", "--read-only=ON")
		return c, err
	}
	// What a primary wrote and did not replicate would stay in it for ever.
	// A server that begins anew has another number: it would leave out what it finds
	// in the log under its own.
	s.prepare = func(ctx context.Context) error {
		id += len(r.nodes)
		return r.lab.prepareMySQL(ctx, m)
	}
	return s
}

// admin runs statements as the administrator.
func (r *mysqlPair) admin(ctx context.Context, p *Process, statements ...string) error {
	return onMySQL(ctx, p.AdminDSN(), func(c sqlConn) error {
		for _, s := range statements {
			if _, err := c.ExecContext(ctx, s); err != nil {
				return fmt.Errorf("%s: %s: %w", p.Name, strings.Fields(s)[0], err)
			}
		}
		return nil
	})
}

// promote makes a server the primary, with what it has.
func (r *mysqlPair) promote(ctx context.Context, p *Process) error {
	if err := r.admin(ctx, p, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = OFF"); err != nil {
		return err
	}
	r.primary = p
	r.door.Point(p.Addr)
	return nil
}

func (r *mysqlPair) replica() *Process {
	return r.nodes[slices.IndexFunc(r.nodes, func(p *Process) bool { return p != r.primary })]
}

func (r *mysqlPair) node(context.Context, string) (*Process, error) { return r.primary, nil }

func (r *mysqlPair) goOn() bool { return r.primary.Alive() }

func (r *mysqlPair) configure(c *backend.Config) {
	c.MySQLDSN = r.lab.mysqlDSN(r.door.Addr(), "seckill")
}

// lag stops replication once the replica has all there is.
func (r *mysqlPair) lag(ctx context.Context) error {
	if err := r.caughtUp(ctx); err != nil {
		return err
	}
	return r.admin(ctx, r.replica(), "STOP SLAVE")
}

// failOver has the replica take over. What it lacks is lost.
func (r *mysqlPair) failOver(ctx context.Context) error { return r.promote(ctx, r.replica()) }

// heal has the other server follow the primary. One that was primary before may
// have what the new one never got: it begins anew.
func (r *mysqlPair) heal(ctx context.Context) error {
	p := r.replica()
	follows := r.admin(ctx, p, "START SLAVE") == nil
	if !follows {
		if err := r.anew(ctx, p); err != nil {
			return err
		}
	}
	return r.caughtUp(ctx)
}

// anew empties a server and has it read the primary's whole log.
func (r *mysqlPair) anew(ctx context.Context, p *Process) error {
	if err := p.Kill(ctx); err != nil {
		return err
	}
	if err := p.server.prepare(ctx); err != nil {
		return err
	}
	if err := p.start(ctx); err != nil {
		return err
	}
	return r.admin(ctx, p, fmt.Sprintf("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %d, MASTER_USER = '%s', "+
		"MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1", r.primary.ports[0], replicationUser, r.lab.passwords.mysql),
		"START SLAVE")
}

// caughtUp waits until the replica has what the primary has.
func (r *mysqlPair) caughtUp(ctx context.Context) error {
	return await(ctx, answerLimit, func(ctx context.Context) error {
		of, by := "", ""
		if err := r.position(ctx, r.primary, "SELECT @@GLOBAL.gtid_binlog_pos", &of); err != nil {
			return err
		}
		if err := r.position(ctx, r.replica(), "SELECT @@GLOBAL.gtid_slave_pos", &by); err != nil {
			return err
		}
		if of != by {
			return fmt.Errorf("the replica is at %q, the primary at %q", by, of)
		}
		return nil
	})
}

func (r *mysqlPair) position(ctx context.Context, p *Process, query string, to *string) error {
	return onMySQL(ctx, p.AdminDSN(), func(c sqlConn) error { return c.QueryRowContext(ctx, query).Scan(to) })
}

type sqlConn = *sql.DB

// onMySQL has one connection for do.
func onMySQL(ctx context.Context, dsn string, do func(sqlConn) error) error {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return err
	}
	config.DBName = ""                 // it may not exist yet
	config.Logger = &mysql.NopLogger{} // connections break while a server starts
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	db.SetMaxOpenConns(1)
	return do(db)
}

const marks = "seckill_lab.marks" // in a database of its own

func (h harmed) markMySQL(ctx context.Context) error {
	h.lab.mu.Lock()
	h.lab.mark = rand.Int64()
	mark := h.lab.mark
	h.lab.mu.Unlock()
	return onMySQL(ctx, h.lab.Config().MySQLDSN, func(c sqlConn) error {
		for _, s := range []string{"CREATE DATABASE IF NOT EXISTS seckill_lab", "CREATE TABLE IF NOT EXISTS " + marks + " (id BIGINT PRIMARY KEY)"} {
			if _, err := c.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		_, err := c.ExecContext(ctx, "INSERT INTO "+marks+" VALUES (?)", mark)
		return err
	})
}

func (h harmed) markedMySQL(ctx context.Context) (there bool, err error) {
	h.lab.mu.Lock()
	mark := h.lab.mark
	h.lab.mu.Unlock()
	err = onMySQL(ctx, h.lab.Config().MySQLDSN, func(c sqlConn) error {
		err := c.QueryRowContext(ctx, "SELECT COUNT(*) > 0 FROM "+marks+" WHERE id = ?", mark).Scan(&there)
		var none *mysql.MySQLError
		if errors.As(err, &none) && (none.Number == 1146 || none.Number == 1049) {
			return nil // the table went with it
		}
		return err
	})
	return there, err
}
