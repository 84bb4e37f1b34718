package httpapi_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/strategies"
)

// A server has all the unusual settings that users have reported. Where a session may choose a
// setting, the service chooses it. Strategies that need another binlog_format name it. Each
// strategy that is listed as available sells, refuses and cancels correctly.
func TestServerWithUnusualSettings(t *testing.T) {
	programs := map[lab.Tool]lab.Program{lab.MariaDB: labtest.MySQLWith(t,
		"--log-bin --server-id=1 --binlog-format=STATEMENT "+
			"--lower-case-table-names=1 --innodb-rollback-on-timeout=ON --character-set-server=latin1 --skip-character-set-client-handshake")}
	own := labtest.Value(lab.Start(t.Context(), lab.Options{Host: labtest.HostIn(t), Programs: programs,
		Backends: []string{backend.NameMySQL}})).Must(t)
	defer own.Stop(context.Background())
	admin := labtest.Admin(t, own)
	for _, set := range []string{"sql_mode = 'ORACLE,EMPTY_STRING_IS_NULL'", "completion_type = 'CHAIN'",
		"sql_safe_updates = 1",
		"innodb_snapshot_isolation = ON", "autocommit = 0", "tx_isolation = 'READ-UNCOMMITTED'", "tx_read_only = 1", "lc_messages = 'de_DE'",
		"unique_checks = 0", "sql_select_limit = 1", "max_join_size = 1", "sql_auto_is_null = 1", "time_zone = '+08:00'"} {
		labtest.Value(admin.Exec("SET GLOBAL " + set)).Must(t)
	}
	config := labtest.Config(t, backend.Redis, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd)
	config.MySQLDSN = strings.Replace(own.Config().MySQLDSN, "/seckill",
		"/Seckill_Shop?SQL_MODE='ANSI'&collation=gbk_chinese_ci", 1)
	in := labtest.Open(t, config)
	migrate(t, in)
	var log bytes.Buffer
	s := serverWith(t, nil, httpapi.Config{Instance: in, Log: slog.New(slog.NewTextHandler(&log, nil))})

	unavailable := sellsAll(t, s, "binlog_format")
	want := []string{"one-trip", "queued", "merged", "merged-early", "unit-rows", "unit-rows-hasty"}
	labtest.Same(t, unavailable, want, "not available")
	if text := log.String(); !strings.Contains(text, "binlog_format") ||
		!strings.Contains(text, strings.Join(want, ", ")) {
		t.Errorf("the log does not name the setting and the strategies:\n%s", text)
	}

	t.Run("a wait that the server ends", func(t *testing.T) { waitsTwice(t, config, admin) })

	// While the server is read-only, the log has the server's message, and no connection is used again.
	config.MaxSQLConns = 1
	pool := labtest.Value(labtest.Open(t, config).DB.DB()).Must(t)
	id := func() (id int64) {
		labtest.Must(t, pool.QueryRow("SELECT CONNECTION_ID()").Scan(&id))
		return id
	}
	before := id()
	labtest.Value(admin.Exec("SET GLOBAL read_only = 1")).Must(t)
	const last = `{"sku_id":1000,"user_id":1}`
	ask(t, s, "PUT", "/api/v1/skus/1000", `{"stock":1}`).want(t, "a reset of a read-only server", 503,
		"backend_unavailable")
	_, err := pool.Exec("CREATE TABLE refused (a INT)")
	if !errors.Is(err, driver.ErrBadConn) || !strings.Contains(err.Error(), "--read-only") || id() == before {
		t.Errorf("a read-only server answers %v, and its connection is kept: %t", err, id() == before)
	}
	labtest.Contains(t, log.String(), "--read-only", "the log of a read-only server")
	labtest.Value(admin.Exec("SET GLOBAL read_only = 0")).Must(t)
	ask(t, s, "PUT", "/api/v1/skus/1000", `{"stock":1}`).want(t, "a reset afterwards", 200, "")
	ask(t, s, "POST", "/api/v1/seckill", last).want(t, "a purchase afterwards", 200, "")
}

// waitsTwice lets a buyer wait for the row of lock-row longer than the server allows for one statement. The server then
// ends the whole transaction (innodb_rollback_on_timeout). The buyer must still get the lock, and have it alone.
func waitsTwice(t *testing.T, config backend.Config, admin *sql.DB) {
	config.RowLockWait = time.Second
	info := strategies.Named("lock-row")
	locker := labtest.Value(catalog.NewLocker(info, catalog.Deps{Instance: labtest.Open(t, config),
		Settings: catalog.DefaultSettings()})).Must(t)
	waits := func() (n int) {
		var name string
		labtest.Must(t, admin.QueryRow("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'").Scan(&name, &n))
		return n
	}
	key, before := info.Key(1), waits()
	first := labtest.Value(locker.Acquire(t.Context(), key, lock.Options{})).Must(t)
	var second lock.Lease
	got := make(chan error, 1)
	go func() {
		var err error
		second, err = locker.Acquire(t.Context(), key, lock.Options{Wait: labtest.Patience})
		got <- err
	}()
	labtest.Soon(t, "the buyer waits a second time", func() bool { return waits() >= before+2 })
	labtest.Must(t, first.Release(t.Context()))
	labtest.Must(t, <-got)
	labtest.Value(locker.Acquire(t.Context(), key, lock.Options{})).Check(t, seckill.ErrBusy, "another buyer")
	labtest.Must(t, second.Release(t.Context()))
}

// The user of Redis, and of one node of the quorum, lacks the right to one command each. The
// strategies that send this command name the user and the command, and all others sell.
func TestUserOfRedisLacksARight(t *testing.T) {
	config := labtest.Config(t, backend.SQL, backend.Redis, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd)
	config.RedisAddrs = labtest.RedisUser(t, config.RedisAddrs, "shop", "~*", "&*", "+@all", "-zadd")
	config.RedlockAddrs = labtest.RedisUser(t, config.RedlockAddrs, "shop", "~*", "&*", "+@all", "-evalsha")
	in := labtest.Open(t, config)
	migrate(t, in)
	var log bytes.Buffer
	s := serverWith(t, nil, httpapi.Config{Instance: in, Log: slog.New(slog.NewTextHandler(&log, nil))})
	got := sellsAll(t, s, "user shop of Redis has no right to ")
	labtest.Same(t, got, []string{"redlock", "redis-counter-mysql"}, "not available are")
	for _, says := range []string{"no right to EVALSHA", "strategies=redlock", "no right to ZADD",
		"strategies=redis-counter-mysql"} {
		labtest.Contains(t, log.String(), says, "the log")
	}
}

// sellsAll lets each available strategy sell, refuse and cancel. It returns the other strategies,
// which must name a reason.
func sellsAll(t *testing.T, s *httpapi.Server, reason string) (unavailable []string) {
	t.Helper()
	all := read[struct {
		Strategies []struct {
			Name      string
			Available bool
			Missing   []string
		}
	}](t, ask(t, s, "GET", "/api/v1/strategies", ""))
	labtest.Same(t, len(all.Strategies), len(strategies.All()), "the number of listed strategies")
	for i, is := range all.Strategies {
		if !is.Available {
			unavailable = append(unavailable, is.Name)
			if len(is.Missing) != 1 || !strings.Contains(is.Missing[0], reason) {
				t.Errorf("%s is not available, as %q; want %s", is.Name, is.Missing, reason)
			}
			continue
		}
		sku := fmt.Sprint("/api/v1/skus/", i+1)
		ask(t, s, "PUT", sku, `{"name":"秒杀","stock":2}`).want(t, is.Name+" is reset", 200, "")
		buy := func(what string, user, status int, code string, headers ...string) (sold sale) {
			body := fmt.Sprintf(`{"sku_id":%d,"user_id":%d}`, i+1, user)
			r := ask(t, s, "POST", "/api/v1/seckill?strategy="+is.Name, body, headers...)
			if r.want(t, is.Name+": "+what, status, code); status == 200 {
				sold = read[sale](t, r)
			}
			return sold
		}
		first := buy("the first unit", 1, 200, "", "Idempotency-Key: "+is.Name)
		buy("a second order", 1, 409, "duplicate")
		buy("the last unit", 2, 200, "")
		buy("nothing is left", 3, 409, "sold_out")
		ask(t, s, "DELETE", "/api/v1/orders/"+first.OrderID, "").want(t, is.Name+": a cancellation", 200, "")
		buy("the returned unit", 3, 200, "")
		r := ask(t, s, "GET", fmt.Sprint("/api/v1/audit?sku_id=", i+1), "")
		report := read[judge.Report](t, r)
		labtest.Same(t, report.Verdict, judge.Held, "the verdict on %s", is.Name)
	}
	return unavailable
}
