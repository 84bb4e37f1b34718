package backend_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/sqlerr"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// The SQL server lists a client for each port that LocalPorts returns.
func TestLocalPortsOfABackend(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.Redis, backend.ZooKeeper)
	ports, listed := in.Dialer.LocalPorts(tap.SQL), 0
	query := "SELECT COUNT(*) FROM information_schema.PROCESSLIST " +
		"WHERE DB = DATABASE() AND SUBSTRING_INDEX(HOST, ':', -1) IN ?"
	labtest.Must(t, in.DB.Raw(query, ports).Scan(&listed).Error)
	if listed == 0 || listed != len(ports) {
		t.Errorf("the SQL server lists %d of the ports %v", listed, ports)
	}
}

func TestStatus(t *testing.T) {
	needs := []backend.Capability{backend.SQL, backend.Redis, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd}
	lab := labtest.Start(t, needs...)
	in := labtest.Instance(t, needs...)
	// awaitStatus waits until Status reports these backends as down and all others as OK.
	awaitStatus := func(what string, down ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for {
			all, wrong := in.Status(ctx), ""
			for _, s := range all {
				if s.OK == slices.Contains(down, s.Name) || s.OK != (s.Error == "") || s.Address == "" ||
					!strings.ContainsAny(s.Version, "0123456789") || s.Tier == "" {
					wrong += fmt.Sprintf("\n%+v", s)
				}
			}
			if len(all) != len(needs) {
				t.Fatalf("%s: %d backends, want %d", what, len(all), len(needs))
			}
			if wrong == "" {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("%s: want only %v down, got%s", what, down, wrong)
			}
			time.Sleep(20 * time.Millisecond) // no event tells that a status has changed
		}
	}
	kill := func(name string) func() {
		p := labtest.Value(lab.Process(name)).Must(t)
		labtest.Must(t, p.Kill(t.Context()))
		return func() {
			labtest.Must(t, p.Restart(t.Context()))
		}
	}
	awaitStatus("all run")
	restarts := []func(){kill("redis"), kill("zookeeper"), kill("etcd"), kill("redlock-1"), kill("redlock-2")}
	awaitStatus("three are down, and two of five Redlock nodes", "redis", "zookeeper", "etcd")
	restarts = append(restarts, kill("redlock-3"))
	awaitStatus("the majority of the nodes is down, too", "redis", "zookeeper", "etcd", "redlock")
	for _, restart := range restarts {
		restart()
	}
	awaitStatus("all run again")

	p := labtest.Value(lab.Process("redis")).Must(t)
	labtest.Must(t, p.Pause())
	awaitStatus("redis hangs", "redis")
	labtest.Must(t, p.Resume())
	awaitStatus("redis continues")
}

// Open needs a majority of the Redlock nodes.
func TestRedlockOpensWithAMajority(t *testing.T) {
	var addrs []string
	var nodes []*miniredis.Miniredis
	for range 5 {
		m := miniredis.RunT(t)
		nodes, addrs = append(nodes, m), append(addrs, m.Addr())
	}
	config := backend.Config{SQLitePath: t.TempDir() + "/ledger.db", RedlockAddrs: addrs}
	for down := range 4 {
		if down > 0 {
			nodes[down-1].Close()
		}
		in, err := backend.Open(t.Context(), config)
		labtest.Same(t, err == nil, down <= 2, "it opens with %d of five nodes down (%v)", down, err)
		if err != nil {
			continue
		}
		if ok, why := in.Config.Has(backend.RedisQuorum); !ok {
			t.Errorf("%d of five nodes down: %s", down, why)
		}
		in.Close()
	}
}

// Open asks all nodes of a quorum at the same time. In this test, three nodes do not answer before
// the fifth has been asked.
func TestRedlockAsksAllNodesAtOnce(t *testing.T) {
	config := backend.Config{SQLitePath: t.TempDir() + "/ledger.db"}
	pass := func() {}
	for n := range 5 {
		m := miniredis.RunT(t)
		wire := labtest.NewWire(t, m.Addr())
		config.RedlockAddrs = append(config.RedlockAddrs, wire.Addr())
		if n < 3 {
			wire.Freeze()
			others := pass
			pass = func() {
				others()
				wire.Pass()
			}
		} else if n == 4 {
			m.Server().SetPreHook(func(*server.Peer, string, ...string) bool {
				pass()
				return false
			})
		}
	}
	labtest.Open(t, config)
}

// Open explains why it cannot use a Redis server. It quotes the server's answer. If there is no
// answer, it asks whether the server is running. It does not need the command INFO, which some
// administrators forbid.
func TestOpenExplainsRedisErrors(t *testing.T) {
	in := labtest.Instance(t, backend.Redis)
	for user, rule := range map[string]string{"careful": "-@dangerous", "idle": "-ping"} {
		labtest.Must(t, in.Redis.Do(t.Context(), "ACL", "SETUSER", user, "on", ">pw", "~*", "&*", "+@all", rule).Err())
		t.Cleanup(func() { in.Redis.Do(context.Background(), "ACL", "DELUSER", user) })
	}
	host := in.Redis.(*redis.Client).Options().Addr
	refusing := labtest.Value(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	defer refusing.Close()
	go func() {
		for conn, err := refusing.Accept(); err == nil; conn, err = refusing.Accept() {
			_, _ = conn.Write([]byte("-DENIED Redis is running in protected mode\r\n"))
			conn.Close()
		}
	}()
	for _, c := range []struct{ address, want string }{
		{"redis://careful:pw@" + host, ""},
		{"redis://idle:pw@" + host, "user idle: NOPERM"},
		{"redis://idle:other@" + host, "user idle: WRONGPASS"},
		{host, "user default: NOAUTH"},
		{refusing.Addr().String(), "DENIED Redis is running in protected mode"},
		{"127.0.0.1:1", "connection refused (is it running, and is the address right?)"},
	} {
		opened, err := open(t, backend.Config{RedisAddrs: []string{c.address}})
		switch {
		case c.want == "" && err == nil:
			if s := opened.Status(t.Context())[0]; !s.OK || s.Version != "Redis" {
				t.Errorf("%s: %+v, want OK and an unknown version", c.address, s)
			}
		case err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "is it running") != strings.Contains(c.want, "is it running"):
			t.Errorf("%s: %v, want %q", c.address, err, c.want)
		}
	}
}

// A server that was restarted has closed the pool's connections. The next command must use a new connection. On an old
// connection, the command would get lost.
func TestClosedConnectionsAreNotUsed(t *testing.T) {
	m := miniredis.RunT(t)
	in := labtest.Open(t, backend.Config{RedisAddrs: []string{m.Addr()}})
	for range 20 {
		labtest.Must(t, in.Redis.Ping(t.Context()).Err())
		m.Close()
		labtest.Must(t, m.Restart())
	}
}

// A session has our settings even if the address contains other settings. With the other settings, a statement would
// not be committed, would read uncommitted rows, would write an empty text for NULL instead of failing, or would fail
// with a message in German.
func TestSessionSettings(t *testing.T) {
	normal := labtest.Instance(t, backend.SQL, backend.RowLocks)
	var version string
	labtest.Must(t, normal.DB.Raw("SELECT VERSION()").Scan(&version).Error)
	isolation := "transaction_isolation"
	if strings.Contains(version, "MariaDB") {
		isolation = "tx_isolation"
	}
	c := normal.Config
	dsn := labtest.Value(mysql.ParseDSN(c.MySQLDSN)).Must(t)
	dsn.Params = map[string]string{"autocommit": "0", isolation: "'READ-UNCOMMITTED'", "SQL_MODE": "''",
		"lc_messages": "'de_DE'"}
	c.MySQLDSN = dsn.FormatDSN()
	in := labtest.Open(t, c)
	var said string
	labtest.Must(t, in.DB.Raw("SELECT CONCAT(@@autocommit + 0, ' ', @@"+isolation+")").Scan(&said).Error)
	labtest.Same(t, said, "1 REPEATABLE-READ", "autocommit and isolation of a session")
	err := in.DB.Connection(func(one *gorm.DB) error {
		if err := one.Exec("CREATE TEMPORARY TABLE needed (a INT NOT NULL)").Error; err != nil {
			return err
		}
		return one.Exec("INSERT INTO needed VALUES (1), (NULL)").Error
	})
	if sqlerr.Number(err) != sqlerr.NullColumn || !strings.Contains(err.Error(), "'a' cannot be null") {
		t.Errorf("NULL in a column that is NOT NULL: %v", err)
	}
}

func TestEtcdCommandsPassTheTap(t *testing.T) {
	c, r := labtest.Instance(t, backend.Etcd).Etcd, &taptest.Recorder{}
	key := "/test/" + t.Name()
	ctx := tap.With(t.Context(), r)
	t.Cleanup(func() { c.Delete(context.Background(), key, clientv3.WithPrefix()) })

	changes := c.Watch(ctx, key, clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	if made, err := tap.Wait(ctx, "watch", changes); err != nil || !made.Created {
		t.Fatalf("the watch began with %+v, %v", made, err)
	}
	lease := labtest.Value(c.Grant(ctx, 60)).Must(t)
	id := fmt.Sprintf("%x", int64(lease.ID))
	put, err := c.Txn(ctx).If(clientv3.Compare(clientv3.CreateRevision(key), "=", 0)).
		Then(clientv3.OpPut(key, "v", clientv3.WithLease(lease.ID)), clientv3.OpGet(key)).
		Else(clientv3.OpGet(key)).Commit()
	if err != nil || !put.Succeeded {
		t.Fatalf("txn: %+v, %v", put, err)
	}
	change := labtest.Value(tap.Wait(ctx, "watch", changes)).Must(t)
	labtest.Same(t, len(change.Events), 1, "the changes that the watch brought")
	labtest.Same(t, labtest.Value(c.Get(ctx, key)).Must(t).Count, 1, "the number of values")
	labtest.Value(c.Put(ctx, key+"/b", "w")).Must(t)
	labtest.Value(c.Do(ctx, clientv3.OpTxn(nil, []clientv3.Op{clientv3.OpDelete(key + "/b")}, nil))).Must(t)
	labtest.Value(c.Delete(ctx, key, clientv3.WithPrefix())).Must(t)
	labtest.Value(c.Revoke(ctx, lease.ID)).Must(t)
	want := []string{
		"etcd watch " + key + " --prefix", "wait watch", "etcd grant 60s",
		"etcd txn if create(" + key + ") = 0 then put " + key + ` "v"; get ` + key + " else get " + key,
		"wait watch", "etcd get " + key,
		"etcd put " + key + `/b "w"`, "etcd txn then delete " + key + "/b", "etcd delete " + key + " --prefix",
		"etcd revoke " + id,
	}
	labtest.Same(t, strings.Join(r.Seen(), "\n"), strings.Join(want, "\n"), "the tap saw")

	stopped := errors.New("stopped")
	r.OnBefore = func(*tap.Command) error { return stopped }
	labtest.Value(c.Put(tap.With(t.Context(), r), key, "x")).Check(t, stopped, "a command that the tap refused")
	labtest.Same(t, labtest.Value(c.Get(t.Context(), key)).Must(t).Count, 0, "the values after a refused put")
	if _, open := <-c.Watch(tap.With(t.Context(), r), key); open {
		t.Error("a watch that the tap refused is open")
	}
}

const procedure = "CREATE PROCEDURE seckill_test(p BIGINT)\nBEGIN\n  -- what it does\n  SELECT p;\nEND\n"

// If the account may not create procedures, the error of EnsureProcedure names the missing right. If the account has
// the right, EnsureProcedure replaces a procedure of another build or SQL mode, and keeps an equal procedure.
func TestEnsureProcedure(t *testing.T) {
	l, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Backends: []string{backend.NameMySQL}})
	labtest.Must(t, err)
	defer l.Stop(context.Background())
	admin := labtest.Admin(t, l)
	do := func(statement string) {
		t.Helper()
		labtest.Value(admin.Exec(statement)).Must(t)
	}
	do("CREATE DATABASE shop")
	do("CREATE USER 'poor'@'127.0.0.1'")
	do("GRANT SELECT, INSERT, UPDATE ON shop.* TO 'poor'@'127.0.0.1'")
	address := labtest.Value(mysql.ParseDSN(l.Config().MySQLDSN)).Must(t)
	address.User, address.Passwd, address.DBName = "poor", "", "shop"
	ensure := func(text string) error {
		t.Helper()
		in := labtest.Open(t, backend.Config{MySQLDSN: address.FormatDSN()})
		return in.EnsureProcedure(t.Context(), "seckill_test", text)
	}
	labtest.Fails(t, ensure(procedure), "GRANT CREATE ROUTINE, EXECUTE", "without the right")
	do("GRANT CREATE ROUTINE, EXECUTE ON shop.* TO 'poor'@'127.0.0.1'")
	labtest.Check(t, ensure(procedure), nil, "with the right")
	poor := labtest.Value(sql.Open("mysql", address.FormatDSN())).Must(t)
	defer poor.Close()
	poor.SetMaxOpenConns(1)
	for what, made := range map[string][]string{
		"another build's procedure": {"CREATE PROCEDURE seckill_test(p BIGINT) SELECT p + 1"},
		"one of another SQL mode":   {"SET sql_mode = 'ANSI'", procedure},
	} {
		for _, statement := range append([]string{"DROP PROCEDURE seckill_test"}, made...) {
			labtest.Value(poor.Exec(statement)).Must(t)
		}
		for _, comment := range []string{"", "it was kept"} {
			labtest.Check(t, ensure(procedure), nil, "with %s in the database", what)
			var body, mode, said string
			labtest.Must(t, poor.QueryRow("SELECT routine_definition, sql_mode, routine_comment FROM "+
				"information_schema.routines WHERE routine_schema = 'shop'").Scan(&body, &mode, &said))
			if !strings.Contains(body, "-- what it does") || strings.Contains(mode, "ANSI") || said != comment {
				t.Errorf("%s was replaced by %q in the mode %s with the comment %q; want this build's, created once",
					what, body, mode, said)
			}
			do("ALTER PROCEDURE shop.seckill_test COMMENT 'it was kept'")
		}
	}
	if err := ensure("CREATE PROCEDURE seckill_test() SELECT 1 FROM"); err == nil ||
		strings.Contains(err.Error(), "GRANT") {
		t.Errorf("a procedure with a syntax error: %v", err)
	}
	labtest.Must(t, ensure(procedure))
	do("REVOKE CREATE ROUTINE ON shop.* FROM 'poor'@'127.0.0.1'")
	labtest.Check(t, ensure(procedure), nil, "without the right, but with the procedure")
}
