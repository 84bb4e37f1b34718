package backend

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestKinds(t *testing.T) {
	all := Config{MySQLDSN: "dsn", RedisAddrs: []string{"r"}, RedlockAddrs: []string{"1", "2", "3", "4", "5"},
		ZooKeeperAddrs: []string{"z"}, EtcdEndpoints: []string{"e"}, MaxSQLConns: 3}
	for _, need := range []Capability{SQL, RowLocks, Procedures, SkipLocked, Redis, RedisQuorum, ZooKeeper, Etcd} {
		kind, known := KindOf(need)
		if !known {
			t.Errorf("no backend offers %s", need)
			continue
		}
		only := all.Only(need)
		for _, other := range Kinds {
			if got, want := len(other.In(only)) > 0, other.Name == kind.Name; got != want {
				t.Errorf("only %s: %s is configured: %t", need, other.Name, got)
			}
		}
		if ok, why := only.Has(need); !ok {
			t.Errorf("only %s: %s", need, why)
		}
		if ok, why := (Config{}).Has(need); ok || why == "" {
			t.Errorf("an empty configuration has %s: %t, %q", need, ok, why)
		}
		if names := NamesOf(need, need); !slices.Equal(names, []string{kind.Name}) {
			t.Errorf("%s needs %v, want %s once", need, names, kind.Name)
		}
		if all.MaxSQLConns != only.MaxSQLConns {
			t.Errorf("only %s: settings besides addresses changed", need)
		}
	}
	if got := (Config{}).Or(all).Only(RowLocks, Redis, RedisQuorum, ZooKeeper, Etcd); !reflect.DeepEqual(got.Environment(), all.Environment()) {
		t.Errorf("got %v, want %v", got.Environment(), all.Environment())
	}
	given := Config{SQLitePath: "file", RedisAddrs: []string{"mine"}}.Or(all)
	if given.MySQLDSN != "" || given.SQLitePath != "file" || given.RedisAddrs[0] != "mine" || given.EtcdEndpoints == nil {
		t.Errorf("%+v: want what was given, and the rest of the other", given)
	}
	for _, need := range []Capability{RowLocks, Procedures, SkipLocked} {
		if ok, why := given.Has(need); ok || !strings.Contains(why, "SQLite") {
			t.Errorf("SQLite has %s: %t, %q", need, ok, why)
		}
	}
	if _, known := KindOf("Oracle"); known {
		t.Error("an unknown capability has a backend")
	}
	if names := NamesOf(); names == nil || len(names) > 0 {
		t.Errorf("what needs nothing has %#v, want an empty list", names)
	}
}
