//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/backend/backendtest"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// locks are the strategies that seckill lock takes.
func locks(t *testing.T) (all []catalog.Info) {
	t.Helper()
	for _, info := range strategies.All() {
		if info.Locker != nil && !inProcess(info) {
			all = append(all, info)
		}
	}
	if len(all) == 0 {
		t.Fatal("there are no locks")
	}
	return all
}

// onServers is the environment's way to the real servers.
func onServers(t *testing.T, info catalog.Info) []string {
	return inEnvironment(labtest.Only(labtest.Start(t, info.Needs...).Config(), info.Needs...))
}

func inEnvironment(c backend.Config) []string {
	return []string{
		"SECKILL_MYSQL_DSN=" + c.MySQLDSN, "SECKILL_SQLITE_PATH=", "SECKILL_REDIS_ADDRS=" + strings.Join(c.RedisAddrs, ","),
		"SECKILL_REDLOCK_ADDRS=" + strings.Join(c.RedlockAddrs, ","), "SECKILL_ZOOKEEPER_ADDRS=" + strings.Join(c.ZooKeeperAddrs, ","),
		"SECKILL_ETCD_ENDPOINTS=" + strings.Join(c.EtcdEndpoints, ","),
	}
}

// wired puts a wire before each server, which cut cuts.
func wired(t *testing.T, c backend.Config) (_ backend.Config, cut func()) {
	var wires []*backendtest.Wire
	wired := func(addrs []string) (list []string) {
		for _, addr := range addrs {
			w := backendtest.NewWire(t, strings.TrimPrefix(addr, "http://"))
			wires, list = append(wires, w), append(list, w.Addr)
		}
		return list
	}
	for _, list := range []*[]string{&c.RedisAddrs, &c.RedlockAddrs} {
		*list = slices.Clone(*list)
		for i, addr := range *list {
			w, address := backendtest.NewRedisWire(t, addr)
			wires, (*list)[i] = append(wires, w), address
		}
	}
	c.ZooKeeperAddrs, c.EtcdEndpoints = wired(c.ZooKeeperAddrs), wired(c.EtcdEndpoints)
	if c.MySQLDSN != "" {
		dsn, err := mysql.ParseDSN(c.MySQLDSN)
		if err != nil {
			t.Fatal(err)
		}
		if dsn.Net != "tcp" {
			t.Fatalf("MySQL is reached by %s, which no wire is", dsn.Net)
		}
		dsn.Addr = wired([]string{dsn.Addr})[0]
		c.MySQLDSN = dsn.FormatDSN()
	}
	return c, func() {
		for _, w := range wires {
			w.Cut()
		}
	}
}

// keyOf is a key in the lock's own form that nobody else uses.
func keyOf(t *testing.T, info catalog.Info) string {
	sku := time.Now().UnixNano()
	if i := strings.LastIndexByte(info.Key(sku), '.'); i >= 0 {
		return info.Key(sku)
	}
	return info.Key(sku) + "-test"
}

// A locking is a seckill lock that runs.
type locking struct {
	*exec.Cmd
	t     *testing.T
	in    io.WriteCloser // the command's
	lines chan string    // the command's output
	said  *bytes.Buffer  // what seckill said; to be read when it has ended
	done  chan struct{}
}

// patience is for machines that have much else to do.
const patience = 60 * time.Second

// lockWith starts seckill lock. Unless a test says when the lock ends, it
// lives longer than a busy machine can keep a holder waiting.
func lockWith(t *testing.T, env []string, args ...string) *locking {
	t.Helper()
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--ttl=") }) {
		args = slices.Concat([]string{"--ttl=1m"}, args)
	}
	l := &locking{Cmd: exec.Command(os.Args[0], append([]string{"lock"}, args...)...), t: t,
		lines: make(chan string, 64), said: &bytes.Buffer{}, done: make(chan struct{})}
	l.Env = append(os.Environ(), env...)
	l.Stderr = l.said
	l.SysProcAttr = labtest.Together()
	l.WaitDelay = time.Second // the command may have left somebody with our pipe
	var err error
	if l.in, err = l.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	l.Stdout = write
	if err := l.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	go func() {
		defer close(l.lines)
		defer out.Close()
		for s := bufio.NewScanner(out); s.Scan(); {
			l.lines <- s.Text()
		}
	}()
	go func() {
		defer close(l.done)
		_ = l.Wait()
	}()
	t.Cleanup(func() {
		_ = l.Process.Kill()
		<-l.done
	})
	return l
}

// line waits for a line of the command.
func (l *locking) line() string {
	l.t.Helper()
	select {
	case got, open := <-l.lines:
		if !open {
			l.t.Fatalf("%v ended with %d instead of writing: %s", l.Args[1:], l.status(), l.said)
		}
		return got
	case <-time.After(patience):
		l.t.Fatalf("%v wrote nothing in %v", l.Args[1:], patience)
	}
	return ""
}

func (l *locking) reads(want string) {
	l.t.Helper()
	if got := l.line(); got != want {
		l.t.Fatalf("%v wrote %q, want %q", l.Args[1:], got, want)
	}
}

func (l *locking) ended() {
	l.t.Helper()
	select {
	case <-l.done:
	case <-time.After(patience):
		l.t.Fatalf("%v has not ended in %v", l.Args[1:], patience)
	}
}

// status is that of the shell: 128 and a signal's number if that ended it.
func (l *locking) status() int {
	l.ended()
	s := l.ProcessState.Sys().(syscall.WaitStatus)
	if s.Signaled() {
		return -int(s.Signal())
	}
	return s.ExitStatus()
}

func (l *locking) wants(status int, said string) {
	l.t.Helper()
	l.ended()
	if got := l.status(); got != status || !strings.Contains(l.said.String(), said) {
		l.t.Errorf("%v: exit status %d, want %d with %q:\n%s", l.Args[1:], got, status, said, l.said)
	}
}

func (l *locking) signal(s os.Signal) {
	l.t.Helper()
	if err := l.Process.Signal(s); err != nil {
		l.t.Fatal(err)
	}
}

// free makes sure that nobody holds or waits for the lock.
func free(t *testing.T, env []string, info catalog.Info, key string) {
	t.Helper()
	lockWith(t, env, info.Name, key, "--wait=0", "-q", "--", "true").wants(0, "")
}

func gone(t *testing.T, group string) {
	t.Helper()
	pid, err := strconv.Atoi(group)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); syscall.Kill(-pid, 0) != syscall.ESRCH; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the command's group %d is still there", pid)
		}
	}
}

// oneOfEach are locks of every kind of backend and of waiting. In make test
// they alone go through what costs many processes.
var oneOfEach = []string{"redis-lua", "redis-watchdog", "redlock", "get-lock", "lock-row", "lock-insert", "zk", "etcd"}

// What every lock has to do around a command.
func TestLockAroundACommand(t *testing.T) {
	for _, info := range locks(t) {
		t.Run(info.Name, func(t *testing.T) {
			env := onServers(t, info)
			t.Parallel()
			t.Run("statuses", func(t *testing.T) { holdsAndGivesBack(t, env, info) })
			thorough := labtest.Verify || slices.Contains(oneOfEach, info.Name)
			if thorough {
				t.Run("a signal", func(t *testing.T) { passesSignals(t, env, info) })
			}
			if !slices.Contains(untold, info.Name) {
				t.Run("lost", func(t *testing.T) { endsWhatLostItsLock(t, info) })
			}
			if !info.Broken() {
				t.Run("two", func(t *testing.T) { excludes(t, env, info) })
			}
			if !info.Broken() && thorough {
				t.Run("many", func(t *testing.T) { counts(t, env, info) })
				t.Run("a waiter leaves", func(t *testing.T) { leavesNoWaiter(t, env, info) })
			}
			if info.Guarantees[catalog.C] == catalog.Holds {
				t.Run("killed", func(t *testing.T) { outlivesTheDead(t, info) })
			}
		})
	}
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
