package game_test

import (
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// The error of an account that may not make databases says so, and no attempt leaves a
// connection behind.
func TestAnAccountWithoutDatabases(t *testing.T) {
	l := labtest.Start(t, backend.SQL)
	admin := labtest.Admin(t, l)
	const poor = "'poor'@'127.0.0.1'"
	for _, statement := range []string{"CREATE USER " + poor, "GRANT ALL ON seckill.* TO " + poor} {
		_, err := admin.Exec(statement)
		labtest.Must(t, err)
	}
	defer func() { _, _ = admin.Exec("DROP USER " + poor) }()
	servers := l.Config()
	address, err := mysql.ParseDSN(servers.MySQLDSN)
	labtest.Must(t, err)
	address.User, address.Passwd = "poor", ""
	servers.MySQLDSN = address.FormatDSN()
	naive := strategies.Named("naive")
	for range 3 {
		_, err := game.Open(t.Context(), servers, naive, game.Free(naive, 2, 2, 0), nil, "")
		if err == nil || !strings.Contains(err.Error(), "Access denied") {
			t.Errorf("the account may make no database: %v", err)
		}
	}
	labtest.Soon(t, "the server has forgotten its connections", func() bool {
		left := 0
		labtest.Must(t, admin.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'poor'").Scan(&left))
		return left == 0
	})
}
