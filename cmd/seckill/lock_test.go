//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
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
