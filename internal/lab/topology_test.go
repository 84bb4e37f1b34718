package lab_test

import (
	"context"
	"maps"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

func TestTopologiesThatCannotBe(t *testing.T) {
	for want, o := range map[string]lab.Options{
		"there is no topology": {Topology: "ring of fire"},
		"--mysql-dsn and --sqlite-path exclude each other": {Given: backend.Config{MySQLDSN: "root@tcp(127.0.0.1:1)/x",
			SQLitePath: "y"}},
		"--redis-addrs names others": {Topology: lab.Cluster,
			Given: backend.Config{RedisAddrs: []string{"127.0.0.1:1"}}},
		"ZooKeeper, and --zookeeper-addrs names": {Topology: lab.Ensembles,
			Given: backend.Config{ZooKeeperAddrs: []string{"127.0.0.1:1"}}},
		"etcd, and --etcd-endpoints names others": {Topology: lab.Ensembles,
			Given: backend.Config{EtcdEndpoints: []string{"127.0.0.1:1"}}},
		"--redis-ring names others": {Topology: lab.Ring,
			Given: backend.Config{RedisRing: []string{"127.0.0.1:1"}}},
		"sentinel starts several servers of Redis": {Topology: lab.Sentinel,
			Given: backend.Config{RedisSentinels: []string{"127.0.0.1:1"}}},
		"ensemble needs real servers": {Topology: lab.Ensembles, Embedded: true},
		"Redis, and its server is not installed: no": {Topology: lab.Cluster,
			Backends: []string{backend.NameRedis}, Programs: nothingFound},
		"not installed: no MariaDB or MySQL was": {Topology: lab.Galera,
			Backends: []string{backend.NameMySQL}, Programs: nothingFound},
		"galera: no Galera was found": {Topology: lab.Galera,
			Backends: []string{backend.NameMySQL}, Programs: noGalera},
		"--mysql-dsn names others": {Topology: lab.Galera,
			Given: backend.Config{MySQLDSN: "root@tcp(127.0.0.1:1)/"}},
		"ensemble needs etcd, and its server is not": {Topology: lab.Ensembles,
			Backends: []string{backend.NameEtcd}, Programs: nothingFound},
	} {
		o.Host = labtest.HostIn(t)
		l, err := lab.Start(t.Context(), o)
		if err == nil {
			l.Stop(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), lab.Losable) { // Losable is only for the proof, so no message names it
			t.Errorf("topology %s, given %v: %v, want an error with %q", o.Topology, o.Given, err, want)
		}
	}
}

var noGalera = func() map[lab.Tool]lab.Program {
	none := maps.Clone(nothingFound)
	none[lab.MariaDB] = lab.NewSearch(os.Getenv).Find(lab.MariaDB)
	return none
}()

var nothingFound = func() map[lab.Tool]lab.Program {
	none := map[lab.Tool]lab.Program{}
	for _, tool := range lab.ServerTools {
		none[tool] = (lab.Search{}).Find(tool)
	}
	return none
}()

// A failover loses the writes that only the old primary had, and clients reach the new primary.
func TestSentinelsFailOver(t *testing.T) {
	l := started(t, lab.Options{Topology: lab.Sentinel, Backends: []string{backend.NameRedis}})
	in := labtest.Open(t, l.Config())
	labtest.Must(t, in.Redis.Set(t.Context(), "copied", "", 0).Err())
	labtest.Must(t, in.Redis.Do(t.Context(), "WAIT", 2, 10_000).Err())
	failover := labtest.Value(fault.Lab{Lab: l}.Inject(t.Context(), "failover_redis", fault.Aim{})).Must(t)
	labtest.Must(t, in.Redis.Set(t.Context(), "lost", "", 0).Err())
	effect := failover.Effect
	labtest.Must(t, failover.Undo(t.Context(), &effect))
	labtest.Same(t, effect.TookEffect, true, "%+v took effect", effect)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err := in.Redis.Set(ctx, "later", "", 0).Err()
	for ; err != nil && ctx.Err() == nil; err = in.Redis.Set(ctx, "later", "", 0).Err() {
	}
	labtest.Must(t, err)
	labtest.Same(t, in.Redis.Exists(ctx, "copied").Val(), 1, "the keys that were copied")
	labtest.Value(in.Redis.Exists(ctx, "lost").Result()).Same(t, 0, "the keys that were not copied")
}

// Three servers work without one of them, but not without two. The lab's status shows each dead
// server. The killed leader runs again when the fault is undone.
func TestServersOfThreeAreLost(t *testing.T) {
	l := started(t, lab.Options{Topology: lab.Ensembles, Backends: []string{backend.NameEtcd}})
	in := labtest.Open(t, l.Config())
	writes := func(key string, limit time.Duration) bool {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		for ctx.Err() == nil {
			if _, err := in.Etcd.Put(ctx, key, ""); err == nil {
				return true
			}
		}
		return false
	}
	lost := labtest.Value(fault.Lab{Lab: l}.Inject(t.Context(), "lose_etcd", fault.Aim{})).Must(t)
	if !lost.Effect.TookEffect || l.Backends()[0].OK || !writes("with two", 20*time.Second) {
		t.Errorf("one of three is lost: %+v, %+v; want it shown and not missed", lost.Effect, l.Backends())
	}
	labtest.Must(t, lost.Undo(t.Context(), &lost.Effect))
	if !l.Backends()[0].OK || !writes("with three", 20*time.Second) {
		t.Errorf("one is back: %+v", l.Backends())
	}
	for _, name := range []string{"etcd-1", "etcd-2"} {
		labtest.Must(t, process(t, l, name).Kill(t.Context()))
	}
	labtest.Same(t, writes("with one", time.Second), false, "one of three etcd servers is enough")
	labtest.Value(fault.Lab{Lab: l}.Inject(t.Context(), "restart_etcd", fault.Aim{})).Fails(t, "not one server",
		"the restart of one server")
}

// A backend is started once even if two callers ask at the same time. Only one caller at a time can
// reserve an ensemble.
func TestEnsembleHasOneUser(t *testing.T) {
	l := started(t, lab.Options{Backends: []string{}, Topology: lab.Losable})
	var all [2]*lab.Ensemble
	var asking sync.WaitGroup
	for i := range all {
		asking.Go(func() {
			var err error
			all[i], err = l.Ensemble(t.Context(), backend.NameRedis)
			labtest.Check(t, err, nil, "an ensemble")
		})
	}
	asking.Wait()
	e := all[0]
	if e == nil || e != all[1] || len(l.Processes()) != 2 {
		t.Fatalf("the ensembles are %p and %p, of %d processes; want one of a primary and a replica", e, all[1],
			len(l.Processes()))
	}
	give := labtest.Value(e.Reserve(t.Context())).Must(t)
	waiting, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	labtest.Value(e.Reserve(waiting)).Check(t, context.DeadlineExceeded, "a second user")
	give()
	labtest.Must(t, e.Repair(t.Context()))
	without := started(t, lab.Options{Backends: []string{}, Programs: nothingFound, Topology: lab.Losable})
	_, err := without.Ensemble(t.Context(), backend.NameEtcd)
	labtest.Check(t, err, lab.ErrNoServer, "an ensemble without its program")
	labtest.Fails(t, err, "seckill doctor", "an ensemble without its program")
}
