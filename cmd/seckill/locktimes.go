package main

import (
	"fmt"
	"time"
)

// LockTimes are the waits of locks.
type LockTimes struct {
	LockWait  time.Duration `default:"3s" env:"SECKILL_LOCK_WAIT" help:"How long a buyer waits for a lock or a row."`
	LockLease time.Duration `default:"8s" env:"SECKILL_LOCK_LEASE" help:"How long a lock lives unrenewed."`
	LockPoll  time.Duration `default:"10ms" env:"SECKILL_LOCK_POLL" help:"About how long a lock that polls pauses between two attempts."`
}

func (t LockTimes) check() error {
	for _, flag := range []struct {
		name  string
		value time.Duration
		like  string
	}{
		{"--lock-wait", t.LockWait, "3s"}, {"--lock-lease", t.LockLease, "8s"}, {"--lock-poll", t.LockPoll, "10ms"},
	} {
		if flag.value < time.Millisecond {
			return fmt.Errorf("%s must be 1ms or longer, such as %s", flag.name, flag.like)
		}
	}
	return nil
}
