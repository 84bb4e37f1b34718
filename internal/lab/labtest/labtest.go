// Package labtest runs real servers for tests. Each test program has one lab, whose backends start when the first
// test needs them. A test fails if its server is not installed.
package labtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
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

// Main runs the tests of a program: func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }
func Main(m *testing.M) int {
	HearSignals()
	// With the race detector, a program sleeps for a second before it exits. This setting turns the sleep off. Service
	// processes inherit the setting.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	defer stopShared()
	KeepCompiledSQLite()
	return m.Run()
}

// HearSignals lets the child processes of this program receive SIGHUP, SIGINT and SIGQUIT. This program ignores some of
// these signals if nohup or a script in the background has started it. Child processes would inherit this. They do not
// inherit caught signals, so HearSignals catches the ignored signals and does nothing about them. Main calls
// HearSignals.
func HearSignals() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// KeepCompiledSQLite keeps SQLite's compiled WebAssembly in the user's cache. Otherwise every program would compile it
// again, which takes ten seconds of processor time with the race detector. Main calls KeepCompiledSQLite, and so does
// every program that tests start.
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

// Host returns the host of this test program.
func Host() lab.Host { return lab.Host{Environ: os.Environ(), Temp: os.TempDir()} }

var shared struct {
	mu   sync.Mutex
	lab  *lab.Lab
	drop func() // drops the database that the program made on the server of SECKILL_TEST_MYSQL_DSN; may be nil
}

func stopShared() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.drop != nil {
		shared.drop()
	}
	if shared.lab != nil {
		shared.lab.Stop(context.Background())
	}
}

// Start returns the lab of the test program, and starts the backends with these capabilities in it. All tests of the
// program share the lab until Main ends.
//
// If the variable SECKILL_TEST_MYSQL_DSN is set, tests use the MySQL server at this address instead of a private
// server. Each test program makes a database of its own on it, and drops the database at the end.
func Start(t testing.TB, needs ...backend.Capability) *lab.Lab {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if shared.lab == nil {
		startShared(ctx, t)
	}
	names := backend.NamesOf(needs...)
	if err := shared.lab.Add(ctx, names...); err != nil {
		t.Fatalf("start %v: %v", names, err)
	}
	for _, s := range shared.lab.Backends() {
		if slices.Contains(names, s.Name) && (!s.OK || s.Tier == backend.Embedded) {
			t.Fatalf("this test needs a real %s; there is %q (%s); run: deploy/deps.sh", s.Name, s.Version, s.Error)
		}
	}
	return shared.lab
}

func startShared(ctx context.Context, t testing.TB) {
	t.Helper()
	var given backend.Config
	if dsn := os.Getenv("SECKILL_TEST_MYSQL_DSN"); dsn != "" {
		own, drop, err := newDatabase(dsn)
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

// newDatabase returns dsn with the name of a new database, and a function that drops the database.
func newDatabase(dsn string) (own string, drop func(), err error) {
	c, err := mysql.ParseDSN(dsn)
	if err != nil {
		return "", nil, err
	}
	c.DBName = fmt.Sprintf("seckill_test_%d_%d", os.Getpid(), time.Now().UnixNano())
	db, err := sql.Open("mysql", c.FormatDSN()) // this opens no connection before the first statement
	if err != nil {
		return "", nil, err
	}
	return c.FormatDSN(), func() {
		db.Exec("DROP DATABASE IF EXISTS " + c.DBName)
		db.Close()
	}, nil
}

// Config returns the configuration of the shared lab with these capabilities only.
func Config(t testing.TB, needs ...backend.Capability) backend.Config {
	t.Helper()
	return Start(t, needs...).Config().Only(needs...)
}

// NewLab starts a lab with a topology for one test only, so that the test may kill servers.
func NewLab(t testing.TB, topology string, backends ...string) *lab.Lab {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	l, err := lab.Start(ctx, lab.Options{Host: Host(), Backends: backends, Topology: topology})
	if err != nil {
		t.Fatalf("start %v with topology %s: %v (run: deploy/deps.sh)", backends, topology, err)
	}
	t.Cleanup(func() {
		if err := l.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// Nodes returns one configuration for each node of a lab's database. A client with such a configuration uses that node.
func Nodes(t testing.TB, l *lab.Lab) []backend.Config {
	t.Helper()
	var each []backend.Config
	e := Value(l.Ensemble(t.Context(), backend.NameMySQL)).Must(t)
	for _, p := range e.Nodes {
		each = append(each, e.Config(l.Config(), p))
	}
	return each
}

// WithRedisOf returns the configuration of the shared lab with these capabilities, but with the Redis of the lab l.
func WithRedisOf(t testing.TB, l *lab.Lab, needs ...backend.Capability) backend.Config {
	t.Helper()
	others := slices.DeleteFunc(needs, func(c backend.Capability) bool { return c == backend.Redis })
	c, own := Config(t, others...), l.Config()
	c.RedisAddrs, c.RedisSentinels, c.RedisRing = own.RedisAddrs, own.RedisSentinels, own.RedisRing
	return c
}

// InOtherDatabase returns config with a new database of the same MySQL server. The database is dropped when the test
// ends.
func InOtherDatabase(t testing.TB, config backend.Config) backend.Config {
	t.Helper()
	own, drop, err := newDatabase(config.MySQLDSN)
	Must(t, err)
	t.Cleanup(drop)
	config.MySQLDSN = own
	return config
}

// WithSnapshotIsolation returns config with innodb_snapshot_isolation set to ON in every session. The second result
// is false if the server does not have this setting. MySQL does not have it.
func WithSnapshotIsolation(t testing.TB, config backend.Config) (_ backend.Config, known bool) {
	t.Helper()
	var has []struct{ Value string }
	const show = "SHOW VARIABLES LIKE 'innodb_snapshot_isolation'"
	if Must(t, Open(t, config).DB.Raw(show).Scan(&has).Error); len(has) == 0 {
		return config, false
	}
	dsn := Value(mysql.ParseDSN(config.MySQLDSN)).Must(t)
	dsn.Params = map[string]string{"innodb_snapshot_isolation": "ON"}
	config.MySQLDSN = dsn.FormatDSN()
	if Must(t, Open(t, config).DB.Raw(show).Scan(&has).Error); has[0].Value != "ON" {
		t.Fatal("the address does not choose innodb_snapshot_isolation")
	}
	return config, true
}

// RedisUser creates a user with the given rules and the password "pw" on each Redis server, and deletes the user when
// the test ends. It returns the servers' addresses with the user's login.
func RedisUser(t testing.TB, addresses []string, name string, rules ...any) []string {
	t.Helper()
	var own []string
	for _, address := range addresses {
		at := Value(backend.ParseRedis(address)).Must(t)
		admin := redis.NewClient(at)
		Must(t, admin.Do(t.Context(), append([]any{"ACL", "SETUSER", name, "reset", "on", ">pw"}, rules...)...).Err())
		t.Cleanup(func() { admin.Do(context.Background(), "ACL", "DELUSER", name); admin.Close() })
		own = append(own, (&url.URL{Scheme: "redis", User: url.UserPassword(name, "pw"), Host: at.Addr}).String())
	}
	return own
}

// Instance opens an instance that has only these capabilities. It is closed when the test ends.
func Instance(t testing.TB, needs ...backend.Capability) *backend.Instance {
	t.Helper()
	return Open(t, Config(t, needs...))
}

// Open opens an instance, which is closed when the test ends.
func Open(t testing.TB, config backend.Config) *backend.Instance {
	t.Helper()
	in := Value(backend.Open(t.Context(), config)).Must(t)
	t.Cleanup(func() { in.Close() })
	return in
}

// HostIn returns a host whose labs make their folders in a new folder, which is removed when the test ends. The path
// is shorter than the path of t.TempDir, because the path of a socket has at most 107 characters.
func HostIn(t testing.TB) lab.Host {
	t.Helper()
	folder := Value(os.MkdirTemp("", "lab")).Must(t)
	t.Cleanup(func() { os.RemoveAll(folder) })
	host := Host()
	host.Temp = folder
	return host
}

// Must ends the test if err is not nil.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Check fails the test unless errors.Is(err, want); if want is nil, err must be nil. The text says what the test did.
func Check(t testing.TB, err, want error, text string, args ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", fmt.Sprintf(text, args...), err, want)
	}
}

// A Result is the value and the error that a call has returned.
type Result[T any] struct {
	value T
	err   error
}

// Value returns the result of a call with a value: labtest.Value(os.ReadFile(name)).Must(t)
func Value[T any](value T, err error) Result[T] { return Result[T]{value, err} }

// Must returns the value, or ends the test if the call has failed.
func (r Result[T]) Must(t testing.TB) T {
	t.Helper()
	Must(t, r.err)
	return r.value
}

// Check calls the function Check with the error of the call.
func (r Result[T]) Check(t testing.TB, want error, text string, args ...any) {
	t.Helper()
	Check(t, r.err, want, text, args...)
}

// Same calls the function Same with the value of the call, or Check if the call has failed.
func (r Result[T]) Same(t testing.TB, want T, text string, args ...any) {
	t.Helper()
	if r.err != nil {
		Check(t, r.err, nil, text, args...)
		return
	}
	Same(t, r.value, want, text, args...)
}

// Fails calls the function Fails with the error of the call.
func (r Result[T]) Fails(t testing.TB, part, text string, args ...any) {
	t.Helper()
	Fails(t, r.err, part, text, args...)
}

// Fails fails the test unless err is an error whose message contains part. The text says what the test did.
func Fails(t testing.TB, err error, part, text string, args ...any) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%s: %v, want an error with %q", fmt.Sprintf(text, args...), err, part)
	}
}

// Contains fails the test if got does not contain part. In the message, what and args describe got (see fmt.Sprintf).
func Contains(t testing.TB, got, part, what string, args ...any) {
	t.Helper()
	if !strings.Contains(got, part) {
		t.Errorf("%s does not contain %q:\n%.2000s", fmt.Sprintf(what, args...), part, got)
	}
}

// Same fails the test if the value got is not equal to the value want. The text says what was compared.
func Same[T any](t testing.TB, got, want T, text string, args ...any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, want %+v", fmt.Sprintf(text, args...), got, want)
	}
}

// Map returns a list of the results of f for the elements of list.
func Map[S ~[]E, E, R any](list S, f func(E) R) (made []R) {
	for _, e := range list {
		made = append(made, f(e))
	}
	return made
}

// Patience limits how long tests wait for an event. It is long enough for a busy machine.
const Patience = time.Minute

// Soon waits until f returns true. After Patience it fails the test.
func Soon(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting after %v: %s", Patience, what)
		}
	}
}

// MySQLWith returns a program that starts MariaDB with more options. The program leaves out the options in the
// bootstrap run, which initializes the data.
func MySQLWith(t testing.TB, options string) lab.Program {
	t.Helper()
	p := lab.NewSearch(os.Getenv).Find(lab.MariaDB)
	real := Value(filepath.EvalSymlinks(p.Path)).Must(t)
	prefix := t.TempDir()
	p.Path = filepath.Join(prefix, "bin", filepath.Base(real))
	Must(t, os.Mkdir(filepath.Dir(p.Path), 0o700))
	Must(t, os.Symlink(filepath.Join(filepath.Dir(filepath.Dir(real)), "share"), filepath.Join(prefix, "share")))
	run := "#!/bin/sh\ncase \"$*\" in *--bootstrap*) exec '" + real + "' \"$@\";; esac\n" +
		"exec '" + real + "' \"$@\" " + options + "\n"
	Must(t, os.WriteFile(p.Path, []byte(run), 0o700))
	return p
}

// Admin opens a connection pool for the administrator of a lab's private MariaDB. It does not work with a private
// MySQL, because the lab locks the account of its administrator.
func Admin(t testing.TB, l *lab.Lab) *sql.DB {
	t.Helper()
	Value(l.Process(backend.NameMySQL)).Must(t)
	me, err := user.Current() // at its socket, MariaDB lets this user log in without a password
	Must(t, err)
	socket := filepath.Join(l.Folder(), backend.NameMySQL, "mysql.sock")
	admin := Value(sql.Open("mysql", me.Username+"@unix("+socket+")/")).Must(t)
	t.Cleanup(func() { admin.Close() })
	return admin
}
