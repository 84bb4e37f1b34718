package backend_test

import (
	"strings"
	"testing"

	"seckill/internal/backend"
)

func TestParseRedis(t *testing.T) {
	for address, want := range map[string]backend.RedisAddress{
		"127.0.0.1:6379":                  {Host: "127.0.0.1:6379"},
		" redis.local:1 ":                 {Host: "redis.local:1"},
		"redis://:pw@127.0.0.1:1":         {Host: "127.0.0.1:1", Password: "pw"},
		"redis://shop:p%40%2F%2C@[::1]:1": {Host: "[::1]:1", User: "shop", Password: "p@/,"},
		"redis://host":                    {Host: "host:6379"},
		"redis://:pw@host/":               {Host: "host:6379", Password: "pw"},
		"rediss://:pw@host:1":             {Host: "host:1", Password: "pw", TLS: true},
		"rediss://host:1":                 {Host: "host:1", TLS: true},
	} {
		got, err := backend.ParseRedis(address)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", address, got, err, want)
		}
		if again, err := backend.ParseRedis(got.String()); err != nil || again != got {
			t.Errorf("%q again: %+v, %v; want %+v", got.String(), again, err, got)
		}
	}
	for address, want := range map[string]string{
		":hidden@host:1":                       "redis://:password@host:port",
		"unix://:hidden@host:1":                "only redis://",
		"redis://:hidden@host:1/3":             "database numbers",
		"redis://:hidden@host:1?max_retries=9": "options",
		"redis://:hid/den@host:1":              "%2F",
		"redis://:hid":                         "no URL", // the rest came after a comma
		"redis://hidden@host:1":                "user without a password",
		"redis://:hidden@":                     "host is missing",
	} {
		_, err := backend.ParseRedis(address)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hid") {
			t.Errorf("%q: %v; want %q, and no password", address, err, want)
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

// One client talks to all nodes of a Cluster, with one login.
func TestNodesOfAClusterShareTheirLogin(t *testing.T) {
	c := backend.Config{RedisAddrs: []string{"redis://:hidden@127.0.0.1:1", "redis://:hidden-too@127.0.0.1:2"}}
	_, err := backend.Open(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "same user and password") || strings.Contains(err.Error(), "hidden") {
		t.Errorf("nodes with different passwords: %v", err)
	}
}
