package lab

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
)

// Every user of this machine can connect to 127.0.0.1, and a database can write files as the user
// who runs it. So each lab gives its MySQL and Redis a new password. The password is in files of mode
// 0600 and in the environment of the lab's processes. It is never in an argument, because every
// user can read arguments. It consists of letters and digits, so it needs no quoting. ZooKeeper and
// etcd write only their own files and have no password.

// mysqlUser is the database account of the services and of people who look into the database.
const mysqlUser = "seckill"

func (l *Lab) mysqlConfig(addr, database string) *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = mysqlUser, l.password, "tcp", addr, database
	return c
}

// redisURL returns the URL of a private Redis. All Redis servers of a lab have the same password,
// because a node of a Cluster and a replica log in to other servers with it.
func (l *Lab) redisURL(addr string) string {
	return "redis://:" + l.password + "@" + addr
}

// Login returns the server's address with its password, in the form that the backend's flag expects.
func (p *Process) Login() string { return p.lab.kinds[p.server.backend].address(p.Addr) }

// accountStatements returns the SQL that makes the account for services and people. The server runs it at each start
// before it accepts connections. The account has all rights to databases named seckill…, and can see lock waits. It
// has no rights beyond the database, such as FILE or SUPER.
func (m mysqlServer) accountStatements(password string) string {
	account := fmt.Sprintf("'%s'@'127.0.0.1'", mysqlUser)
	sql := []string{
		fmt.Sprintf("CREATE USER IF NOT EXISTS %s IDENTIFIED BY '%s'", account, password),
		"GRANT ALL PRIVILEGES ON `seckill%`.* TO " + account,
		"GRANT PROCESS ON *.* TO " + account,
	}
	if !m.mariadb {
		// MySQL creates root without a password, so give root a random one and lock the account.
		// MariaDB's root needs no change: only the system's root can log in as root, by the socket.
		sql = append(sql, "ALTER USER 'root'@'localhost' IDENTIFIED BY '"+rand.Text()+"' ACCOUNT LOCK")
	}
	return strings.Join(sql, ";\n") + ";\n"
}

// socketUser returns the name of the administrator of a private MariaDB. The administrator is the user who runs the
// lab, because only this user can reach the server's socket.
func socketUser() string {
	if u, err := user.Current(); err == nil && !strings.ContainsAny(u.Username, `'\`) {
		return u.Username
	}
	return "root"
}

// ClientsFile writes a shell script with the addresses and passwords of the lab's servers and the token of admin
// calls, in the variables of seckill, mysql and redis-cli. Only this user can read the file. ClientsFile returns
// the path of the file.
func (l *Lab) ClientsFile() (string, error) {
	path := filepath.Join(l.folder, "clients.sh")
	c := l.Config()
	exports := environmentOf(c)
	delete(exports, "SECKILL_TIERS") // without this variable, seckill treats the servers as given by a user
	exports["SECKILL_TOKEN"] = l.Token()
	if dsn, err := backend.ParseMySQL(c.MySQLDSN); err == nil && c.Tiers[backend.NameMySQL] == backend.Private {
		exports["MYSQL_HOST"], exports["MYSQL_TCP_PORT"], _ = net.SplitHostPort(dsn.Addr)
		exports["MYSQL_PWD"] = dsn.Passwd
	}
	for _, name := range []string{backend.NameRedis, backend.NameRedlock} {
		if tier := c.Tiers[name]; tier == backend.Private || tier == backend.Embedded {
			exports["REDISCLI_AUTH"] = l.password
		}
	}
	text := "# Addresses and passwords of this lab's servers, and SECKILL_TOKEN for admin calls to its services, " +
		"until it stops. Read them into a shell:\n" +
		"#   . " + path + "\n# then: mysql -u " + mysqlUser + " seckill; redis-cli -p PORT\n"
	for _, entry := range environmentLines(exports) {
		name, value, _ := strings.Cut(entry, "=")
		text += fmt.Sprintf("export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	return path, os.WriteFile(path, []byte(text), 0o600)
}
