package backend_test

import (
	"strings"
	"testing"

	"seckill/internal/backend"
)

func TestParseRedis(t *testing.T) {
	type login struct {
		host, user, password string
		tls                  bool
	}
	for address, want := range map[string]login{
		"127.0.0.1:6379":                  {host: "127.0.0.1:6379"},
		" redis.local:1 ":                 {host: "redis.local:1"},
		"redis://shop:p%40%2F%2C@[::1]:1": {host: "[::1]:1", user: "shop", password: "p@/,"},
		"redis://host":                    {host: "host:6379"},
		"redis://:pw@host/":               {host: "host:6379", password: "pw"},
		"rediss://:pw@host:1":             {host: "host:1", password: "pw", tls: true},
	} {
		got, err := backend.ParseRedis(address)
		if err != nil || (login{got.Addr, got.Username, got.Password, got.TLSConfig != nil}) != want {
			t.Errorf("%q: %+v, %v; want %+v", address, got, err, want)
		}
	}
	for _, address := range []string{":hidden@host:1", "unix://:hidden@host:1", "redis://:hidden@host:1/3",
		"redis://:hidden@host:1?max_retries=9", "redis://:hid/den@host:1",
		"redis://:hid", // the first part of a password with a comma
		"redis://hidden@host:1", "redis://:hidden@"} {
		_, err := backend.ParseRedis(address)
		if err == nil || !strings.Contains(err.Error(), "%2F for /") || strings.Contains(err.Error(), "hid") {
			t.Errorf("%q: %v; want the expected form, without the password", address, err)
		}
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"root:secret@tcp(127.0.0.1:1)/x":                         "root@tcp(127.0.0.1:1)/x",
		"root:s@e:cret@tcp(h:1)/x":                               "root@tcp(h:1)/x",
		"root@tcp(127.0.0.1:1)/x":                                "root@tcp(127.0.0.1:1)/x",
		"127.0.0.1:1":                                            "127.0.0.1:1",
		"redis://:secret@h:1":                                    "redis://h:1",
		"--redis-addrs=redis://:secret@h:1,redis://u:secret@h:2": "--redis-addrs=redis://h:1,redis://h:2",
		"http://u:secret@h:2379":                                 "http://h:2379",
	} {
		if got := backend.Redact(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// The error for an unusable configuration names the cause and contains no password. No server listens at any of the
// addresses.
func TestUnusableConfigurations(t *testing.T) {
	one, two := []string{"127.0.0.1:1"}, []string{"127.0.0.1:1", "127.0.0.1:2"}
	apart := []string{"127.0.0.1:1", "redis://:secret@127.0.0.1:2"}
	login := []string{"redis://:secret@127.0.0.1:1", "redis://:secret@127.0.0.1:2"}
	for want, c := range map[string]backend.Config{
		"--mysql-dsn and --sqlite-path exclude": {MySQLDSN: "u:secret@tcp(127.0.0.1:1)/x", SQLitePath: "x"},
		"mysql at u@tcp(127.0.0.1:1)":           {MySQLDSN: "u:secret@tcp(127.0.0.1:1)/x"},
		"redis at 127.0.0.1:1":                  {RedisAddrs: one},
		"same user and password":                {RedisAddrs: []string{"redis://:secret@127.0.0.1:1", "redis://:secret-too@127.0.0.1:2"}},

		"--redis-addrs and --redis-sentinels exclude": {RedisAddrs: one, RedisSentinels: two},
		"of sentinels or of a ring must have the":     {RedisSentinels: apart},
		"redis at 127.0.0.1:1,127.0.0.1:2":            {RedisSentinels: login},

		"--redis-addrs and --redis-ring exclude":  {RedisAddrs: one, RedisRing: two},
		"or of a ring must have the same user":    {RedisRing: apart},
		"cannot be used: the shard at 127.0.0.1:": {RedisRing: login},

		"redlock at 127.0.0.1:1,127.0.0.1:2":                              {RedlockAddrs: login},
		"etcd at 127.0.0.1:1":                                             {EtcdEndpoints: one},
		"etcd at http://127.0.0.1:1 cannot be used: dial tcp 127.0.0.1:1": {EtcdEndpoints: []string{"http://127.0.0.1:1/"}},
		"http://user:password@host:port":                                  {EtcdEndpoints: []string{"root:secret@host:1"}},
		"with %40 for @ in the password":                                  {EtcdEndpoints: []string{"http://root:sec/ret@host:1"}},
		"etcd addresses must have the same user and":                      {EtcdEndpoints: []string{"http://root:secret@host:1", "http://root:secret-2@other:1"}},
	} {
		_, err := open(t, c)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sec") {
			t.Errorf("want an error with %q and no password; got %v", want, err)
		}
	}
}
