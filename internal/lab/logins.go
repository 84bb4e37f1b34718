package lab

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
)

// Every user of this machine can connect to 127.0.0.1, and a database can
// write files as the user who runs it. So the lab's own MySQL and Redis want
// a password, which is made anew for each lab. It is in files of mode 0600 and
// in the environment of the lab's own processes, and never in an argument:
// those can be read by everybody. ZooKeeper and etcd have none; they write no
// files but their own.

// passwords have letters and digits only, so they need no quoting anywhere.
type passwords struct{ mysql, redis string }

func makePasswords() passwords { return passwords{mysql: rand.Text(), redis: rand.Text()} }

// mysqlUser is the account of services and people.
const mysqlUser = "seckill"

// mysqlDSN is how clients reach a private MySQL or MariaDB.
func (l *Lab) mysqlDSN(addr, database string) string {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = mysqlUser, l.passwords.mysql, "tcp", addr, database
	return c.FormatDSN()
}

// redisURL is how clients reach a private Redis. All of a lab have the same
// password: nodes of one Cluster must, and a replica must know its primary's.
func (l *Lab) redisURL(addr string) string {
	return backend.RedisAddress{Host: addr, Password: l.passwords.redis}.String()
}

// Login is the address of a server with what it takes to log in, in the form
// of the flags that take addresses: for MySQL without a database.
func (p *Process) Login() string { return p.lab.login(p.server.kind, p.Addr) }

func (l *Lab) login(kind, addr string) string {
	switch kind {
	case backend.NameMySQL:
		return l.mysqlDSN(addr, "")
	case backend.NameRedis:
		return l.redisURL(addr)
	}
	return addr
}

// setPrivate enters the lab's own servers in a configuration.
func (l *Lab) setPrivate(c *backend.Config, name, address string) {
	list := strings.Split(address, ",")
	switch name {
	case backend.NameMySQL:
		c.MySQLDSN = l.mysqlDSN(address, "seckill")
	case backend.NameRedis, backend.NameRedlock:
		for i := range list {
			list[i] = l.redisURL(list[i])
		}
		if name == backend.NameRedis {
			c.RedisAddrs = list
		} else {
			c.RedlockAddrs = list
		}
	case backend.NameZooKeeper:
		c.ZooKeeperAddrs = list
	case backend.NameEtcd:
		c.EtcdEndpoints = list
	}
}

// redisSecrets writes the part of a Redis server's configuration that is
// nobody's business, and gives its file. It is written at each start.
func (l *Lab) redisSecrets(name string) (file string, err error) {
	file = filepath.Join(l.folder, name+".conf")
	text := fmt.Sprintf("requirepass %[1]s\nmasterauth %[1]s\n", l.passwords.redis)
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// accounts is SQL that makes the account of services and people.
// The server runs it at each start, before it lets anybody in. The account has
// all rights to the databases seckill…, may see who waits for whom, and has
// none of the rights that reach beyond the database: no FILE, no SUPER.
func (m mysqlServer) accounts(password string) string {
	account := fmt.Sprintf("'%s'@'127.0.0.1'", mysqlUser)
	sql := []string{
		fmt.Sprintf("CREATE USER IF NOT EXISTS %s IDENTIFIED BY '%s'", account, password),
		"GRANT ALL PRIVILEGES ON `seckill%`.* TO " + account,
		"GRANT PROCESS ON *.* TO " + account,
	}
	if !m.mariadb {
		// MariaDB's root was made without a password that works: only the
		// system's root gets in, by the socket. MySQL's has none at all.
		sql = append(sql, "ALTER USER 'root'@'localhost' IDENTIFIED BY '"+rand.Text()+"' ACCOUNT LOCK",
			"GRANT SELECT ON performance_schema.* TO "+account) // where lock waits are
	}
	return strings.Join(sql, ";\n") + ";\n"
}

// AdminDSN is how this user administers the lab's own MariaDB; false where
// there is none. It holds no password: only this user reaches the socket.
func (l *Lab) AdminDSN() (dsn string, ok bool) {
	p, err := l.Process(backend.NameMySQL)
	if err != nil || !strings.HasPrefix(p.version, "MariaDB") {
		return "", false
	}
	c := mysql.NewConfig()
	c.User, c.Net, c.Addr = socketUser(), "unix", filepath.Join(l.folder, "mysql", "mysql.sock")
	return c.FormatDSN(), true
}

// socketUser is who may administer a private MariaDB, by its socket: the
// operating system's user who runs the lab. Nobody else reaches the socket.
func socketUser() string {
	if u, err := user.Current(); err == nil && !strings.ContainsAny(u.Username, `'\`) {
		return u.Username
	}
	return "root"
}
