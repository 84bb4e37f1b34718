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

// A restarted server has closed the connections of the pool. The next command uses a new connection, and does not
// get lost on an old one.
func TestClosedConnectionsAreNotUsed(t *testing.T) {
	m := miniredis.RunT(t)
	in, err := backend.Open(t.Context(), backend.Config{RedisAddrs: []string{m.Addr()}})
	labtest.Must(t, err)
	defer in.Close()
	for range 20 {
		labtest.Must(t, in.Redis.Ping(t.Context()).Err())
		m.Close()
		labtest.Must(t, m.Restart())
	}
}

// A session has our settings even if the address contains others. Otherwise a statement would not be committed, would
// read uncommitted rows, would write ” in place of NULL instead of failing, or would fail with a message in German.
func TestSessionSettings(t *testing.T) {
	normal := labtest.Instance(t, backend.SQL, backend.RowLocks)
	var version string
	labtest.Must(t, normal.DB.Raw("SELECT VERSION()").Scan(&version).Error)
	isolation := "transaction_isolation"
	if strings.Contains(version, "MariaDB") {
		isolation = "tx_isolation"
	}
	c := normal.Config
	dsn, err := mysql.ParseDSN(c.MySQLDSN)
	labtest.Must(t, err)
	dsn.Params = map[string]string{"autocommit": "0", isolation: "'READ-UNCOMMITTED'", "SQL_MODE": "''",
		"lc_messages": "'de_DE'"}
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
		t.Errorf("NULL in a column that is NOT NULL: %v", err)
	}
}
