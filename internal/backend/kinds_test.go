package backend

import (
	"reflect"
	"testing"
)

// Only keeps the backends that are needed. Or adds the missing backends of another configuration.
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
	got := (Config{}).Or(all).Only(RowLocks, Redis, RedisQuorum, ZooKeeper, Etcd)
	if !reflect.DeepEqual(got.Environment(), all.Environment()) {
		t.Errorf("got %v, want %v", got.Environment(), all.Environment())
	}
	given := Config{SQLitePath: "file", RedisAddrs: []string{"mine"}}.Or(all)
	if given.MySQLDSN != "" || given.SQLitePath != "file" || given.RedisAddrs[0] != "mine" || given.EtcdEndpoints == nil {
		t.Errorf("%+v: want the given backends, and the other ones of all", given)
	}
}

// No address of a MySQL server causes a panic, and none changes an option that the program sets itself. go test runs
// the addresses below; with -fuzz it derives more addresses from them.
func FuzzMySQLAddress(f *testing.F) {
	for _, dsn := range []string{"u:p@tcp(127.0.0.1:3306)/shop", "@unix(/tmp/my.sock)/", "u:p/@(::1)/a%2Fb", "no slash",
		"u@nowhere/x", "u@tcp(h)/%", "/?", "u@/x?foo=%zz", "/x?tls=mine", "/x?serverPubKey=mine", "/x?maxAllowedPacket=0",
		"/x?collation=gbk_chinese_ci", "/x?collation=gbk_chinese_ci&interpolateParams=true", "/x?charset=gbk,latin1",
		"/x?columnsWithAlias=true&clientFoundRows=false&multiStatements=true", "/x?parseTime=false&loc=Asia%2FShanghai",
		"/x?loc=Asia/Shanghai", "/x?strict=true", "/x?a=1&strict", "/x?allowAllFiles=true&checkConnLiveness=0&rejectReadOnly=0",
		"/x?timeout=1&readTimeout=-1s&writeTimeout=0", "/x?connectionAttributes=a:b,c", "/x?=1&&=", "/x?SQL_MODE='ANSI'&a b=1"} {
		f.Add(dsn)
	}
	f.Fuzz(func(t *testing.T, dsn string) {
		if (Config{MySQLDSN: dsn}).Check() != nil || dsn == "" {
			return
		}
		cfg, err := ParseMySQL(dsn)
		if err != nil {
			t.Fatalf("%q passes Check, but not ParseMySQL: %v", dsn, err)
		}
		_, _ = (&Instance{}).mysqlConnector(cfg) // Open returns its error
		if cfg.AllowAllFiles || cfg.ColumnsWithAlias || cfg.MultiStatements || cfg.Collation != "" || !cfg.CheckConnLiveness {
			t.Errorf("%q changes an option that the program sets itself: %+v", dsn, cfg)
		}
	})
}
