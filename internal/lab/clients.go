package lab

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
)

// A Client is how people reach a server that the lab has started.
type Client struct {
	Backend  string
	User     string // empty: the server's default
	Password string
	// Command is a command line without the password, for a shell that has
	// read ClientsFile.
	Command string

	env map[string]string // what Command needs
}

// Clients are how people reach the lab's servers that want a password.
func (l *Lab) Clients() (clients []Client) {
	c := l.Config()
	if dsn, err := mysql.ParseDSN(c.MySQLDSN); err == nil && c.Tiers[backend.NameMySQL] == backend.Private {
		host, port, _ := net.SplitHostPort(dsn.Addr)
		clients = append(clients, Client{Backend: backend.NameMySQL, User: dsn.User, Password: dsn.Passwd,
			Command: "mysql --protocol=tcp -u " + dsn.User + " " + dsn.DBName,
			env:     map[string]string{"MYSQL_HOST": host, "MYSQL_TCP_PORT": port, "MYSQL_PWD": dsn.Passwd}})
	}
	for _, list := range []struct {
		name      string
		addresses []string
	}{{backend.NameRedis, c.RedisAddrs}, {backend.NameRedlock, c.RedlockAddrs}} {
		if tier := c.Tiers[list.name]; tier != backend.Private && tier != backend.Embedded || len(list.addresses) == 0 {
			continue
		}
		a, err := backend.ParseRedis(list.addresses[0])
		if err != nil {
			continue
		}
		host, port, _ := net.SplitHostPort(a.Host)
		clients = append(clients, Client{Backend: list.name, User: a.User, Password: a.Password,
			Command: "redis-cli -h " + host + " -p " + port, env: map[string]string{"REDISCLI_AUTH": a.Password}})
	}
	return clients
}

// ClientsFile is a shell script with the addresses and passwords of the lab's
// servers and the token of admin calls, which only this user can read. Announce
// writes it.
func (l *Lab) ClientsFile() string { return filepath.Join(l.folder, "clients.sh") }

func (l *Lab) writeClients() error {
	exports := environment(l.Config())
	delete(exports, "SECKILL_TIERS") // to others these servers are given
	exports["SECKILL_TOKEN"] = l.Token()
	text := "# Addresses and passwords of this lab's servers, and SECKILL_TOKEN for admin calls to its services, until it stops. Read them into a shell:\n#   . " + l.ClientsFile() + "\n"
	for _, client := range l.Clients() {
		text += "# then, for " + client.Backend + ": " + client.Command + "\n"
		for name, value := range client.env {
			exports[name] = value
		}
	}
	for _, entry := range entries(exports) {
		name, value, _ := strings.Cut(entry, "=")
		text += fmt.Sprintf("export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	if err := os.WriteFile(l.ClientsFile(), []byte(text), 0o600); err != nil {
		return fmt.Errorf("write how clients reach the lab: %w", err)
	}
	return nil
}
