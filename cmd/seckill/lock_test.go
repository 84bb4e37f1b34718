//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/rogpeppe/go-internal/testscript"

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

// oneOfEach are locks of every kind of backend and of waiting. In make test
// they alone go through what costs many processes or the wait for a lease; the
// others start a command and keep a second one out.
var oneOfEach = []string{"redis-lua", "redis-watchdog", "redlock", "get-lock", "lock-row", "lock-insert", "zk", "etcd"}

// untold are the locks that do not watch themselves, as their articles have
// them. Their holder works on without them.
var untold = []string{
	"redis-get-set", "redis-random-key", "redis-setnx", "redis-setnx-expire", "redis-setex", "redis-setnx-timestamp",
	"redis-getset", "redis-set-nx-px", "redis-renew", "redis-token", "redis-multi-lock",
	"lock-insert-plain", "lock-insert-by-name", "lock-table-v1", "lock-table-central", "lock-table-segmented",
}

// What every lock has to do around a command.
func TestLockAroundACommand(t *testing.T) {
	for _, info := range locks(t) {
		t.Run(info.Name, func(t *testing.T) {
			t.Parallel()
			scripts := []string{"around"}
			if labtest.Verify || slices.Contains(oneOfEach, info.Name) {
				scripts = []string{"statuses", "signal"}
				if !slices.Contains(untold, info.Name) {
					scripts = append(scripts, "lost")
				}
				if !info.Broken() {
					scripts = append(scripts, "two", "many", "leaves")
				}
				if info.Guarantees[catalog.DeadHolder] == catalog.Holds {
					scripts = append(scripts, "killed")
				}
			}
			lockScripts(t, info, nil, scripts...)
		})
	}
}

// lockScripts runs scripts of testdata/lock, each with a key of its own.
func lockScripts(t *testing.T, info catalog.Info, commands map[string]scriptCommand, names ...string) {
	t.Helper()
	p := testscript.Params{Cmds: commands, Condition: func(string) (bool, error) { return info.Broken(), nil }} // [broken]
	for _, name := range names {
		p.Files = append(p.Files, filepath.Join("testdata", "lock", name+".txtar"))
	}
	// A short end of every kind of lock. Five nodes have less than a tenth of it
	// to answer in, and a busy machine needs some time as well.
	ttl, lease := "1s", "0"
	if slices.Contains(info.Needs, backend.RedisQuorum) {
		ttl = "4s"
	}
	if strings.HasPrefix(info.Name, "lock-table-") {
		lease = "1s" // or a year
	}
	runScripts(t, p, func(t testing.TB) []string {
		return append(inEnvironment(labtest.Config(t, info.Needs...)),
			"LOCK="+info.Name, "KEY="+keyOf(info), "TTL="+ttl, "LEASE=--lease="+lease, "SECKILL_LOCK_LEASE=1m", envFence+"=outer")
	})
}

// keyOf is a key in the lock's own form that nothing else uses.
func keyOf(info catalog.Info) string {
	key := info.Key(time.Now().UnixNano())
	if strings.Contains(key, ".") {
		return key
	}
	return key + "-test"
}

func inEnvironment(c backend.Config) (list []string) {
	for name, value := range c.Environment() {
		list = append(list, name+"="+value)
	}
	return list
}

// wired puts a wire before each server, which cut cuts.
func wired(t testing.TB, c backend.Config) (_ backend.Config, cut func()) {
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

// Whatever the statuses are, --help says them, and names every lock.
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
