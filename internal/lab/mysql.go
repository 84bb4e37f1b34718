package lab

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
)

func (l *Lab) mysqlServers(ctx context.Context, program Program, n int) ([]*Process, error) {
	m := l.mysqlServer(program, backend.NameMySQL)
	if err := l.prepareMySQL(ctx, m); err != nil {
		return nil, err
	}
	return l.launchServers(ctx, n, 1, func(int, [][]int) server { return l.ofMySQL(m, backend.NameMySQL) })
}

// mysqlServer is one that has its data in a folder of that name.
func (l *Lab) mysqlServer(program Program, name string) mysqlServer {
	return mysqlServer{path: program.Path, data: filepath.Join(l.folder, name), mariadb: isMariaDB(program.Path),
		root: os.Geteuid() == 0, volatile: l.options.Volatile}
}

// ofMySQL is the server as a process of the lab.
func (l *Lab) ofMySQL(m mysqlServer, name string) server {
	return server{
		name: name, backend: backend.NameMySQL,
		command: func(ports []int) (*exec.Cmd, error) {
			err := os.WriteFile(m.accountsFile(), []byte(m.accountStatements(l.passwords.mysql)), 0o600)
			return l.newCommand(m.path, append(m.serveArgs(ports[0]), "--init-file="+m.accountsFile())...), err
		},
		check: func(ctx context.Context, addr string) (string, error) { return askMySQL(ctx, l.mysqlDSN(addr, "")) },
	}
}

// A mysqlServer is MariaDB or Oracle's MySQL, which differ in their options.
// Everything else keeps the server's default, above all the flush of the log at
// every commit: results are those of a durable server.
type mysqlServer struct {
	path    string
	data    string
	mariadb bool
	root    bool // neither runs as root unless told to

	volatile bool // does not flush its log at every commit
}

func (m mysqlServer) commonArgs() []string {
	args := []string{"--no-defaults", "--datadir=" + m.data}
	if m.root {
		args = append(args, "--user=root")
	}
	return args
}

func (m mysqlServer) serveArgs(port int) []string {
	args := append(m.commonArgs(),
		"--port="+strconv.Itoa(port),
		"--bind-address=127.0.0.1",
		"--socket=mysql.sock", // in the data folder: a socket's whole path has hardly 100 bytes
		"--pid-file=mysql.pid",
		"--max-connections="+strconv.Itoa(maxConnections),
		"--skip-name-resolve", // accounts of localhost are for the socket alone
		"--local-infile=OFF",
	)
	if m.volatile {
		args = append(args, "--innodb-flush-log-at-trx-commit=0", "--sync-binlog=0")
	}
	if m.mariadb {
		return args
	}
	// Accounts with the TRIGGER right can use it although the binary log is on. The
	// folder of its package for files may be closed to this user.
	return append(args, "--mysqlx=OFF", "--loose-log-bin-trust-function-creators=ON", "--secure-file-priv=NULL")
}

// accountsFile is SQL that the server runs when it starts. It is beside the
// data folder, which MySQL makes only when it is empty.
func (m mysqlServer) accountsFile() string { return m.data + "-accounts.sql" }

// bootstrapArgs are for a first run that makes the data folder and ends.
func (m mysqlServer) bootstrapArgs() []string {
	if m.mariadb { // reads SQL from its standard input; with O_DIRECT it often waits a second for its page cleaner
		return append(m.commonArgs(), "--bootstrap", "--log-warnings=0", "--enforce-storage-engine=",
			"--max-allowed-packet=8M", "--net-buffer-length=16K", "--loose-innodb-flush-method=fsync")
	}
	return append(m.commonArgs(), "--initialize-insecure")
}

func (l *Lab) prepareMySQL(ctx context.Context, m mysqlServer) error {
	if err := os.RemoveAll(m.data); err != nil { // of an attempt that was broken off
		return err
	}
	if err := os.MkdirAll(m.data, 0o700); err != nil {
		return err
	}
	cmd, log := l.newCommand(m.path, m.bootstrapArgs()...), l.logFile("mysql-bootstrap")
	if m.mariadb {
		sql, err := mariadbTables(m.path)
		if err != nil {
			return err
		}
		cmd.Stdin = strings.NewReader(sql)
	}
	run, err := l.children.startChild(cmd, log)
	if err != nil {
		return fmt.Errorf("start %s: %w", m.path, err)
	}
	if err := run.awaitExit(ctx); err != nil {
		_ = run.process.Kill() // another attempt has the same folder
		<-run.done
		return err
	}
	if run.ended != endedWell {
		return withLog(fmt.Errorf("mysql could not make its data folder %s: %s", m.data, run.ended), log)
	}
	return nil
}

// mariadbTables is SQL that makes the server's system tables, by the scripts that
// mariadb-install-db runs. Debian's server package lacks a program that
// mariadb-install-db calls, which would also load 3 MB of help texts. The head has the
// scripts make two accounts that log in by the socket without a password: the system's
// root and this user.
func mariadbTables(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	prefix := filepath.Dir(filepath.Dir(path))
	head := "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket = '" + socketUser() + "';\n"
	for _, share := range []string{"share/mysql", "share/mariadb", "share"} {
		for _, brand := range []string{"mysql", "mariadb"} {
			sql, there := head, true
			for _, part := range []string{"_system_tables.sql", "_performance_tables.sql", "_system_tables_data.sql"} {
				text, err := os.ReadFile(filepath.Join(prefix, share, brand+part))
				sql, there = sql+string(text), there && err == nil
			}
			if there {
				return sql, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no mysql_system_tables.sql in %s/share/mysql: its installation is not complete, install it again",
		path, prefix)
}

// isMariaDB tells what a program called mysqld is.
func isMariaDB(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil && strings.HasPrefix(filepath.Base(real), "mariadbd") {
		return true
	}
	version, _ := exec.Command(path, "--version").Output()
	return strings.Contains(string(version), "MariaDB")
}

func askMySQL(ctx context.Context, dsn string) (version string, err error) {
	err = onMySQL(ctx, dsn, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version)
	})
	if err != nil {
		return "", err
	}
	if short, _, is := strings.Cut(version, "-MariaDB"); is {
		return "MariaDB " + short, nil
	}
	return "MySQL " + version, nil
}

// onMySQL connects to a server for as long as do takes.
func onMySQL(ctx context.Context, dsn string, do func(*sql.DB) error) error {
	config, err := backend.ParseMySQL(dsn)
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
	return do(db)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
