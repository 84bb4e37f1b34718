package lab_test

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// labOf is a lab of a topology.
func labOf(t *testing.T, topology string, backends ...string) *lab.Lab {
	t.Helper()
	return started(t, lab.Options{Backends: backends, Topology: topology})
}

func TestTopologiesThatCannotBe(t *testing.T) {
	for want, o := range map[string]lab.Options{
		"there is no topology":                      {Topology: "ring of fire"},
		"--redis-addrs names others":                {Topology: lab.Cluster, Given: backend.Config{RedisAddrs: []string{"127.0.0.1:1"}}},
		"ZooKeeper, and --zookeeper-addrs names":    {Topology: lab.Ensembles, Given: backend.Config{ZooKeeperAddrs: []string{"127.0.0.1:1"}}},
		"etcd, and --etcd-endpoints names others":   {Topology: lab.Ensembles, Given: backend.Config{EtcdEndpoints: []string{"127.0.0.1:1"}}},
		"--redis-ring names others":                 {Topology: lab.Ring, Given: backend.Config{RedisRing: []string{"a=127.0.0.1:1"}}},
		"sentinel starts several servers of Redis":  {Topology: lab.Sentinel, Given: backend.Config{RedisSentinels: []string{"127.0.0.1:1"}}},
		"ensemble needs real servers":               {Topology: lab.Ensembles, Embedded: true},
		"cluster needs Redis: no redis-server or":   {Topology: lab.Cluster, Backends: []string{backend.NameRedis}, Programs: nothingFound},
		"galera needs MySQL or MariaDB: no ma":      {Topology: lab.Galera, Backends: []string{backend.NameMySQL}, Programs: nothingFound},
		"galera: no Galera library (libgalera_smm":  {Topology: lab.Galera, Backends: []string{backend.NameMySQL}, Programs: noGalera},
		"--mysql-dsn names others":                  {Topology: lab.Galera, Given: backend.Config{MySQLDSN: "root@tcp(127.0.0.1:1)/"}},
		"ensemble needs etcd: no etcd was found on": {Topology: lab.Ensembles, Backends: []string{backend.NameEtcd}, Programs: nothingFound},
	} {
		o.Host = labtest.HostIn(t)
		l, err := lab.Start(t.Context(), o)
		if err == nil {
			l.Stop(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
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

// A server of three that is killed is not missed, two are. The leader comes back
// when the fault is over.
func TestServersOfThreeAreLost(t *testing.T) {
	l := labOf(t, lab.Ensembles, backend.NameZooKeeper, backend.NameEtcd)
	c := l.Config()
	if len(c.ZooKeeperAddrs) != 3 || len(c.EtcdEndpoints) != 3 {
		t.Fatalf("the lab's servers are %v and %v, want three each", c.ZooKeeperAddrs, c.EtcdEndpoints)
	}
	for _, s := range l.Backends() {
		if !s.OK || !strings.Contains(s.Version, " of 3, ") {
			t.Errorf("%+v: want three that run", s)
		}
	}
	in, err := backend.Open(t.Context(), c)
	must(t, "open an instance", err)
	defer in.Close()
	write := map[string]func(ctx context.Context, key string) error{
		backend.NameZooKeeper: func(ctx context.Context, key string) error {
			_, err := in.ZooKeeper.Create(ctx, "/"+key, nil, 0)
			return err
		},
		backend.NameEtcd: func(ctx context.Context, key string) error {
			_, err := in.Etcd.Put(ctx, key, "")
			return err
		},
	}
	for _, f := range []struct {
		name fault.Name
		of   string
	}{{fault.LoseZooKeeper, backend.NameZooKeeper}, {fault.LoseEtcd, backend.NameEtcd}} {
		happened, err := fault.In(l).Inject(t.Context(), f.name, fault.Aim{})
		must(t, string(f.name), err)
		if !happened.Effect.Took {
			t.Errorf("%s took no effect: %+v", f.name, happened.Effect)
		}
		if !backendOK(t, l, f.of) {
			t.Errorf("after %s the lab says of %s that it is not OK", f.name, f.of)
		}
		begun := time.Now()
		if !writes(t, 20*time.Second, string(f.name), write[f.of]) {
			t.Errorf("after %s nothing can be written", f.name)
		}
		t.Logf("%s: written after %v", f.name, time.Since(begun).Round(time.Millisecond))
		_, err = happened.Undo(t.Context())
		must(t, "undo "+string(f.name), err)
		if !backendOK(t, l, f.of) || !writes(t, 20*time.Second, string(f.name)+"-after", write[f.of]) {
			t.Errorf("%s does not serve after %s was undone", f.of, f.name)
		}
	}
	for _, i := range []string{"etcd-1", "etcd-2"} {
		must(t, "kill "+i, process(t, l, i).Kill(t.Context()))
	}
	if backendOK(t, l, backend.NameEtcd) || writes(t, time.Second, "of-two", write[backend.NameEtcd]) {
		t.Error("two of three etcd servers are not missed")
	}
	if _, err := fault.In(l).Inject(t.Context(), fault.RestartEtcd, fault.Aim{}); err == nil || !strings.Contains(err.Error(), "--topology single") {
		t.Errorf("the restart of one server: %v, want that there are several", err)
	}
}

func backendOK(t *testing.T, l *lab.Lab, name string) bool {
	t.Helper()
	for _, s := range l.Backends() {
		if s.Name == name {
			return s.OK
		}
	}
	t.Fatalf("the lab has no %s", name)
	return false
}

// writes tries until something was written, or the time is up.
func writes(t *testing.T, limit time.Duration, key string, write func(ctx context.Context, key string) error) bool {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := write(one, key)
		cancel()
		if err == nil || strings.Contains(err.Error(), "already exists") {
			return true
		}
	}
	return false
}

// What the primary acknowledged while replication stood still is gone after a
// failover, and what was replicated is not. The client follows the sentinels,
// again and again, and the old primary comes back as a replica.
func TestASentinelFailoverForgets(t *testing.T) {
	l := labOf(t, lab.Sentinel, backend.NameRedis)
	c := l.Config()
	if len(c.RedisSentinels) != 3 || len(c.RedisAddrs) != 0 {
		t.Fatalf("the configuration has the sentinels %v and Redis %v; want three and none", c.RedisSentinels, c.RedisAddrs)
	}
	in, err := backend.Open(t.Context(), c)
	must(t, "open an instance", err)
	defer in.Close()
	set := func(ctx context.Context, key string) error { return in.Redis.Set(ctx, key, "yes", 0).Err() }
	for _, round := range []string{"first", "second"} {
		must(t, "write", set(t.Context(), round+"-replicated"))
		must(t, "wait for the replicas", in.Redis.Do(t.Context(), "WAIT", 2, 10_000).Err())
		happened, err := fault.In(l).Inject(t.Context(), fault.FailoverRedis, fault.Aim{})
		must(t, "stop replication", err)
		must(t, "write", set(t.Context(), round+"-acknowledged"))
		begun := time.Now()
		effect, err := happened.Undo(t.Context())
		must(t, "fail over", err)
		t.Logf("%s failover: %v until all was well again", round, time.Since(begun).Round(time.Millisecond))
		if !effect.Took {
			t.Errorf("the %s failover took no effect: %+v", round, effect)
		}
		if !writes(t, 20*time.Second, round+"-after", set) {
			t.Errorf("nothing can be written after the %s failover", round)
		}
		got, err := in.Redis.MGet(t.Context(), round+"-replicated", round+"-acknowledged").Result()
		if err != nil || got[0] != "yes" || got[1] != nil {
			t.Errorf("after the %s failover: %v, %v; want the first write and not the second", round, got, err)
		}
		if !backendOK(t, l, backend.NameRedis) {
			t.Errorf("after the %s failover Redis is not OK", round)
		}
	}
	must(t, "kill a sentinel", process(t, l, "sentinel-1").Kill(t.Context()))
	if !backendOK(t, l, backend.NameRedis) {
		t.Error("one of three sentinels is missed")
	}
	must(t, "kill another", process(t, l, "sentinel-2").Kill(t.Context()))
	if backendOK(t, l, backend.NameRedis) {
		t.Error("two of three sentinels are not missed")
	}
}

// inShell runs a command as a user who has read the lab's clients.sh.
func inShell(t *testing.T, l *lab.Lab, command string) string {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", ". "+l.ClientsFile()+" && "+command)
	shell.Env = []string{"PATH=" + os.Getenv("PATH")}
	said, err := shell.CombinedOutput()
	must(t, command+": "+string(said), err)
	return strings.TrimSpace(string(said))
}
