// Package labtest gives tests the real servers: one lab a test program, whose
// backends start when the first test needs them. A server that is not
// installed fails the test.
package labtest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/ncruces/go-sqlite3"
	"github.com/redis/go-redis/v9"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// Main is for TestMain: func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }
func Main(m *testing.M) (status int) {
	HearSignals()
	// A program that the race detector watches sleeps a second before it
	// exits: every service process would.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	defer stop()
	KeepCompiledSQLite()
	return m.Run()
}

// KeepCompiledSQLite is a part of Main, for programs that tests start. With the
// race detector the compiler of SQLite's WebAssembly takes ten seconds of
// processor time in every program. The result is kept with the user's caches.
func KeepCompiledSQLite() {
	folder, err := os.UserCacheDir()
	if err != nil {
		return
	}
	cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(folder, "seckill-tests"))
	if err != nil {
		return
	}
	sqlite3.RuntimeConfig = wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2).
		WithMemoryLimitPages(4096).WithCompilationCache(cache)
}

// Host is this test program's.
func Host() lab.Host { return lab.Host{Environ: os.Environ(), Temp: os.TempDir()} }

var shared struct {
	mu   sync.Mutex
	lab  *lab.Lab
	drop func() // what was made on a server that was given
}

func stop() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.drop != nil {
		shared.drop()
	}
	if shared.lab != nil {
		shared.lab.Stop(context.Background())
	}
}

// Start gives the test program's lab, with what is needed running in it. It is
// shared with the other tests and stays until Main ends.
//
// SECKILL_TEST_MYSQL_DSN names a MySQL server to use instead of a private one;
// there each test program makes a database of its own, and drops it.
func Start(t testing.TB, needs ...backend.Capability) *lab.Lab {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if shared.lab == nil {
		start(ctx, t)
	}
	names := backend.NamesOf(needs...)
	if err := shared.lab.Add(ctx, names...); err != nil {
		t.Fatalf("start %v: %v", names, err)
	}
	if lacks := lacking(names, shared.lab.Backends()); lacks != "" {
		t.Fatal(lacks)
	}
	return shared.lab
}

func start(ctx context.Context, t testing.TB) {
	t.Helper()
	var given backend.Config
	if dsn := os.Getenv("SECKILL_TEST_MYSQL_DSN"); dsn != "" {
		own, drop, err := another(dsn)
		if err != nil {
			t.Fatalf("SECKILL_TEST_MYSQL_DSN=%s: %v", backend.Redact(dsn), err)
		}
		given.MySQLDSN, shared.drop = own, drop
	}
	l, err := lab.Start(ctx, lab.Options{Host: Host(), Backends: []string{}, Given: given})
	if err != nil {
		t.Fatalf("start the lab: %v", err)
	}
	shared.lab = l
}

// lacking says which of the backends is not a real server; empty if all are.
func lacking(names []string, statuses []backend.Status) string {
	for _, s := range statuses {
		if !slices.Contains(names, s.Name) {
			continue
		}
		if !s.OK || s.Tier == backend.Embedded {
			return fmt.Sprintf("this test needs a real %s; there is %q (%s); run: deploy/deps.sh", s.Name, s.Version, s.Error)
		}
	}
	return ""
}

// another is dsn with a database that nothing else uses, and how to drop it.
func another(dsn string) (own string, drop func(), err error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return "", nil, err
	}
	c.DBName = fmt.Sprintf("seckill_test_%d_%d", os.Getpid(), time.Now().UnixNano())
	db, err := sql.Open("mysql", c.FormatDSN()) // which connects when it is used
	if err != nil {
		return "", nil, err
	}
	return c.FormatDSN(), func() {
		db.Exec("DROP DATABASE IF EXISTS " + c.DBName)
		db.Close()
	}, nil
}

// Config is the shared lab's, with what is needed and nothing else.
func Config(t testing.TB, needs ...backend.Capability) backend.Config {
	t.Helper()
	return Start(t, needs...).Config().Only(needs...)
}

// Elsewhere is config with another database of the same MySQL server, which is dropped
// when the test ends.
func Elsewhere(t testing.TB, config backend.Config) backend.Config {
	t.Helper()
	own, drop, err := another(config.MySQLDSN)
	Must(t, err)
	t.Cleanup(drop)
	config.MySQLDSN = own
	return config
}

// RedisUser gives each Redis at addresses a user with these rights, whose password is pw, for the length of the test,
// and returns the user's addresses.
func RedisUser(t testing.TB, addresses []string, name string, rules ...any) (own []string) {
	t.Helper()
	for _, address := range addresses {
		at, err := backend.ParseRedis(address)
		Must(t, err)
		admin := redis.NewClient(at)
		Must(t, admin.Do(t.Context(), append([]any{"ACL", "SETUSER", name, "reset", "on", ">pw"}, rules...)...).Err())
		t.Cleanup(func() { admin.Do(context.Background(), "ACL", "DELUSER", name); admin.Close() })
		own = append(own, (&url.URL{Scheme: "redis", User: url.UserPassword(name, "pw"), Host: at.Addr}).String())
	}
	return own
}

// Instance opens an instance on what is needed, and nothing else, for the
// length of the test.
func Instance(t testing.TB, needs ...backend.Capability) *backend.Instance {
	t.Helper()
	return Open(t, Config(t, needs...))
}

// Open opens an instance for the length of the test.
func Open(t testing.TB, config backend.Config) *backend.Instance {
	t.Helper()
	in, err := backend.Open(t.Context(), config)
	Must(t, err)
	t.Cleanup(func() { in.Close() })
	return in
}

// HostIn is a host whose labs have their folders in a new one, which goes with the test.
// Its path is shorter than that of t.TempDir: a socket's path has 107 characters at most.
func HostIn(t testing.TB) lab.Host {
	t.Helper()
	folder, err := os.MkdirTemp("", "lab")
	Must(t, err)
	t.Cleanup(func() { os.RemoveAll(folder) })
	host := Host()
	host.Temp = folder
	return host
}

// Must ends the test if what it needs has failed.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Patience is for what has to happen, also on a machine that has much else to do.
const Patience = time.Minute

// Soon polls for what a server, or another goroutine, does by itself.
func Soon(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting after %v: %s", Patience, what)
		}
	}
}

// MySQLWith is the database's program with more options, except in the first run, which makes the data.
func MySQLWith(t testing.TB, options string) lab.Program {
	t.Helper()
	p := lab.NewSearch(os.Getenv).Find(lab.MariaDB)
	real, err := filepath.EvalSymlinks(p.Path)
	Must(t, err)
	prefix := t.TempDir()
	p.Path = filepath.Join(prefix, "bin", filepath.Base(real))
	Must(t, os.Mkdir(filepath.Dir(p.Path), 0o700))
	Must(t, os.Symlink(filepath.Join(filepath.Dir(filepath.Dir(real)), "share"), filepath.Join(prefix, "share")))
	run := "#!/bin/sh\ncase \"$*\" in *--bootstrap*) exec '" + real + "' \"$@\";; esac\nexec '" + real + "' \"$@\" " + options + "\n"
	Must(t, os.WriteFile(p.Path, []byte(run), 0o700))
	return p
}

// Admin is the administrator of a lab's private MariaDB. (The lab locks that of a private
// MySQL, and the one of a given server is not ours.)
func Admin(t testing.TB, l *lab.Lab) *sql.DB {
	t.Helper()
	_, err := l.Process(backend.NameMySQL)
	Must(t, err)
	me, err := user.Current() // whom MariaDB lets in by its socket
	Must(t, err)
	admin, err := sql.Open("mysql", me.Username+"@unix("+filepath.Join(l.Folder(), backend.NameMySQL, "mysql.sock")+")/")
	Must(t, err)
	t.Cleanup(func() { admin.Close() })
	return admin
}
