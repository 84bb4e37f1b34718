package compare

import (
	"path/filepath"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// What was made before the tables could not be made does not stay.
func TestBaselinesThatCannotBeOpenedLeaveNothing(t *testing.T) {
	redis := miniredis.RunT(t)
	in := labtest.Open(t, backend.Config{SQLitePath: filepath.Join(t.TempDir(), "ledger"), RedisAddrs: []string{redis.Addr()}})
	in.Config.MySQLDSN = "a server that does not know CREATE TABLE … LIKE"
	if _, _, _, err := OpenBaselines(t.Context(), []string{All}, in); err == nil {
		t.Fatal("SQLite copied a table")
	}
	if keys := redis.Keys(); len(keys) > 0 {
		t.Errorf("left in Redis: %v", keys)
	}
}
