package lab_test

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"seckill/internal/fault"
)

// Faults of one process that are due at the same moment come one after the
// other: two restarts at once would start it twice.
func TestFaultsOfOneProcessAtOnce(t *testing.T) {
	l := privateLab(t)
	const many = 8
	var together errgroup.Group
	var undo [many]*fault.Injection
	killed := make(chan error, many)
	for i := range many {
		together.Go(func() error {
			_, err := fault.In(l).Inject(t.Context(), fault.RestartRedis, fault.Aim{})
			return err
		})
		go func() {
			var err error
			undo[i], err = fault.In(l).Inject(t.Context(), fault.KillService, fault.Aim{Service: 1})
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
			err := u.Undo(t.Context(), &u.Effect)
			must(t, "undo the kill", err)
		}
	}
	if s := l.Services()[0]; !s.Up {
		t.Errorf("after the kill was undone: %+v", s)
	}
}
