package backend_test

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/sqlerr"
)

// A server that was restarted has closed the pool's connections: the next
// command goes out on a new one instead of being lost on an old one.
func TestNoCommandIsSentOnAConnectionThatTheServerHasClosed(t *testing.T) {
	m := miniredis.RunT(t)
	in, err := backend.Open(t.Context(), backend.Config{SQLitePath: t.TempDir() + "/ledger.db", RedisAddrs: []string{m.Addr()}})
	labtest.Must(t, err)
	defer in.Close()
	for range 20 {
		labtest.Must(t, in.Redis.Ping(t.Context()).Err())
		m.Close()
		labtest.Must(t, m.Restart())
	}
}

// The defaults of a server, or an address, may say otherwise: then a statement would not
// be committed, or read what is not, or write an empty text in place of NULL where it has
// to fail, or fail in words that the ledger does not know.
func TestSessionsAreStrictCommitAndReadRepeatably(t *testing.T) {
	usual := labtest.Instance(t, backend.SQL, backend.RowLocks)
	var version string
	labtest.Must(t, usual.DB.Raw("SELECT VERSION()").Scan(&version).Error)
	isolation := "transaction_isolation"
	if strings.Contains(version, "MariaDB") {
		isolation = "tx_isolation"
	}
	c := usual.Config
	dsn, err := mysql.ParseDSN(c.MySQLDSN)
	labtest.Must(t, err)
	dsn.Params = map[string]string{"autocommit": "0", isolation: "'READ-UNCOMMITTED'", "SQL_MODE": "''", "lc_messages": "'de_DE'"}
	c.MySQLDSN = dsn.FormatDSN()
	in, err := backend.Open(t.Context(), c)
	labtest.Must(t, err)
	defer in.Close()
	var said string
	labtest.Must(t, in.DB.Raw("SELECT CONCAT(@@autocommit + 0, ' ', @@"+isolation+")").Scan(&said).Error)
	if said != "1 REPEATABLE-READ" {
		t.Errorf("autocommit and isolation of a session are %s", said)
	}
	err = in.DB.Connection(func(one *gorm.DB) error {
		if err := one.Exec("CREATE TEMPORARY TABLE needed (a INT NOT NULL)").Error; err != nil {
			return err
		}
		return one.Exec("INSERT INTO needed VALUES (1), (NULL)").Error
	})
	if sqlerr.Number(err) != sqlerr.NullColumn || !strings.Contains(err.Error(), "'a' cannot be null") {
		t.Errorf("NULL where it may not be: %v", err)
	}
}
