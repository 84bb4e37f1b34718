//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
)

// oneOfEach are locks of every kind of backend and of waiting. In make test
// they alone go through what costs many processes or the wait for a lease; the
// others start a command and keep a second one out.
var oneOfEach = []string{"redis-lua", "redis-watchdog", "redlock", "get-lock", "lock-row", "lock-insert", "zk", "etcd"}

// What every lock has to do around a command.
func TestLockAroundACommand(t *testing.T) {
	for _, info := range locks(t) {
		t.Run(info.Name, func(t *testing.T) {
			env := onServers(t, info)
			t.Parallel()
			if !labtest.Verify && !slices.Contains(oneOfEach, info.Name) {
				t.Run("around", func(t *testing.T) { keepsOut(t, env, info) })
				return
			}
			t.Run("statuses", func(t *testing.T) { holdsAndGivesBack(t, env, info) })
			t.Run("a signal", func(t *testing.T) { passesSignals(t, env, info) })
			if !slices.Contains(untold, info.Name) {
				t.Run("lost", func(t *testing.T) { endsWhatLostItsLock(t, info) })
			}
			if !info.Broken() {
				t.Run("two", func(t *testing.T) { excludes(t, env, info) })
				t.Run("many", func(t *testing.T) { counts(t, env, info) })
				t.Run("a waiter leaves", func(t *testing.T) { leavesNoWaiter(t, env, info) })
			}
			if info.Guarantees[catalog.DeadHolder] == catalog.Holds {
				t.Run("killed", func(t *testing.T) { outlivesTheDead(t, info) })
			}
		})
	}
}

// keepsOut is the least of every lock: while the command runs no other gets in,
// and its end gives the lock back with the command's status.
func keepsOut(t *testing.T, env []string, info catalog.Info) {
	key := keyOf(t, info)
	holder := lockWith(t, env, info.Name, key, "--", "sh", "-c", `echo "$SECKILL_LOCK_NAME $SECKILL_LOCK_KEY"; cat; exit 3`)
	holder.reads(info.Name + " " + key)
	if !info.Broken() {
		lockWith(t, env, info.Name, key, "--no-wait", "--", "echo", "in").wants(statusBusy, "is held by somebody else")
	}
	holder.in.Close()
	holder.wants(3, "")
	free(t, env, info, key)
}

func holdsAndGivesBack(t *testing.T, env []string, info catalog.Info) {
	key := keyOf(t, info)
	l := lockWith(t, append(env, envFence+"=outer"), info.Name, key, "--", "sh", "-c",
		`echo "$SECKILL_LOCK_NAME $SECKILL_LOCK_KEY"; test "$SECKILL_FENCE" != outer; echo $?; cat; exit 3`)
	l.reads(info.Name + " " + key)
	l.reads("0")
	fmt.Fprintln(l.in, "through")
	l.reads("through")
	l.in.Close()
	l.wants(3, "")
	free(t, env, info, key)
	lockWith(t, env, info.Name, key, "--", "sh", "-c", "kill -KILL $$").wants(128+9, "")
	free(t, env, info, key)
}

func passesSignals(t *testing.T, env []string, info catalog.Info) {
	key := keyOf(t, info)
	l := lockWith(t, env, info.Name, key, "--", "sh", "-c",
		`trap 'echo term; exit 7' TERM; trap 'echo hup' HUP; echo $$; while :; do sleep 0.05; done`)
	pid := l.line()
	l.signal(syscall.SIGHUP)
	l.reads("hup")
	l.signal(syscall.SIGTERM)
	l.reads("term")
	l.wants(7, "")
	gone(t, pid)
	free(t, env, info, key)
}

func excludes(t *testing.T, env []string, info catalog.Info) {
	key := keyOf(t, info)
	holder := lockWith(t, env, info.Name, key, "--", "sh", "-c", "echo in; cat")
	holder.reads("in")
	lockWith(t, env, info.Name, key, "--no-wait", "--", "echo", "in").wants(statusBusy, "is held by somebody else")
	timed := lockWith(t, env, info.Name, key, "--wait=150ms", "-E", "9", "-q", "--", "echo", "in")
	timed.wants(9, "")
	if timed.said.Len() > 0 {
		t.Errorf("asked to be quiet, it said %s", timed.said)
	}
	free(t, env, info, key+"2") // of another key nobody knows
	next := lockWith(t, env, info.Name, key, "--", "echo", "in")
	select {
	case line := <-next.lines:
		t.Fatalf("while another held the lock: %s", line)
	case <-time.After(100 * time.Millisecond):
	}
	holder.in.Close()
	next.reads("in")
	next.wants(0, "")
	holder.wants(0, "")
	free(t, env, info, key)
}

// Several processes count in a file; none may miss another's count.
func counts(t *testing.T, env []string, info catalog.Info) {
	const processes, rounds = 4, 3
	key, folder := keyOf(t, info), t.TempDir()
	count, fences := filepath.Join(folder, "count"), filepath.Join(folder, "fences")
	if err := os.WriteFile(count, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`n=$(cat '%s'); echo "$SECKILL_FENCE" >>'%s'; sleep 0.01; echo $((n+1)) >'%s'`, count, fences, count)
	var all sync.WaitGroup
	for range processes {
		all.Go(func() {
			for range rounds {
				lockWith(t, env, info.Name, key, "--", "sh", "-c", script).wants(0, "")
			}
		})
	}
	all.Wait()
	got, err := os.ReadFile(count)
	if err != nil || strings.TrimSpace(string(got)) != strconv.Itoa(processes*rounds) {
		t.Errorf("%d commands counted to %q, %v", processes*rounds, got, err)
	}
	tokens, err := os.ReadFile(fences)
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	for _, token := range strings.Fields(string(tokens)) {
		n, err := strconv.ParseUint(token, 10, 64)
		if err != nil || n <= last {
			t.Errorf("the fencing tokens do not grow: %q", tokens)
			break
		}
		last = n
	}
}

// Who gives up waiting leaves nothing that others would wait for.
func leavesNoWaiter(t *testing.T, env []string, info catalog.Info) {
	key := keyOf(t, info)
	holder := lockWith(t, env, info.Name, key, "--", "sh", "-c", "echo in; cat")
	holder.reads("in")
	waiter := lockWith(t, env, info.Name, key, "--", "echo", "in")
	time.Sleep(200 * time.Millisecond) // about how long it takes to be waiting; nothing depends on it
	waiter.signal(syscall.SIGINT)
	waiter.ended()
	// Before it listens, the signal's default applies.
	if got := waiter.status(); got != 128+2 && got != -2 {
		t.Errorf("a waiter at Ctrl-C ended with %d: %s", got, waiter.said)
	}
	holder.in.Close()
	holder.wants(0, "")
	free(t, env, info, key)
}

// soonOver is a short end of every kind of lock. Five nodes have less than a
// tenth of it to answer in, and a busy machine needs some time as well.
func soonOver(info catalog.Info) []string {
	ttl := "--ttl=1s"
	if slices.Contains(info.Needs, backend.RedisQuorum) {
		ttl = "--ttl=4s"
	}
	over := []string{ttl, "--zookeeper-session=3s"}
	if strings.HasPrefix(info.Name, "lock-table-") {
		over = append(over, "--lease=1s") // or a year
	}
	return over
}

// outlivesTheDead kills the holder: his command ends with him where the system
// can do that, and the next one gets in.
func outlivesTheDead(t *testing.T, info catalog.Info) {
	env, key := onServers(t, info), keyOf(t, info)
	holder := lockWith(t, env, slices.Concat([]string{info.Name, key}, soonOver(info), []string{"--", "sh", "-c", "echo $$; exec sleep 100"})...)
	pid := holder.line()
	holder.signal(syscall.SIGKILL)
	lockWith(t, env, slices.Concat([]string{info.Name, key}, soonOver(info), []string{"--wait=30s", "--", "true"})...).wants(0, "")
	if runtime.GOOS == "linux" {
		gone(t, pid)
	}
}

// untold are the locks that do not watch themselves, as their articles have
// them: nobody renews them and looks, and no deadline is kept. Their holder
// works on without them.
var untold = []string{
	"redis-get-set", "redis-random-key", "redis-setnx", "redis-setnx-expire", "redis-setex", "redis-setnx-timestamp",
	"redis-getset", "redis-set-nx-px", "redis-renew", "redis-token", "redis-multi-lock",
	"lock-insert-plain", "lock-insert-by-name", "lock-table-v1", "lock-table-central", "lock-table-segmented",
}

// endsWhatLostItsLock cuts the holder off his backend.
func endsWhatLostItsLock(t *testing.T, info catalog.Info) {
	config, cut := wired(t, labtest.Only(labtest.Start(t, info.Needs...).Config(), info.Needs...))
	key := keyOf(t, info)
	l := lockWith(t, inEnvironment(config), slices.Concat([]string{info.Name, key}, soonOver(info), []string{"--", "sh", "-c",
		`trap 'echo term; exit 0' TERM; echo $$; while :; do sleep 0.05; done`})...)
	pid := l.line()
	cut()
	l.reads("term")
	l.wants(statusLost, "lost "+info.Name)
	gone(t, pid)
}
