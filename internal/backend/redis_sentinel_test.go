package backend_test

import (
	"strings"
	"testing"

	"seckill/internal/backend"
)

func TestSentinelsThatCannotBe(t *testing.T) {
	sentinels := []string{"127.0.0.1:1", "127.0.0.1:2"}
	for want, c := range map[string]backend.Config{
		"give --redis-addrs, or --redis-sentinels":  {RedisAddrs: []string{"127.0.0.1:1"}, RedisSentinels: sentinels},
		"--redis-master-name is a name":             {RedisAddrs: []string{"127.0.0.1:1"}, RedisMasterName: "x"},
		"--redis-login is of Redis servers":         {RedisAddrs: []string{"127.0.0.1:1"}, RedisLogin: "secret"},
		"give user:password, or the password alone": {RedisSentinels: sentinels, RedisLogin: "user:"},
		"must have the same user and password":      {RedisSentinels: []string{"127.0.0.1:1", "redis://:secret@127.0.0.1:2"}},
		"redis at 127.0.0.1:1,127.0.0.1:2":          {RedisSentinels: sentinels, RedisLogin: "secret"}, // none listens
	} {
		in, err := backend.Open(t.Context(), c)
		if err == nil {
			in.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("want an error with %q and no password; got %v", want, err)
		}
	}
}

func TestParseRedisLogin(t *testing.T) {
	for login, want := range map[string][2]string{
		"":              {"", ""},
		"word":          {"", "word"},
		":word":         {"", "word"},
		"user:word":     {"user", "word"},
		"user:wo:rd":    {"user", "wo:rd"},
		" user:word\n ": {"user", "word"},
	} {
		user, password, err := backend.ParseRedisLogin(login)
		if err != nil || [2]string{user, password} != want {
			t.Errorf("%q: %q, %q, %v; want %q", login, user, password, err, want)
		}
	}
}
