//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// What is wrong before the command runs has a status of its own, and a line
// that says what to do.
func TestLockSaysWhatIsWrong(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	for _, v := range inEnvironment(backend.Config{}) {
		name, _, _ := strings.Cut(v, "=")
		t.Setenv(name, "")
	}
	t.Setenv("SECKILL_STATE", t.TempDir()) // no lab runs
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", os.Getenv("PATH")+string(filepath.ListSeparator)+filepath.Dir(plain))
	for _, c := range []struct {
		what   string
		args   string
		status int
		want   string
	}{
		{"nothing", "", statusLockUsage, "seckill lock NAME KEY -- COMMAND"},
		{"no key", "redsync", statusLockUsage, "seckill lock NAME KEY -- COMMAND"},
		{"no command", "redsync k", statusLockUsage, "COMMAND"},
		{"nothing behind the dashes", "redsync k --", statusLockUsage, "COMMAND"},
		{"an unknown lock", "luck k -- true", statusLockUsage, "there is no lock \"luck\"; there are: "},
		{"no lock", "conditional k -- true", statusLockUsage, "it is not a lock; locks are: "},
		{"a lock in the process", "mutex k -- true", statusLockUsage, "exclude nobody"},
		{"an unknown flag", "redsync k --prot=1 -- true", statusLockUsage, "unknown flag --prot"},
		{"two waits", "-n --wait=1s redsync k -- true", statusLockUsage, "can't be used together"},
		{"a wait without a unit", "--wait=3 redsync k -- true", statusLockUsage, "--wait"},
		{"a negative lease", "--lease=-1s redsync k -- true", statusLockUsage, "--lease must be 0 or longer"},
		{"no end", "--ttl=0 redsync k -- true", statusLockUsage, "--ttl must be longer than 0"},
		{"no pause", "--poll=0 redsync k -- true", statusLockUsage, "--poll must be longer than 0"},
		{"no session", "--zookeeper-session=0 zk /k -- true", statusLockUsage, "--zookeeper-session must be longer than 0"},
		{"a negative grace", "--grace=-1s redsync k -- true", statusLockUsage, "--grace must be 0 or longer"},
		{"no status", "-E 256 redsync k -- true", statusLockUsage, "--busy-status must be from 0 to 255"},
		{"no backend", "redsync k -- true", statusLockUsage, "give --redis-addrs (SECKILL_REDIS_ADDRS), or --lab"},
		{"another's backend", "--redis-addrs=" + nobody + " zk /k -- true", statusLockUsage, "give --zookeeper-addrs"},
		{"too few nodes", "--redlock-addrs= redlock k -- true", statusLockUsage, "give --redlock-addrs"},
		{"no lab", "--lab redsync k -- true", statusLockUsage, "no lab is running"},
		{"an unreachable backend", "--redis-addrs=" + nobody + " redsync k -- true", statusUnavailable, "redis at " + nobody},
		{"an unreachable ZooKeeper", "--zookeeper-addrs=" + nobody + " zk /k -- true", statusUnavailable, "zookeeper at " + nobody},
		{"what the lock does not use", "--redis-addrs=" + nobody + " --etcd-endpoints=" + nobody + " etcd /k -- true",
			statusUnavailable, "etcd at " + nobody},
		{"an unknown command", "redsync k -- no-such-command", statusNotFound, "not found"},
		{"a command that is not there", "redsync k -- /no/such", statusNotFound, "no such file"},
		{"a file that is no program", "redsync k -- " + plain, statusNoExec, "permission denied"},
		{"on the PATH, and no program", "redsync k -- plain", statusNoExec, "permission denied"},
		{"a folder", "redsync k -- /", statusNoExec, "/: "},
	} {
		t.Run(c.what, func(t *testing.T) {
			var said bytes.Buffer
			status := run(t.Context(), func() {}, append([]string{"lock"}, strings.Fields(c.args)...), io.Discard, &said)
			if status != c.status || !strings.Contains(said.String(), c.want) {
				t.Errorf("seckill lock %s: status %d, want %d with %q:\n%s", c.args, status, c.status, c.want, &said)
			}
		})
	}

	redis := labtest.Only(labtest.Start(t, backend.Redis).Config(), backend.Redis)
	env := inEnvironment(redis)
	l := lockWith(t, env, "redsync", "test-interpreter", "--", script)
	l.wants(statusNotFound, "no such file")
	zookeeper := inEnvironment(labtest.Only(labtest.Start(t, backend.ZooKeeper).Config(), backend.ZooKeeper))
	lockWith(t, zookeeper, "zk", "no-path", "--", "true").wants(statusLockUsage, "is no ZooKeeper path")
	lockWith(t, zookeeper, "zk", "/ends/in/", "--", "true").wants(statusLockUsage, "is no ZooKeeper path")
	sql := inEnvironment(labtest.Only(labtest.Start(t, backend.SQL).Config(), backend.SQL))
	lockWith(t, sql, "get-lock", strings.Repeat("k", 65), "--", "true").wants(statusLockUsage, "1 to 64 characters")
}

// Whatever the statuses are, --help says them, and the flag's default is one.
func TestLockHelpNamesItsStatuses(t *testing.T) {
	var help bytes.Buffer
	if status := run(t.Context(), func() {}, []string{"lock", "--help"}, &help, io.Discard); status != 0 {
		t.Fatalf("--help ended with %d", status)
	}
	for _, status := range []int{statusBusy, statusLost, statusUnavailable, statusLockUsage, statusNoExec, statusNotFound} {
		if !strings.Contains(help.String(), fmt.Sprintf("\n    %d  ", status)) {
			t.Errorf("--help does not name the status %d:\n%s", status, &help)
		}
	}
	for _, name := range lockNames() {
		if !strings.Contains(help.String(), name) {
			t.Errorf("--help does not name the lock %s", name)
		}
	}
}

func onRedis(t *testing.T) []string {
	return inEnvironment(labtest.Only(labtest.Start(t, backend.Redis).Config(), backend.Redis))
}

// A lost lock ends the whole group, also those who will not hear of it; what
// the command has detached itself from it, it may keep.
func TestLostLockEndsTheDeaf(t *testing.T) {
	in, env := labtest.Instance(t, backend.Redis), onRedis(t)
	for what, script := range map[string]string{
		"the command":  `trap '' TERM; echo $$; while :; do sleep 0.05; done`,
		"its child":    `(trap '' TERM; while :; do sleep 0.05; done) & echo $$; wait`,
		"its leftover": `trap 'exit 0' TERM; (trap '' TERM; exec >/dev/null; while :; do sleep 0.05; done) & echo $$; wait; exit 0`,
	} {
		t.Run(what, func(t *testing.T) {
			key := "test:" + t.Name()
			l := lockWith(t, env, "redsync", key, "--ttl=600ms", "--grace=300ms", "--", "sh", "-c", script)
			pid := l.line()
			if err := in.Redis.Set(t.Context(), key, "a stranger", time.Minute).Err(); err != nil {
				t.Fatal(err)
			}
			l.wants(statusLost, "lost redsync")
			gone(t, pid)
			if got := in.Redis.Get(t.Context(), key).Val(); got != "a stranger" {
				t.Errorf("the key is %q now", got)
			}
			in.Redis.Del(t.Context(), key)
		})
	}
}

// Somebody who is stopped hears of the end, too: he is let go on.
func TestLostLockWakesTheStopped(t *testing.T) {
	in := labtest.Instance(t, backend.Redis)
	key := "test:" + t.Name()
	l := lockWith(t, onRedis(t), "redsync", key, "--ttl=600ms", "--grace=1m", "--", "sh", "-c",
		`trap 'echo term; exit 0' TERM; echo in; kill -STOP $$; while :; do sleep 0.05; done`)
	l.reads("in")
	if err := in.Redis.Del(t.Context(), key).Err(); err != nil {
		t.Fatal(err)
	}
	l.reads("term")
	l.wants(statusLost, "lost redsync")
}

// A lock that was gone when the command ended is said, though nobody noticed.
func TestLockWasGoneAtTheEnd(t *testing.T) {
	in := labtest.Instance(t, backend.Redis)
	key := "test:" + t.Name()
	l := lockWith(t, onRedis(t), "redis-lua", key, "--", "sh", "-c", "echo in; cat")
	l.reads("in")
	if n, err := in.Redis.Del(t.Context(), key).Result(); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	l.in.Close()
	l.wants(statusLost, "was not ours any more")
}

func TestLockTalks(t *testing.T) {
	env := onRedis(t)
	key := "test:" + t.Name()
	l := lockWith(t, env, "redsync", key, "-v", "--", "true")
	l.wants(0, "took redsync "+key)
	l.wants(0, "gave redsync "+key+" back")
	silent := lockWith(t, env, "redsync", key, "--", "true")
	silent.wants(0, "")
	if silent.said.Len() > 0 {
		t.Errorf("with nothing to say it said %s", silent.said)
	}
	lockWith(t, env, "redis-setex", key, "--", "true").wants(0, "is a bad example")
}
