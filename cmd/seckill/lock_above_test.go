//go:build unix

package main

import (
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/strategies/redislock"
)

// The token surpasses what the command line says that the resource has seen,
// although Redis has forgotten its count.
func TestLockSurpassesWhatWasSeen(t *testing.T) {
	info := redislock.RedisFenced
	env, key := onServers(t, info), keyOf(t, info)
	redis := labtest.Instance(t, backend.Redis).Redis
	count := "{" + key + "}:grants"
	defer redis.Del(t.Context(), count)
	token := func(want string, flags ...string) {
		t.Helper()
		args := append([]string{info.Name, key}, flags...)
		l := lockWith(t, env, append(args, "--", "sh", "-c", `echo "$SECKILL_FENCE"`)...)
		l.reads(want)
		l.wants(0, "")
	}
	token("1")
	token("42", "--above=41")
	token("43")
	if err := redis.Del(t.Context(), count).Err(); err != nil {
		t.Fatal(err)
	}
	token("44", "--above=43")
}
