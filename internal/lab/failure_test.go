package lab_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// script makes a program of shell commands.
func script(t *testing.T, name, commands string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, "write "+path, os.WriteFile(path, []byte("#!/bin/sh\n"+commands+"\n"), 0o755))
	return path
}

// A server that ends at once: the message has its last words, and nothing is left.
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
