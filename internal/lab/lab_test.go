package lab_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

var everything = []backend.Capability{backend.RowLocks, backend.Redis, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd}

// started returns a lab for one test, which may break it.
func started(t *testing.T, o lab.Options) *lab.Lab {
	t.Helper()
	o.Host = labtest.HostIn(t)
	l, err := lab.Start(t.Context(), o)
	must(t, "start a lab", err)
	t.Cleanup(func() {
		if err := l.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

func process(t *testing.T, l *lab.Lab, name string) *lab.Process {
	t.Helper()
	p, err := l.Process(name)
	must(t, "process", err)
	return p
}

func must(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestEverythingStartsPrivately(t *testing.T) {
	l := privateLab(t)
	var names []string
	for _, s := range l.Backends() {
		names = append(names, s.Name)
		if !s.OK || s.Tier != backend.Private || s.Address == "" || !strings.ContainsAny(s.Version, "0123456789") {
			t.Errorf("%+v: want it private, with an address and a version", s)
		}
	}
	if !slices.Equal(names, backend.Names()) {
		t.Errorf("the lab has %v, want %v", names, backend.Names())
	}
	in, err := backend.Open(t.Context(), l.Config())
	must(t, "open an instance on the lab", err)
	defer in.Close()
	for _, need := range everything {
		if ok, why := in.Config.Has(need); !ok {
			t.Errorf("an instance on the lab lacks %s: %s", need, why)
		}
	}
	if len(in.RedisNodes) != 5 {
		t.Errorf("%d independent Redis nodes, want 5", len(in.RedisNodes))
	}
	// Results are to be those of a durable server with room for all clients.
	var flush, connections int
	must(t, "ask MySQL", in.DB.Raw("SELECT @@innodb_flush_log_at_trx_commit, @@max_connections").Row().Scan(&flush, &connections))
	if flush != 1 || connections < 1000 {
		t.Errorf("flush at commit is %d and max_connections %d, want 1 and 1000", flush, connections)
	}
}

// A lab starts only the backends of its options; Add starts the others.
func TestAdd(t *testing.T) {
	l := started(t, lab.Options{Backends: []string{backend.NameRedis}})
	if c := l.Config(); c.RedisAddrs == nil || c.MySQLDSN != "" {
		t.Errorf("configuration %+v, want Redis alone", c)
	}
	first := l.Config().RedisAddrs
	must(t, "add", l.Add(t.Context(), backend.NameRedis, backend.NameEtcd))
	if c := l.Config(); c.EtcdEndpoints == nil || !slices.Equal(c.RedisAddrs, first) {
		t.Errorf("configuration %+v, want etcd beside the same Redis", c)
	}
	if err := l.Add(t.Context(), "oracle"); err == nil || !strings.Contains(err.Error(), "zookeeper") {
		t.Errorf("an unknown backend: %v, want the names there are", err)
	}
	if _, err := l.Process("mysql"); err == nil || !strings.Contains(err.Error(), "etcd") {
		t.Errorf("a process that is not there: %v, want the names there are", err)
	}
}

// A lab accepts the same given backends as a service, such as named shards and a quorum with one dead node.
func TestGivenBackendsAreUsedNotStarted(t *testing.T) {
	given := privateLab(t).Config()
	given.Tiers = nil
	given.RedisRing, given.RedisAddrs = given.RedisAddrs, nil
	given.RedlockAddrs = append(slices.Clone(given.RedlockAddrs[:4]), "127.0.0.1:1")
	l := started(t, lab.Options{Given: given})
	for _, s := range l.Backends() {
		if s.Tier != backend.Given || !s.OK || !strings.ContainsAny(s.Version, "0123456789") {
			t.Errorf("%+v: want it given, with a version", s)
		}
	}
	if all := l.Processes(); len(all) > 0 {
		t.Errorf("%d processes were started, %s first, for backends that were given", len(all), all[0].Name)
	}
}
