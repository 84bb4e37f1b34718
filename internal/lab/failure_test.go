package lab_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// script returns a program that runs shell commands.
func script(t *testing.T, name, commands string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, "write "+path, os.WriteFile(path, []byte("#!/bin/sh\n"+commands+"\n"), 0o755))
	return path
}

// If a server ends at once, the error has the end of its log, and nothing is left behind.
func TestFailedStartSaysWhy(t *testing.T) {
	for _, c := range []struct {
		backend     string
		tool        lab.Tool
		name, does  string
		says, again string
	}{
		{backend.NameRedis, lab.Redis, "redis-server", "echo out of luck >&2; exit 3", "redis did not start: it ended with exit status 3", "out of luck"},
		{backend.NameMySQL, lab.MariaDB, "mysqld", "echo No space left on device >&2; exit 1", "mysql could not make its data folder", "No space left"},
	} {
		host := labtest.HostIn(t)
		l, err := lab.Start(t.Context(), lab.Options{Host: host, Backends: []string{c.backend, backend.NameEtcd}, Programs: map[lab.Tool]lab.Program{
			c.tool: {Path: script(t, c.name, c.does)}, lab.Etcd: lab.NewSearch(os.Getenv).Find(lab.Etcd)}})
		if err == nil {
			l.Stop(context.Background())
			t.Fatalf("a %s that ends at once was accepted", c.name)
		}
		if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), c.again) {
			t.Errorf("%q does not say %q and %q", err, c.says, c.again)
		}
		if left, _ := os.ReadDir(host.Temp); len(left) > 0 {
			t.Errorf("%v is left in the folder", left)
		}
	}
}

// On a machine without servers a lab has the embedded engines, and reasons for the other backends.
func TestEmbeddedTier(t *testing.T) {
	for name, o := range map[string]lab.Options{
		"nothing installed": {Programs: map[lab.Tool]lab.Program{}},
		"asked for":         {Embedded: true},
	} {
		t.Run(name, func(t *testing.T) {
			o.Host = labtest.HostIn(t)
			l, err := lab.Start(t.Context(), o)
			must(t, "start", err)
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
			in, err := backend.Open(t.Context(), l.Config())
			must(t, "open", err)
			defer in.Close()
			if in.Tier(backend.NameMySQL) != backend.Embedded || in.Tier(backend.NameRedis) != backend.Embedded {
				t.Errorf("tiers %v, want both embedded", in.Config.Tiers)
			}
			if ok, _ := in.Config.Has(backend.RedisQuorum); ok {
				t.Error("one miniredis passes for five independent nodes")
			}
			begun := time.Now() // miniredis alone never lets a lease end
			must(t, "set", in.Redis.Set(t.Context(), "lease", "held", 200*time.Millisecond).Err())
			labtest.Soon(t, "the end of a lease of 200 ms", func() bool { return in.Redis.Exists(t.Context(), "lease").Val() == 0 })
			if lived := time.Since(begun); lived < 150*time.Millisecond {
				t.Errorf("a lease of 200 ms lived for %v", lived)
			}
		})
	}
}
