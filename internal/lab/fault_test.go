//go:build unix

package lab_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// Faults of one process that are due at the same moment come one after the
// other: two restarts at once would start it twice.
func TestFaultsOfOneProcessAtOnce(t *testing.T) {
	l := ownLab(t, backend.NameRedis)
	must(t, "start a service", l.StartServices(t.Context(), 1))
	const many = 8
	var together errgroup.Group
	var undo [many]func(context.Context) error
	killed := make(chan error, many)
	for i := range many {
		together.Go(func() error {
			_, err := l.Inject(t.Context(), lab.RestartRedis, 1)
			return err
		})
		go func() {
			var err error
			undo[i], err = l.Inject(t.Context(), lab.KillService, 1)
			killed <- err
		}()
	}
	must(t, "restart Redis so often at once", together.Wait())
	p := process(t, l, "redis")
	client := redis.NewClient(redisOptions(t, p.Login()))
	defer client.Close()
	must(t, "ping", client.Ping(t.Context()).Err())
	if !p.Alive() {
		t.Errorf("Redis answers, and is said to have ended: %s", p.Ended())
	}
	died := 0
	for range many {
		if err := <-killed; err == nil {
			died++
		} else if !strings.Contains(err.Error(), "dead already") {
			t.Error(err)
		}
	}
	if died != 1 {
		t.Errorf("%d kills have killed the one service, want 1", died)
	}
	for _, u := range undo {
		if u != nil {
			must(t, "undo the kill", u(t.Context()))
		}
	}
	if s := l.Services()[0]; !s.Up {
		t.Errorf("after the kill was undone: %+v", s)
	}
}

// A pause lasts as long as was said: a shorter one of the same process does not
// end it.
func TestOnePauseAtATime(t *testing.T) {
	l := ownLab(t, []string{}...)
	must(t, "start a service", l.StartServices(t.Context(), 1))
	resume, err := l.Inject(t.Context(), lab.PauseService, 1)
	must(t, "pause", err)
	if _, err := l.Inject(t.Context(), lab.PauseService, 1); err == nil || !strings.Contains(err.Error(), "paused already") {
		t.Errorf("a second pause: %v", err)
	}
	must(t, "resume", resume(t.Context()))
	if l.Services()[0].Paused {
		t.Error("it is still paused")
	}
}
