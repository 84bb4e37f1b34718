package backend_test

import (
	"testing"

	"github.com/alicebob/miniredis/v2"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
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

// Where the server writes an empty text in place of NULL, an INSERT that has to fail
// would not.
func TestSessionsAreStrict(t *testing.T) {
	c := labtest.Instance(t, backend.SQL, backend.RowLocks).Config
	c.MySQLDSN += "?sql_mode=''"
	lax, err := backend.Open(t.Context(), c)
	labtest.Must(t, err)
	defer lax.Close()
	labtest.Must(t, lax.DB.Exec("CREATE TEMPORARY TABLE needed (a INT NOT NULL)").Error)
	if err := lax.DB.Exec("INSERT INTO needed VALUES (1), (NULL)").Error; backend.MySQLNumber(err) != backend.MySQLNullColumn {
		t.Errorf("NULL where it may not be: %v", err)
	}
}
