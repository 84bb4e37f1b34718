package backend_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/tap"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// The SQL server lists a client for each of the ports that LocalPorts returns.
func TestLocalPortsOfABackend(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.Redis, backend.ZooKeeper)
	ports, listed := in.Dialer.LocalPorts(tap.SQL), 0
	query := "SELECT COUNT(*) FROM information_schema.PROCESSLIST " +
		"WHERE DB = DATABASE() AND SUBSTRING_INDEX(HOST, ':', -1) IN ?"
	labtest.Must(t, in.DB.Raw(query, ports).Scan(&listed).Error)
	if listed == 0 || listed != len(ports) {
		t.Errorf("the SQL server lists %d of the ports %v", listed, ports)
	}
}

func TestStatus(t *testing.T) {
	needs := []backend.Capability{backend.SQL, backend.Redis, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd}
	lab := labtest.Start(t, needs...)
	in := labtest.Instance(t, needs...)
	// awaitStatus waits until Status reports these backends as down and all others as OK.
	awaitStatus := func(what string, down ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		for {
			all, wrong := in.Status(ctx), ""
			for _, s := range all {
				if s.OK == slices.Contains(down, s.Name) || s.OK != (s.Error == "") || s.Address == "" ||
					!strings.ContainsAny(s.Version, "0123456789") || s.Tier == "" {
					wrong += fmt.Sprintf("\n%+v", s)
				}
			}
			if len(all) != len(needs) {
				t.Fatalf("%s: %d backends, want %d", what, len(all), len(needs))
			}
			if wrong == "" {
				return
			}
			if ctx.Err() != nil {
				t.Fatalf("%s: want only %v down, got%s", what, down, wrong)
			}
			time.Sleep(20 * time.Millisecond) // Status has no event to wait for
		}
	}
	kill := func(name string) func() {
		p, err := lab.Process(name)
		labtest.Must(t, err)
		labtest.Must(t, p.Kill(t.Context()))
		return func() {
			labtest.Must(t, p.Restart(t.Context()))
		}
	}
	awaitStatus("all run")
	restarts := []func(){kill("redis"), kill("zookeeper"), kill("etcd"), kill("redlock-1"), kill("redlock-2")}
	awaitStatus("three are down, and two of five Redlock nodes", "redis", "zookeeper", "etcd")
	restarts = append(restarts, kill("redlock-3"))
	awaitStatus("the majority of the nodes is down, too", "redis", "zookeeper", "etcd", "redlock")
	for _, restart := range restarts {
		restart()
	}
	awaitStatus("all run again")

	p, err := lab.Process("redis")
	labtest.Must(t, err)
	labtest.Must(t, p.Pause())
	awaitStatus("redis hangs", "redis")
	labtest.Must(t, p.Resume())
	awaitStatus("redis continues")
}

// Open needs a majority of the Redlock nodes.
func TestRedlockOpensWithAMajority(t *testing.T) {
	var addrs []string
	var nodes []*miniredis.Miniredis
	for range 5 {
		m := miniredis.RunT(t)
		nodes, addrs = append(nodes, m), append(addrs, m.Addr())
	}
	config := backend.Config{SQLitePath: t.TempDir() + "/ledger.db", RedlockAddrs: addrs}
	for down := range 4 {
		if down > 0 {
			nodes[down-1].Close()
		}
		in, err := backend.Open(t.Context(), config)
		if (err == nil) != (down <= 2) {
			t.Errorf("%d of five nodes down: %v", down, err)
		}
		if err != nil {
			continue
		}
		if ok, why := in.Config.Has(backend.RedisQuorum); !ok {
			t.Errorf("%d of five nodes down: %s", down, why)
		}
		in.Close()
	}
}

// Open asks all nodes of a quorum concurrently. Here three nodes answer only after the fifth has been asked.
func TestRedlockAsksAllNodesAtOnce(t *testing.T) {
	config := backend.Config{SQLitePath: t.TempDir() + "/ledger.db"}
	pass := func() {}
	for n := range 5 {
		m := miniredis.RunT(t)
		wire := labtest.NewWire(t, m.Addr())
		config.RedlockAddrs = append(config.RedlockAddrs, wire.Addr())
		if n < 3 {
			wire.Freeze()
			others := pass
			pass = func() {
				others()
				wire.Pass()
			}
		} else if n == 4 {
			m.Server().SetPreHook(func(*server.Peer, string, ...string) bool {
				pass()
				return false
			})
		}
	}
	labtest.Open(t, config)
}
