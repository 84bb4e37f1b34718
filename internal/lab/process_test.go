package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestPauseAndResume(t *testing.T) {
	l := privateLab(t)
	p := process(t, l, "redis")
	options := redisOptions(t, p.Login())
	options.MaxRetries, options.ReadTimeout = -1, 300*time.Millisecond
	client := redis.NewClient(options)
	defer client.Close()
	must(t, "ping", client.Ping(t.Context()).Err())
	must(t, "pause", p.Pause())
	if err := client.Ping(t.Context()).Err(); err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("a paused Redis: %v, want a time-out", err)
	}
	if !p.Alive() {
		t.Error("a paused process is said to have ended")
	}
	must(t, "resume", p.Resume())
	must(t, "ping after resume", client.Ping(t.Context()).Err())

	must(t, "pause", p.Pause())
	must(t, "terminate a paused process", p.Terminate(t.Context()))
	if p.Alive() || p.Ended() == "" {
		t.Error("it ended, and says that it is alive")
	}
	if err := p.Pause(); err == nil {
		t.Error("a process that has ended could be paused")
	}
	must(t, "terminate what has ended", p.Terminate(t.Context()))
	must(t, "start it again", p.Restart(t.Context()))
}
