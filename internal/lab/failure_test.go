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
	broken := script(t, "redis-server", "echo out of luck >&2; exit 3")
	host := labtest.HostIn(t)
	l, err := lab.Start(t.Context(), lab.Options{Host: host, Backends: []string{backend.NameRedis, backend.NameEtcd},
		Programs: map[lab.Tool]lab.Program{lab.Redis: {Path: broken}, lab.Etcd: lab.NewSearch(os.Getenv).Find(lab.Etcd)}})
	if err == nil {
		l.Stop(context.Background())
		t.Fatal("a Redis that ends at once was accepted")
	}
	for _, want := range []string{"redis did not start", "exit status 3", "out of luck"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if left, _ := os.ReadDir(host.Temp); len(left) > 0 {
		t.Errorf("%v is left in the folder", left)
	}
}

func TestMySQLThatCannotMakeItsData(t *testing.T) {
	broken := script(t, "mysqld", "echo No space left on device >&2; exit 1")
	_, err := lab.Start(t.Context(), lab.Options{Host: labtest.HostIn(t), Backends: []string{backend.NameMySQL},
		Programs: map[lab.Tool]lab.Program{lab.MariaDB: {Path: broken}}})
	if err == nil || !strings.Contains(err.Error(), "data folder") || !strings.Contains(err.Error(), "No space left") {
		t.Errorf("%v: want it to tell of the data folder, with what the server said", err)
	}
}

// A Unix socket's path has hardly 100 bytes, a folder's may have thousands.
func TestLongFolder(t *testing.T) {
	host := labtest.HostIn(t)
	host.Temp = filepath.Join(host.Temp, strings.Repeat("long/", 30))
	l, err := lab.Start(t.Context(), lab.Options{Host: host, Backends: []string{}})
	if err == nil {
		l.Stop(context.Background())
	}
	if err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("%v: want it to say what to do", err)
	}
}
