package lab_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

var everything = []backend.Capability{backend.RowLocks, backend.Redis, backend.RedisQuorum, backend.ZooKeeper,
	backend.Etcd}

// started returns a lab that no other test uses, so the test may break the lab.
func started(t *testing.T, o lab.Options) *lab.Lab {
	t.Helper()
	o.Host = labtest.HostIn(t)
	l := labtest.Value(lab.Start(t.Context(), o)).Must(t)
	t.Cleanup(func() { labtest.Check(t, l.Stop(context.Background()), nil, "stop the lab") })
	return l
}

func process(t *testing.T, l *lab.Lab, name string) *lab.Process {
	t.Helper()
	return labtest.Value(l.Process(name)).Must(t)
}

func TestEverythingStartsPrivately(t *testing.T) {
	l := privateLab(t)
	var names []string
	for _, s := range l.Backends() {
		names = append(names, s.Name)
		if !s.OK || s.Tier != backend.Private || s.Address == "" || !strings.ContainsAny(s.Version, "0123456789") {
			t.Errorf("%+v: want it private, with an address and a version", s)
		}
	}
	labtest.Same(t, names, backend.Names(), "the backends of the lab")
	in := labtest.Open(t, l.Config())
	for _, need := range everything {
		ok, why := in.Config.Has(need)
		labtest.Same(t, ok, true, "an instance on the lab has %s (%s)", need, why)
	}
	labtest.Same(t, len(in.RedisNodes), 5, "the number of independent Redis nodes")
	// For measurements, the server must flush its log at every commit and accept the connections of all clients.
	var flush, connections int
	labtest.Must(t, in.DB.Raw("SELECT @@innodb_flush_log_at_trx_commit, @@max_connections").Row().Scan(&flush,
		&connections))
	if flush != 1 || connections < 1000 {
		t.Errorf("flush at commit is %d and max_connections %d, want 1 and 1000", flush, connections)
	}
}

// A lab starts only the backends of its options; Add starts the others.
func TestAdd(t *testing.T) {
	l := started(t, lab.Options{Backends: []string{backend.NameRedis}})
	if c := l.Config(); c.RedisAddrs == nil || c.MySQLDSN != "" {
		t.Errorf("configuration %+v, want Redis alone", c)
	}
	first := l.Config().RedisAddrs
	labtest.Must(t, l.Add(t.Context(), backend.NameRedis, backend.NameEtcd))
	if c := l.Config(); c.EtcdEndpoints == nil || !slices.Equal(c.RedisAddrs, first) {
		t.Errorf("configuration %+v, want etcd beside the same Redis", c)
	}
	labtest.Fails(t, l.Add(t.Context(), "oracle"), "zookeeper", "an unknown backend, and the names there are")
	labtest.Value(l.Process("mysql")).Fails(t, "etcd", "a process that is not there, and the names there are")
}

// A lab accepts the same given backends as a service, such as a ring of shards and a quorum with one dead node.
func TestGivenBackendsAreUsedNotStarted(t *testing.T) {
	given := privateLab(t).Config()
	given.Tiers = nil
	given.RedisRing, given.RedisAddrs = given.RedisAddrs, nil
	given.RedlockAddrs = append(slices.Clone(given.RedlockAddrs[:4]), "127.0.0.1:1")
	l := started(t, lab.Options{Given: given})
	for _, s := range l.Backends() {
		if s.Tier != backend.Given || !s.OK || !strings.ContainsAny(s.Version, "0123456789") {
			t.Errorf("%+v: want it given, with a version", s)
		}
	}
	if all := l.Processes(); len(all) > 0 {
		t.Errorf("%d processes were started, %s first, for backends that were given", len(all), all[0].Name)
	}
}

// script returns a program that runs shell commands.
func script(t *testing.T, name, commands string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	labtest.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+commands+"\n"), 0o755))
	return path
}

// If a server ends right after its start, the error contains the end of the server's log. No process and no file is
// left.
func TestFailedStartSaysWhy(t *testing.T) {
	for _, c := range []struct {
		backend     string
		tool        lab.Tool
		name, does  string
		says, again string
	}{
		{backend.NameRedis, lab.Redis, "redis-server", "echo out of luck >&2; exit 3",
			"redis did not start: it ended with exit status 3", "out of luck"},
		{backend.NameMySQL, lab.MariaDB, "mysqld", "echo No space left on device >&2; exit 1",
			"mysql could not make its data folder", "No space left"},
	} {
		host := labtest.HostIn(t)
		l, err := lab.Start(t.Context(), lab.Options{Host: host, Backends: []string{c.backend, backend.NameEtcd},
			Programs: map[lab.Tool]lab.Program{
				c.tool: {Path: script(t, c.name, c.does)}, lab.Etcd: lab.NewSearch(os.Getenv).Find(lab.Etcd)}})
		if err == nil {
			l.Stop(context.Background())
			t.Fatalf("a %s that ends at once was accepted", c.name)
		}
		labtest.Fails(t, err, c.says, "start %s", c.backend)
		labtest.Fails(t, err, c.again, "start %s", c.backend)
		if left, _ := os.ReadDir(host.Temp); len(left) > 0 {
			t.Errorf("%v is left in the folder", left)
		}
	}
}

// Without servers a lab has the embedded engines, and says why other backends do not run.
func TestEmbeddedTier(t *testing.T) {
	for name, o := range map[string]lab.Options{
		"nothing installed": {Programs: map[lab.Tool]lab.Program{}},
		"asked for":         {Embedded: true},
	} {
		t.Run(name, func(t *testing.T) {
			o.Host = labtest.HostIn(t)
			l := labtest.Value(lab.Start(t.Context(), o)).Must(t)
			defer l.Stop(context.Background())
			embedded := map[string]string{backend.NameMySQL: "SQLite 3", backend.NameRedis: "miniredis"}
			for _, s := range l.Backends() {
				version, there := embedded[s.Name]
				switch {
				case s.OK != there:
					t.Errorf("%+v: OK should be %v", s, there)
				case there && (s.Tier != backend.Embedded || !strings.HasPrefix(s.Version, version)):
					t.Errorf("%+v: want it embedded, %s", s, version)
				case !there && s.Error == "":
					t.Errorf("%+v: want a reason", s)
				}
			}
			in := labtest.Open(t, l.Config())
			labtest.Same(t, in.Tier(backend.NameMySQL), backend.Embedded, "the tier of MySQL")
			labtest.Same(t, in.Tier(backend.NameRedis), backend.Embedded, "the tier of Redis")
			if ok, _ := in.Config.Has(backend.RedisQuorum); ok {
				t.Error("one miniredis passes for five independent nodes")
			}
			begun := time.Now() // miniredis has no clock, so a lease ends only because the lab advances the time
			labtest.Must(t, in.Redis.Set(t.Context(), "lease", "held", 200*time.Millisecond).Err())
			labtest.Soon(t, "the end of a lease of 200 ms",
				func() bool { return in.Redis.Exists(t.Context(), "lease").Val() == 0 })
			if lived := time.Since(begun); lived < 150*time.Millisecond {
				t.Errorf("a lease of 200 ms lived for %v", lived)
			}
		})
	}
}
