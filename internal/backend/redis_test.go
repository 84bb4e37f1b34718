package backend_test

import (
	"strings"
	"testing"

	"seckill/internal/backend"
)

func TestSentinelsThatCannotBe(t *testing.T) {
	sentinels := []string{"127.0.0.1:1", "127.0.0.1:2"}
	for want, c := range map[string]backend.Config{
		"--redis-addrs and --redis-sentinels are given": {RedisAddrs: []string{"127.0.0.1:1"}, RedisSentinels: sentinels},
		"--redis-master-name is a name":                 {RedisAddrs: []string{"127.0.0.1:1"}, RedisMasterName: "x"},
		"must have the same user and password":          {RedisSentinels: []string{"127.0.0.1:1", "redis://:secret@127.0.0.1:2"}},
		"redis at 127.0.0.1:1,127.0.0.1:2":              {RedisSentinels: []string{"redis://:secret@127.0.0.1:1", "redis://:secret@127.0.0.1:2"}}, // none listens
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
