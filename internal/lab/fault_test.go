package lab_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/lab"
)

// Faults of one process happen one after the other. Two restarts at once would start the process twice.
func TestFaultsOfOneProcessAtOnce(t *testing.T) {
	l := privateLab(t)
	const many = 8
	var together errgroup.Group
	var undo [many]*fault.Injection
	killed := make(chan error, many)
	for i := range many {
		together.Go(func() error {
			_, err := fault.Lab{Lab: l}.Inject(t.Context(), fault.RestartRedis, fault.Aim{})
			return err
		})
		go func() {
			var err error
			undo[i], err = fault.Lab{Lab: l}.Inject(t.Context(), fault.KillService, fault.Aim{Service: 1})
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

// Each service process reaches a server through a link of its own. A fault of a link needs an existing process.
func TestLinks(t *testing.T) {
	l := started(t, lab.Options{Backends: []string{backend.NameRedis}, Links: true})
	must(t, "start a service", l.StartServices(t.Context(), 1))
	_, after, _ := strings.Cut(get(t, l.Services()[0].URL+"/environment"), "SECKILL_REDIS_ADDRS=")
	addr, _, _ := strings.Cut(after, "\n")
	if direct := process(t, l, "redis").Login(); addr == "" || addr == direct {
		t.Errorf("the service finds Redis at %q, and it is at %s itself", addr, direct)
	}
	options := redisOptions(t, addr)
	options.MaxRetries = -1
	client := redis.NewClient(options) // as the service has one
	defer client.Close()
	must(t, "ping through the link", client.Ping(t.Context()).Err())
	trouble, err := fault.Lab{Lab: l}.Inject(t.Context(), "lose_replies_redis", fault.Aim{Service: 1})
	must(t, "lose Redis' replies", err)
	if err := client.WithTimeout(time.Second).Set(t.Context(), "asked", "yes", 0).Err(); err == nil {
		t.Error("the reply has arrived")
	}
	effect := trouble.Effect
	err = trouble.Undo(t.Context(), &effect)
	must(t, "undo it", err)
	if got, err := client.Get(t.Context(), "asked").Result(); err != nil || got != "yes" {
		t.Errorf("what was asked came to %q, %v; want that Redis did it", got, err)
	}
	if !effect.TookEffect {
		t.Errorf("it came to %+v", effect)
	}
	if _, err := (fault.Lab{Lab: l}).Inject(t.Context(), "partition_redis", fault.Aim{Service: 2}); err == nil || !strings.Contains(err.Error(), "no service process 2") {
		t.Errorf("at a service that is not there: %v", err)
	}
}
