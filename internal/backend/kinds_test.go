package backend

import (
	"reflect"
	"testing"
)

// A configuration is narrowed to what is needed, and completed by another.
func TestConfigOnlyAndOr(t *testing.T) {
	all := Config{MySQLDSN: "dsn", RedisAddrs: []string{"r"}, RedlockAddrs: []string{"1", "2", "3", "4", "5"},
		ZooKeeperAddrs: []string{"z"}, EtcdEndpoints: []string{"e"}, MaxSQLConns: 3}
	for _, kind := range Kinds {
		only := all.Only(kind.Offers...)
		for _, other := range Kinds {
			if got, want := len(other.In(only)) > 0, other.Name == kind.Name; got != want || only.MaxSQLConns != 3 {
				t.Errorf("only %s: %s is configured: %t, with %d connections", kind.Name, other.Name, got, only.MaxSQLConns)
			}
		}
	}
	if got := (Config{}).Or(all).Only(RowLocks, Redis, RedisQuorum, ZooKeeper, Etcd); !reflect.DeepEqual(got.Environment(), all.Environment()) {
		t.Errorf("got %v, want %v", got.Environment(), all.Environment())
	}
	given := Config{SQLitePath: "file", RedisAddrs: []string{"mine"}}.Or(all)
	if given.MySQLDSN != "" || given.SQLitePath != "file" || given.RedisAddrs[0] != "mine" || given.EtcdEndpoints == nil {
		t.Errorf("%+v: want what was given, and the rest of the other", given)
	}
}
