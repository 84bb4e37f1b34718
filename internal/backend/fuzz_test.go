package backend

import (
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/seckill"
)

// If an address is accepted, it names a server. No endpoint made from the address contains the password.
func FuzzAddress(f *testing.F) {
	for _, address := range []string{"127.0.0.1:6379", "redis://:p%40w@h:1", "rediss://u:p@h", "redis://h/3",
		"unix:///tmp/s", "http://u:p@h:2379", "h", "@"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if o, err := ParseRedis(address); err == nil && (o.Network != "tcp" || o.Addr == "" || o.DB != 0) {
			t.Errorf("%q is the server %+v", address, o)
		}
		if endpoints, _, _, err := parseEtcd([]string{address, address}); err == nil &&
			strings.Contains(endpoints[1], "@") {
			t.Errorf("%q is the endpoint %q", address, endpoints[1])
		}
		_ = Redact(address)
	})
}

// go-redis allocates as many bytes as a reply announces, so the test omits replies that announce many.
var announcesMuch = regexp.MustCompile(`[$*%~>=!(|][0-9]{5}`)

// Only a complete refusal proves that a command has changed nothing. After any other answer of a
// Redis server, the outcome is unknown.
func FuzzRedisReply(f *testing.F) {
	for _, reply := range []string{":1\r\n", "$3\r\nabc\r\n", "$-1\r\n", "*2\r\n:1\r\n:2\r\n", "-MOVED 1 h:1\r\n",
		"-BUSY x\r\n", "-OOM x", "!0\r\nAy", "-ERR x script: f, on @user_script:3.\r\n", "%1\r\n+a\r\n:1\r\n",
		">2\r\n+x\r\n+y\r\n", "*-9\r\n", "# Server\r\nredis_version:7.0.15\r\n"} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		if announcesMuch.MatchString(reply) {
			return
		}
		c := redis.NewClient(&redis.Options{MaxRetries: -1, Protocol: 2, DisableIdentity: true,
			Dialer: func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() { _, _ = io.Copy(io.Discard, theirs) }()
				go func() {
					_, _ = io.WriteString(theirs, "-ERR unknown command 'HELLO'\r\n"+reply)
					theirs.Close()
				}()
				return redisConn{ours}, nil
			}})
		defer c.Close()
		_, err := c.Eval(t.Context(), "return 1", nil).Result()
		refused := errors.Is(RedisError(err), seckill.ErrUnavailable)
		if refused && (!strings.ContainsAny(reply, "-!") || !strings.Contains(reply, "\n")) {
			t.Errorf("%q counts as a refusal: %v", reply, err)
		}
		_ = RedisVersion(reply)
	})
}

// Only returns the needed backends.
func TestConfigOnly(t *testing.T) {
	all := Config{MySQLDSN: "dsn", RedisAddrs: []string{"r"}, RedlockAddrs: []string{"1", "2", "3", "4", "5"},
		ZooKeeperAddrs: []string{"z"}, EtcdEndpoints: []string{"e"}, Tuning: Tuning{MaxSQLConns: 3}}
	for _, kind := range Kinds {
		only := all.Only(kind.Offers...)
		for _, other := range Kinds {
			if got, want := len(other.In(only)) > 0, other.Name == kind.Name; got != want || only.MaxSQLConns != 3 {
				t.Errorf("only %s: %s is configured: %t, with %d connections", kind.Name, other.Name, got,
					only.MaxSQLConns)
			}
		}
	}
	got := all.Only(RowLocks, Redis, RedisQuorum, ZooKeeper, Etcd)
	if !reflect.DeepEqual(got.Environment(), all.Environment()) {
		t.Errorf("got %v, want %v", got.Environment(), all.Environment())
	}
}

// No address of a MySQL server causes a panic or changes an option that the program sets itself. go test runs the
// addresses below. With -fuzz, it derives more addresses from them.
func FuzzMySQLAddress(f *testing.F) {
	for _, dsn := range []string{"u:p@tcp(127.0.0.1:3306)/shop", "@unix(/tmp/my.sock)/", "u:p/@(::1)/a%2Fb", "no slash",
		"u@nowhere/x", "u@tcp(h)/%", "/?", "u@/x?foo=%zz", "/x?tls=mine", "/x?serverPubKey=mine",
		"/x?maxAllowedPacket=0", "/x?collation=gbk_chinese_ci", "/x?collation=gbk_chinese_ci&interpolateParams=true",
		"/x?charset=gbk,latin1", "/x?columnsWithAlias=true&clientFoundRows=false&multiStatements=true",
		"/x?parseTime=false&loc=Asia%2FShanghai", "/x?loc=Asia/Shanghai", "/x?strict=true", "/x?a=1&strict",
		"/x?allowAllFiles=true&checkConnLiveness=0&rejectReadOnly=0", "/x?timeout=1&readTimeout=-1s&writeTimeout=0",
		"/x?connectionAttributes=a:b,c", "/x?=1&&=", "/x?SQL_MODE='ANSI'&a b=1"} {
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
		_, _ = (&Instance{}).mysqlConnector(cfg) // an error is allowed, because Open returns it; a panic is not
		if cfg.AllowAllFiles || cfg.ColumnsWithAlias || cfg.MultiStatements || cfg.Collation != "" ||
			!cfg.CheckConnLiveness {
			t.Errorf("%q changes an option that the program sets itself: %+v", dsn, cfg)
		}
	})
}

// A redisAnswer is an error that a Redis server has answered.
type redisAnswer string

func (a redisAnswer) Error() string { return string(a) }
func (redisAnswer) RedisError()     {}

// An error answer of Redis proves that nothing was changed. An error of a command inside a script proves nothing,
// because an earlier command of the script may have changed something.
func TestErrorsInsideScriptsAreUnknown(t *testing.T) {
	const at7 = " script: 6b74b80446c5, on @user_script:12." // the end of such an error in Redis 7
	const at6 = "ERR Error running script (call to f_6b74b80446c5): @user_script:12: "
	for text, unknown := range map[string]bool{
		"NOPERM this user has no permissions to run the 'evalsha' command":                 false,
		"NOSCRIPT No matching script. Please use EVAL.":                                    false,
		"BUSY Redis is busy running a script.":                                             false,
		"MOVED 3999 127.0.0.1:6381":                                                        false,
		"CLUSTERDOWN The cluster is down":                                                  false,
		"LOADING Redis is loading the dataset in memory":                                   false,
		"WRONGTYPE Operation against a key holding the wrong kind of value":                false,
		"OOM command not allowed when used memory > 'maxmemory'." + at7:                    false,
		"READONLY You can't write against a read only replica." + at7:                      false,
		"NOREPLICAS Not enough good replicas to write." + at7:                              false,
		"MISCONF Redis is configured to save RDB snapshots" + at7:                          false,
		at6 + "@user_script: 12: -OOM command not allowed when used memory > 'maxmemory'.": false,
		"ERR The user executing the script can't run this command or subcommand" + at7:     true,
		"NOPERM ACL failure in script: User app has no permissions to run 'xadd'" + at7:    true,
		"WRONGTYPE Operation against a key holding the wrong kind of value" + at7:          true,
		"ERR value is not an integer or out of range" + at7:                                true,
		at6 + "WRONGTYPE Operation against a key holding the wrong kind of value":          true,
		"ERR Error compiling script (new function): <string>:12: WRONGTYPE Operation":      true,
	} {
		err := RedisError(redisAnswer(text))
		if errors.Is(err, seckill.ErrUnknown) != unknown || seckill.NothingTaken(err) == unknown {
			t.Errorf("%s\n\tbecame %v; want an unknown outcome: %v", text, err, unknown)
		}
	}
}
