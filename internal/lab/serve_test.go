package lab_test

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

func served(l *lab.Lab) (urls []string, pids []int) {
	for _, s := range l.Services() {
		p, _ := l.Process(s.Name)
		urls, pids = append(urls, s.URL), append(pids, p.PID())
	}
	return urls, pids
}

func TestServicesRunAsTheyAreSet(t *testing.T) {
	t.Setenv("SECKILL_ETCD_ENDPOINTS", "stray:1") // the lab has no etcd, so services must not get this variable
	t.Setenv("SECKILL_STRATEGY", "version")       // services get this variable, because it names no backend
	l := started(t, lab.Options{Token: "t", Backends: []string{backend.NameRedis, backend.NameRedlock},
		ServiceArgs: []string{"--strategy", "naive"}})
	two := lab.ServiceSettings{Services: 2, Lease: 8000, Wait: 3000, Poll: 10}
	labtest.Must(t, l.Serve(t.Context(), two))
	urls, pids := served(l)
	if len(urls) != 2 || l.ServiceSettings() != two {
		t.Fatalf("services %v run with %+v, want two with %+v", urls, l.ServiceSettings(), two)
	}

	c, environment := l.Config(), "\n"+get(t, urls[1]+"/environment")+"\n"
	for _, want := range []string{"SECKILL_REDIS_ADDRS=" + c.RedisAddrs[0],
		"SECKILL_REDLOCK_ADDRS=" + strings.Join(c.RedlockAddrs, ","),
		"SECKILL_TIERS=redis=private,redlock=private", "SECKILL_STRATEGY=version", "SECKILL_TOKEN=t"} {
		labtest.Contains(t, environment, "\n"+want+"\n", "a service's environment")
	}
	if strings.Contains(environment, "SECKILL_ETCD_ENDPOINTS") {
		t.Error("a service's environment has what is not the lab's")
	}

	labtest.Must(t, l.Serve(t.Context(), two))
	_, same := served(l)
	labtest.Same(t, same, pids, "the processes, though nothing is different")

	p := process(t, l, "service-2")
	labtest.Must(t, p.Kill(t.Context()))
	labtest.Must(t, l.Serve(t.Context(), two))
	if _, now := served(l); now[0] != pids[0] || now[1] == pids[1] || !p.Alive() {
		t.Errorf("processes %v became %v: want only the dead one anew", pids, now)
	}

	three := lab.ServiceSettings{Services: 3, Lease: 500, Wait: 200, Poll: 5}
	labtest.Must(t, l.Serve(t.Context(), three))
	now, _ := served(l)
	if len(now) != 3 || !slices.Equal(now[:2], urls) {
		t.Fatalf("services at %v, want a third beside %v", now, urls)
	}
	for _, url := range now {
		labtest.Same(t, get(t, url+"/arguments"),
			"--strategy naive --lock-lease 500ms --lock-wait 200ms --lock-poll 5ms", "%s was started with", url)
	}

	unlucky := three
	unlucky.Poll = 13
	labtest.Fails(t, l.Serve(t.Context(), unlucky), "--lock-poll 13ms it is", "settings that no service starts with")
	one := three
	one.Services = 1
	labtest.Must(t, l.Serve(t.Context(), one))
	now, _ = served(l)
	labtest.Same(t, now, urls[:1], "the first service alone")
	labtest.Contains(t, get(t, urls[0]+"/arguments"), "--lock-poll 5ms", "the arguments after a start that failed")
	last := process(t, l, "service-1")
	labtest.Must(t, last.Terminate(t.Context()))
	text := labtest.Value(os.ReadFile(last.Log)).Must(t)
	labtest.Contains(t, string(text), "finished the purchases in flight", "the log of a service that was asked to end")
}

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	labtest.Must(t, err)
	defer answer.Body.Close()
	return string(labtest.Value(io.ReadAll(answer.Body)).Must(t))
}

// Each fault is either available or says why it is not.
func TestFaultsThatCannotBeHad(t *testing.T) {
	l := started(t, lab.Options{Embedded: true, Backends: []string{"redis"}})
	labtest.Must(t, l.StartServices(t.Context(), 1))
	ctx := t.Context()
	for _, f := range (fault.Lab{Lab: l}).Faults() {
		_, err := fault.Lab{Lab: l}.Inject(ctx, f.Kind, fault.Aim{Service: 2, Strategy: "x", SKU: 1})
		if err == nil || f.Available == (f.Missing != "") || !f.Available && !strings.Contains(err.Error(), f.Missing) {
			t.Errorf("%+v, at a service that is not there: %v", f, err)
		}
		ofProcesses := f.Holder || f.Kind == "pause_service" || f.Kind == fault.KillService
		if f.Available != ofProcesses || !ofProcesses && !strings.Contains(f.Missing, "start the lab with") {
			t.Errorf("%+v: want only those of service processes, and what to do about the others", f)
		}
	}
	labtest.Value(fault.Lab{Lab: l}.Inject(ctx, "earthquake", fault.Aim{Service: 1})).Fails(t, "earthquake",
		"an unknown fault")
}

// A paused process can be ended. A process that has ended cannot be paused, and can be started again.
func TestAPausedProcessEnds(t *testing.T) {
	p := process(t, privateLab(t), "redis")
	labtest.Must(t, p.Pause())
	labtest.Same(t, p.Alive(), true, "a paused process is alive")
	labtest.Must(t, p.Terminate(t.Context()))
	if p.Alive() || p.Ended() == "" {
		t.Error("it ended, and says that it is alive")
	}
	labtest.Fails(t, p.Pause(), "", "pause a process that has ended")
	labtest.Must(t, p.Terminate(t.Context()))
	labtest.Must(t, p.Restart(t.Context()))
}

// Faults of one process happen one after the other. If two restarts happened at once, they would start the process
// twice.
func TestFaultsOfOneProcessAtOnce(t *testing.T) {
	l := privateLab(t)
	const many = 8
	var together errgroup.Group
	var undo [many]*fault.Injection
	killed := make(chan error, many)
	for i := range many {
		together.Go(func() error {
			_, err := fault.Lab{Lab: l}.Inject(t.Context(), "restart_redis", fault.Aim{})
			return err
		})
		go func() {
			var err error
			undo[i], err = fault.Lab{Lab: l}.Inject(t.Context(), fault.KillService, fault.Aim{Service: 1})
			killed <- err
		}()
	}
	labtest.Must(t, together.Wait())
	p := process(t, l, "redis")
	client := redis.NewClient(redisOptions(t, p.Login()))
	defer client.Close()
	labtest.Must(t, client.Ping(t.Context()).Err())
	labtest.Same(t, p.Alive(), true, "Redis, which answers, is alive (%s)", p.Ended())
	died := 0
	for range many {
		if err := <-killed; err == nil {
			died++
		} else if !strings.Contains(err.Error(), "dead already") {
			t.Error(err)
		}
	}
	labtest.Same(t, died, 1, "the kills that have killed the one service")
	for _, u := range undo {
		if u != nil {
			labtest.Must(t, u.Undo(t.Context(), &u.Effect))
		}
	}
	labtest.Same(t, l.Services()[0].Up, true, "the service runs after the kill was undone")
}

// Each service process reaches a server through its own link. A fault at a link is refused if no such service exists.
func TestLinks(t *testing.T) {
	l := started(t, lab.Options{Backends: []string{backend.NameRedis}, Links: true})
	labtest.Must(t, l.StartServices(t.Context(), 1))
	_, after, _ := strings.Cut(get(t, l.Services()[0].URL+"/environment"), "SECKILL_REDIS_ADDRS=")
	addr, _, _ := strings.Cut(after, "\n")
	if direct := process(t, l, "redis").Login(); addr == "" || addr == direct {
		t.Errorf("the service finds Redis at %q, and it is at %s itself", addr, direct)
	}
	options := redisOptions(t, addr)
	options.MaxRetries = -1
	client := redis.NewClient(options) // this client uses the same link as the service
	defer client.Close()
	labtest.Must(t, client.Ping(t.Context()).Err())
	trouble := labtest.Value(fault.Lab{Lab: l}.Inject(t.Context(), "lose_replies_redis", fault.Aim{Service: 1})).Must(t)
	labtest.Fails(t, client.WithTimeout(time.Second).Set(t.Context(), "asked", "yes", 0).Err(), "", "without a reply")
	effect := trouble.Effect
	labtest.Must(t, trouble.Undo(t.Context(), &effect))
	labtest.Value(client.Get(t.Context(), "asked").Result()).Same(t, "yes", "what was asked of Redis")
	labtest.Same(t, effect.TookEffect, true, "%+v took effect", effect)
	labtest.Value(fault.Lab{Lab: l}.Inject(t.Context(), "partition_redis", fault.Aim{Service: 2})).Fails(t,
		"no service process 2", "at a service that is not there")
}
