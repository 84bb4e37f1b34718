// Package labtest gives tests the real servers: one lab a test program, whose
// backends start when the first test needs them. A server that is not
// installed fails the test; nothing is skipped.
package labtest

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// Main is for TestMain: func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }
func Main(m *testing.M) (status int) {
	lab.RunKeeperIfAsked()
	defer stop()
	return m.Run()
}

var shared struct {
	mu  sync.Mutex
	lab *lab.Lab
}

func stop() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.lab != nil {
		dropGivenMySQL(shared.lab.Config().MySQLDSN)
		shared.lab.Stop(context.Background())
	}
}

const givenMySQLEnv = "SECKILL_TEST_MYSQL_DSN"

// givenMySQL is the server that the environment names, with a database that no
// other test program uses; empty if it names none.
func givenMySQL(t testing.TB) string {
	given := os.Getenv(givenMySQLEnv)
	if given == "" {
		return ""
	}
	dsn, err := mysql.ParseDSN(given)
	if err != nil {
		t.Fatalf("%s: %v", givenMySQLEnv, err)
	}
	dsn.DBName = fmt.Sprintf("seckill_test_%d", os.Getpid())
	return dsn.FormatDSN()
}

func dropGivenMySQL(dsn string) {
	if os.Getenv(givenMySQLEnv) == "" || dsn == "" {
		return
	}
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return
	}
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		return
	}
	defer db.Close()
	if _, err := db.Exec("DROP DATABASE IF EXISTS " + config.DBName); err != nil {
		fmt.Fprintf(os.Stderr, "drop the test's database: %v\n", err)
	}
}

// backendOf says which backend offers a capability.
var backendOf = map[backend.Capability]string{
	backend.SQL:         backend.NameMySQL,
	backend.RowLocks:    backend.NameMySQL,
	backend.Redis:       backend.NameRedis,
	backend.RedisQuorum: backend.NameRedlock,
	backend.ZooKeeper:   backend.NameZooKeeper,
	backend.Etcd:        backend.NameEtcd,
}

func backendsOf(needs []backend.Capability) []string {
	var names []string
	for _, need := range needs {
		names = append(names, backendOf[need])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Start gives the test program's lab, with what is needed running in it. It is
// shared with the other tests and stays until Main ends.
//
// SECKILL_TEST_MYSQL_DSN names a MySQL server to use instead of a private one;
// each test program makes a database of its own there, and drops it.
func Start(t testing.TB, needs ...backend.Capability) *lab.Lab {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if shared.lab == nil {
		l, err := lab.Start(ctx, lab.Options{
			Backends: []string{},
			Given:    backend.Config{MySQLDSN: givenMySQL(t)},
		})
		if err != nil {
			t.Fatalf("start the lab: %v", err)
		}
		shared.lab = l
	}
	names := backendsOf(needs)
	if err := shared.lab.Add(ctx, names...); err != nil {
		t.Fatalf("start %v: %v", names, err)
	}
	for _, status := range shared.lab.Backends() {
		if slices.Contains(names, status.Name) && (!status.OK || status.Tier == backend.Embedded) {
			t.Fatalf("this test needs a real %s, and there is %s %s: run: seckill deps", status.Name, status.Version, status.Error)
		}
	}
	return shared.lab
}

// Instance opens an instance on what is needed, and nothing else, for the
// length of the test.
func Instance(t testing.TB, needs ...backend.Capability) *backend.Instance {
	t.Helper()
	in, err := backend.Open(t.Context(), Only(Start(t, needs...).Config(), needs...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in
}

// Only is a configuration without the backends that are not needed.
func Only(c backend.Config, needs ...backend.Capability) backend.Config {
	names := backendsOf(needs)
	for name, forget := range map[string]func(){
		backend.NameMySQL:     func() { c.MySQLDSN, c.SQLitePath = "", "" },
		backend.NameRedis:     func() { c.RedisAddrs = nil },
		backend.NameRedlock:   func() { c.RedlockAddrs = nil },
		backend.NameZooKeeper: func() { c.ZooKeeperAddrs = nil },
		backend.NameEtcd:      func() { c.EtcdEndpoints = nil },
	} {
		if !slices.Contains(names, name) {
			forget()
		}
	}
	return c
}
