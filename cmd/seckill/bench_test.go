package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/bench"
)

func TestBenchSaysWhatIsWrong(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "no", "such", "folder")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"locks --locks=naive", 2, `there is no lock "naive"; there are: `},
		{"locks --locks=zk,zk", 2, "names zk twice"},
		{"locks --foreign=etcd", 2, `there is no lock "etcd" of others; there are: redsync, `},
		{"locks --foreign=redsync,redsync", 2, "names redsync twice"},
		{"locks --foreign=redsync --no-foreign", 2, "--foreign and --no-foreign can't be used together"},
		{"locks --locks=mutex --instances=2", 2, "leave out --instances"},
		{"locks --contenders=1", 2, "--contenders must be numbers from 2 to 512"},
		{"locks --contenders=8,8", 2, "names a number twice"},
		{"locks --contenders=many", 2, "--contenders"},
		{"locks --hold=-1ms", 2, "--hold must be from 0 to 1s"},
		{"locks --instances=0", 2, "--instances must be 1 to 16"},
		{"locks --rounds=0", 2, "--rounds must be 1 to 100"},
		{"locks --for=1ms", 2, "--for must be from 10ms"},
		{"locks --poll=0s", 2, "--poll must be longer than 0"},
		{"locks --lease=1ms", 2, "--lease must be 1s or longer"},
		{"locks --sqlite-path=x.db", 2, "no lock lives in SQLite"},
		{"locks --json=- --markdown=-", 2, "cannot both be standard output"},
		{"locks --json=" + nowhere, 1, "the result could not be written"},
		{"locks --locks=redis-lua --no-foreign --redis-addrs=127.0.0.1:1", 1, "127.0.0.1:1"},
		{"claims --lock=zk", 2, "is no lock that polls"},
		{"claims --task=0s", 2, "--task must be from 1ms to 1s"},
		{"claims --workers=0", 2, "--workers must be 1 to 100"},
		{"claims --each=0", 2, "--each must be 1 to 100000"},
	} {
		status, _, stderr := benchWith(t.Context(), strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stderr, c.want) {
			t.Errorf("bench %s: status %d, said %q, want %d and %q", c.args, status, stderr, c.status, c.want)
		}
	}
}

func benchWith(ctx context.Context, args ...string) (status int, stdout, stderr string) {
	var out, said bytes.Buffer
	status = run(ctx, func() {}, append([]string{"bench"}, args...), &out, &said)
	return status, out.String(), said.String()
}

// shortly are flags for a run that is over soon.
var shortly = []string{"--contenders=4", "--hold=1ms", "--rounds=1", "--for=100ms"}

// A lock that lets two in is the exit status's own, and its figures are still
// there for whoever wants to see how.
func TestBenchOfALockThatExcludesNobody(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	page := filepath.Join(t.TempDir(), "locks.md")
	status, stdout, stderr := benchWith(t.Context(), append([]string{"locks", "--locks=redis-random-key,redis-lua", "--no-foreign",
		"--json=-", "--markdown=" + page}, shortly...)...)
	if status != statusOverlap {
		t.Fatalf("status %d, want %d: %s", status, statusOverlap, stderr)
	}
	var r bench.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if len(r.Locks) != 2 || len(r.Servers) != 1 || r.Command == "" {
		t.Errorf("%d locks on %v by %q", len(r.Locks), r.Servers, r.Command)
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), "overlap seen") || !strings.Contains(string(text), "| redis-lua |") {
		t.Errorf("%v, the page says:\n%s", err, text)
	}
	isEmpty(t, folder)
}

// Ctrl-C ends the run. What was measured is written, and the servers are gone.
func TestBenchBrokenOffLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out bytes.Buffer
	said := writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), "4 contenders") {
			interrupt()
		}
		return len(p), nil
	})
	status := run(ctx, func() {}, append([]string{"bench", "locks", "--locks=redis-lua,redis-watchdog", "--no-foreign"}, shortly...),
		&out, said)
	if status != statusFailed || !strings.Contains(out.String(), "Uncontended") {
		t.Errorf("status %d and %q, want %d and a table", status, out.String(), statusFailed)
	}
	isEmpty(t, folder)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func isEmpty(t *testing.T, folder string) {
	t.Helper()
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("%v; left behind: %v", err, left)
	}
}
