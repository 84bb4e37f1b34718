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
	return l.launchServers(ctx, n, 1, func(int, [][]int) server { return l.mysqlProcess(m, backend.NameMySQL) })
}

func (l *Lab) mysqlServer(program Program, name string) mysqlServer {
	return mysqlServer{path: program.Path, data: filepath.Join(l.folder, name), mariadb: isMariaDB(program.Path),
		root: os.Geteuid() == 0, volatile: l.options.Volatile}
}

func (l *Lab) mysqlProcess(m mysqlServer, name string) server {
	return server{
		name: name, backend: backend.NameMySQL,
		command: func(ports []int) (*exec.Cmd, error) {
			err := os.WriteFile(m.accountsFile(), []byte(m.accountStatements(l.password)), 0o600)
			return l.newCommand(m.path, append(m.serveArgs(ports[0]), "--init-file="+m.accountsFile())...), err
		},
		ask: l.askMySQL,
	}
}

// A mysqlServer is MariaDB or Oracle's MySQL, which differ in some options. Options that are not set here keep
// their defaults. So the server flushes its log at every commit, unless the field volatile is set.
type mysqlServer struct {
	path    string
	data    string
	mariadb bool
	root    bool // true if this process runs as root; the server then needs --user=root

	volatile bool // if true, the server need not flush its log at every commit
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
		"--socket=mysql.sock", // in the data folder; the whole path of a socket is limited to about 100 bytes
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
	// log-bin-trust-function-creators lets accounts make triggers although the binary log is on. MySQL's package sets
	// secure-file-priv to a folder that this user may be unable to read, so NULL replaces that folder.
	return append(args, "--mysqlx=OFF", "--loose-log-bin-trust-function-creators=ON", "--secure-file-priv=NULL")
}

// accountsFile returns the path of the file with the accountStatements. The file is outside the data folder, because
// MySQL initializes only an empty folder.
func (m mysqlServer) accountsFile() string { return m.data + "-accounts.sql" }

// bootstrapArgs returns the arguments of a first run, which initializes the data folder and ends.
func (m mysqlServer) bootstrapArgs() []string {
	if m.mariadb { // fsync replaces O_DIRECT, with which MariaDB often waits a second for its page cleaner
		return append(m.commonArgs(), "--bootstrap", "--log-warnings=0", "--enforce-storage-engine=",
			"--max-allowed-packet=8M", "--net-buffer-length=16K", "--loose-innodb-flush-method=fsync")
	}
	return append(m.commonArgs(), "--initialize-insecure")
}

func (l *Lab) prepareMySQL(ctx context.Context, m mysqlServer) error {
	if err := os.RemoveAll(m.data); err != nil { // an earlier attempt may have left files, so remove them
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
		_ = run.process.Kill() // end the process, so that another attempt can use the folder
		<-run.done
		return err
	}
	if run.ended != "exit status 0" {
		return withLog(fmt.Errorf("mysql could not make its data folder %s: %s", m.data, run.ended), log)
	}
	return nil
}

// mariadbTables returns the SQL that makes the server's system tables, from the scripts of mariadb-install-db.
// mariadb-install-db itself calls a program that Debian's server package lacks, and loads 3 MB of help texts. The
// SQL first sets @auth_root_socket, so the scripts create two accounts, for root and for the user of the lab.
// Both accounts log in by the socket without a password.
func mariadbTables(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	prefix := filepath.Dir(filepath.Dir(path))
	head := "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\nSET @auth_root_socket = '" + socketUser() + "';\n"
	for _, share := range []string{"share/mysql", "share/mariadb", "share"} {
		for _, brand := range []string{"mysql", "mariadb"} {
			sql, found := head, true
			for _, part := range []string{"_system_tables.sql", "_performance_tables.sql", "_system_tables_data.sql"} {
				text, err := os.ReadFile(filepath.Join(prefix, share, brand+part))
				sql, found = sql+string(text), found && err == nil
			}
			if found {
				return sql, nil
			}
		}
	}
	return "", fmt.Errorf("%s has no mysql_system_tables.sql in %s/share/mysql: "+
		"its installation is not complete, install it again", path, prefix)
}

// isMariaDB reports whether a server's program is MariaDB, even if the program is called mysqld.
func isMariaDB(path string) bool {
	if real, err := filepath.EvalSymlinks(path); err == nil && strings.HasPrefix(filepath.Base(real), "mariadbd") {
		return true
	}
	version, _ := exec.Command(path, "--version").Output()
	return strings.Contains(string(version), "MariaDB")
}

func (l *Lab) askMySQL(ctx context.Context, addr string) (version string, leads bool, err error) {
	err = l.queryMySQL(ctx, addr, &version, "SELECT VERSION()")
	return backend.MySQLVersion(version), false, err
}

// queryMySQL reads one value from a private server. It connects without a database, because none may exist yet.
func (l *Lab) queryMySQL(ctx context.Context, addr string, value *string, query string) error {
	config := l.mysqlConfig(addr, "")
	config.Logger = &mysql.NopLogger{} // do not log failed connections to a server that is starting
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	return db.QueryRowContext(ctx, query).Scan(value)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
