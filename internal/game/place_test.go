package game_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
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
	naive := named(t, "naive")
	for range 3 {
		_, err := game.Open(t.Context(), servers, naive, game.Free(naive, 2, 2, 0), nil, "")
		if err == nil || !strings.Contains(err.Error(), "Access denied") {
			t.Errorf("the account may make no database: %v", err)
		}
	}
	// The server forgets a connection a moment after it was closed.
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for left := 1; left > 0; {
		if err := admin.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'poor'").Scan(&left); err != nil {
			t.Fatalf("%d connections are left: %v", left, err)
		}
	}
}
