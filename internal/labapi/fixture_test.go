package labapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/game"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

// A fakeLab is a lab that runs no servers.
type fakeLab struct {
	mu       sync.Mutex
	services []lab.Service
	serving  lab.ServiceSettings
	did      chan string
	starts   chan struct{} // services start when this channel is closed; if it is nil, they start at once
	holders  chan int      // the test sends the number of the service process in which a holder is found
}

var usual = lab.ServiceSettings{Services: 2, Lease: 8000, Wait: 3000, Poll: 10}

func newFakeLab() *fakeLab {
	return &fakeLab{services: []lab.Service{{URL: "http://127.0.0.1:1", Up: true}}, serving: usual,
		did: make(chan string, 99), holders: make(chan int)}
}

func (*fakeLab) Backends() []backend.Status {
	return []backend.Status{{Name: "mysql", Tier: backend.Private, Address: "127.0.0.1:3306", Version: "MariaDB 10.11",
		OK: true}}
}

func (l *fakeLab) Services() []lab.Service {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.services
}

func (l *fakeLab) Topology() string { return lab.Single }

func (l *fakeLab) ServiceSettings() lab.ServiceSettings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.serving
}

func (l *fakeLab) Serve(_ context.Context, s lab.ServiceSettings) error {
	if l.starts != nil {
		<-l.starts
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Poll == unluckyPoll {
		return errors.New("its last words")
	}
	l.serving = s
	l.services = slices.Clone(l.services) // another goroutine may be reading the old slice, so change a copy
	for i := range l.services {
		l.services[i].Up = true
	}
	return nil
}

const unluckyPoll = 13

func (*fakeLab) Faults() []fault.Status {
	return []fault.Status{{Kind: "pause_service", Available: true, Lasts: true},
		{Kind: fault.KillService, Available: true},
		{Kind: "pause_holder", Available: true, Holder: true, Lasts: true},
		{Kind: "restart_redis", Missing: "redis was given"}}
}

func (l *fakeLab) Inject(ctx context.Context, kind fault.Name, aim fault.Aim) (*fault.Injection, error) {
	effect := fault.Effect{TookEffect: true, CouldMatter: true, Service: aim.Service}
	switch {
	case aim.Service == 2:
		return nil, errors.New("it is dead already")
	case kind == "pause_holder":
		l.did <- fmt.Sprint("wait for a holder of ", aim.Strategy, " of SKU ", aim.SKU)
		select {
		case effect.Service = <-l.holders:
		case <-ctx.Done():
			return &fault.Injection{Effect: fault.Effect{Why: fault.NoUnits, UnitsLeft: new(int64)}}, nil
		}
	}
	l.did <- fmt.Sprint(kind, " ", effect.Service)
	return &fault.Injection{Effect: effect, Undo: func(_ context.Context, e *fault.Effect) error {
		l.did <- fmt.Sprint("undo ", kind, " ", effect.Service)
		e.StandstillMS = 7
		return nil
	}}, nil
}

// A fakeLoad is a load run that waits for the test before each step.
type fakeLoad struct {
	configs  chan loadtest.Config
	progress chan loadtest.Progress
	results  chan *loadtest.Result
}

func newFakeLoad() *fakeLoad {
	return &fakeLoad{make(chan loadtest.Config, 9), make(chan loadtest.Progress), make(chan *loadtest.Result, 9)}
}

func (f *fakeLoad) run(ctx context.Context, c loadtest.Config) (*loadtest.Result, error) {
	f.configs <- c
	c.Begin()
	defer c.End()
	for {
		select {
		case p := <-f.progress:
			c.OnProgress(p)
		case r := <-f.results:
			return r, nil
		case <-ctx.Done():
			return &loadtest.Result{Interrupted: true, Verdict: judge.NotValid}, nil
		}
	}
}

// start serves a lab on a real socket, because tests depend on the addresses of callers and on their Host headers.
func start(t *testing.T, change func(*Config)) (*Server, *httptest.Server, *fakeLoad) {
	t.Helper()
	load := newFakeLoad()
	c := Config{
		Strategies: []catalog.Info{{Name: "good"}, {Name: "far", Needs: []backend.Capability{backend.Etcd}}},
		Page: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")},
			"app.mjs": {Data: []byte("export {}")}},
		Addr: "127.0.0.1:8080",
		Backing: Backing{
			Lab: newFakeLab(), Load: load.run, ServiceToken: serviceToken, Games: &game.Games{},
			Missing: func(i catalog.Info) []string {
				if len(i.Needs) > 0 {
					return []string{"no etcd"}
				}
				return nil
			},
		},
	}
	if change != nil {
		change(&c)
	}
	s := New(c)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		labtest.Check(t, s.Close(ctx), nil, "close the server")
		h.Close()
	})
	return s, h, load
}

type call struct {
	method, path, body string
	header             map[string]string
}

func (c call) do(t *testing.T, base string) (status int, body string, header http.Header) {
	t.Helper()
	req := labtest.Value(http.NewRequest(c.method, base+c.path, strings.NewReader(c.body))).Must(t)
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.header {
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(req)
	labtest.Must(t, err)
	defer resp.Body.Close()
	return resp.StatusCode, string(labtest.Value(io.ReadAll(resp.Body)).Must(t)), resp.Header
}

// wants checks the status and the code of the answer. An error must also have a detail.
func (c call) wants(t *testing.T, base string, status int, says string) {
	t.Helper()
	if got, body, _ := c.do(t, base); got != status || !strings.Contains(body, says) {
		t.Errorf("%s %s %s: %d %.300s, want %d with %q", c.method, c.path, c.body, got, body, status, says)
	}
}

const serviceToken = "the-services"

const goodRun = `{"strategies":["good"],"stock":100,"buyers":2000,"concurrency":64,"quantity":1}`
