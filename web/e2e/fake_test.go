package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/game"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/labapi"
	"seckill/internal/point"
	"seckill/internal/stats"
	"seckill/loadtest"
	"seckill/loadtest/compare"
	"seckill/web"
)

// A fake is a lab whose runs and comparisons the test controls.
type fake struct {
	t        *testing.T
	url      string
	server   *labapi.Server
	progress chan loadtest.Progress
	results  chan *loadtest.Result
	turns    chan bool
	ends     chan *compare.Result
	services []lab.Service
	host     *httptest.Server
	silent   atomic.Bool
}

var fakeBackends = []backend.Status{
	{Name: "mysql", Tier: backend.Private, Address: "127.0.0.1:41573", Version: "MariaDB 10.11.14", OK: true},
	{Name: "redis", Tier: backend.Embedded, Address: "127.0.0.1:39011", Version: "miniredis 2.40", OK: true},
}

func startFake(t *testing.T) *fake { return startFakeWith(t, "") }

// startFakeWith serves a fake with a token until the test ends.
func startFakeWith(t *testing.T, token string) *fake {
	f := &fake{t: t, progress: make(chan loadtest.Progress), results: make(chan *loadtest.Result),
		turns: make(chan bool), ends: make(chan *compare.Result)}
	service := httptest.NewServer(http.HandlerFunc(fakeService))
	f.services = []lab.Service{{URL: service.URL, Up: true}}
	f.server = labapi.New(labapi.Config{Page: web.Files(), Guarantees: fakeGuarantees{}, Version: "test", Token: token,
		Strategies: []catalog.Info{{Name: "naive"}, {Name: "conditional"}, {Name: "zk"}}, Strategy: "naive",
		Backing: labapi.Backing{
			Lab: f, Load: f.load, Compare: f.compare, Trace: fakeTrace, Games: &game.Games{},
			Missing: func(info catalog.Info) []string {
				if info.Name == "zk" {
					return []string{"no ZooKeeper is configured"}
				}
				return nil
			},
		}})
	mux := http.NewServeMux()
	mux.Handle("/", f.server)
	mux.HandleFunc("GET /api/lab/v1/levels", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "testdata/levels.json") })
	mux.HandleFunc("POST /api/lab/v1/replays", fakeReplay)
	f.host = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f.silent.Load() {
			panic(http.ErrAbortHandler) // the connection breaks off
		}
		mux.ServeHTTP(w, r)
	}))
	f.url = f.host.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		labtest.Check(t, f.server.Close(ctx), nil, "close the server")
		f.host.Close()
		service.Close()
	})
	return f
}

// falls breaks all connections. If silent is true, the lab does not answer afterwards.
func (f *fake) falls(silent bool) {
	f.silent.Store(silent)
	f.host.CloseClientConnections()
}

func (f *fake) Backends() []backend.Status { return fakeBackends }

func (f *fake) Services() []lab.Service { return f.services }

func (f *fake) Topology() string { return lab.Single }

func (f *fake) ServiceSettings() lab.ServiceSettings {
	return lab.ServiceSettings{Services: 2, Lease: 8000, Wait: 3000, Poll: 10}
}

func (f *fake) Serve(context.Context, lab.ServiceSettings) error { return nil }

func (f *fake) Faults() []fault.Status {
	return []fault.Status{
		{Kind: "pause_service", Available: true, Service: true, Lasts: true},
		{Kind: fault.KillService, Available: true, Service: true},
		{Kind: "pause_holder", Available: true, Holder: true, Lasts: true, Question: "oversell"}, // the fake claims it
		{Kind: "restart_redis", Missing: "redis is not one server of the lab",
			Lack: &fault.Lack{Code: fault.LackServer, Params: map[string]any{"name": "redis"}}},
		{Kind: "partition_zookeeper", Missing: "the lab has no zookeeper", Service: true, Uses: "ZooKeeper"},
	}
}

func (f *fake) Inject(_ context.Context, kind fault.Name, aim fault.Aim) (*fault.Injection, error) {
	effect := fault.Effect{TookEffect: true, CouldMatter: true, Service: aim.Service}
	if kind == "pause_holder" {
		effect.Service, effect.UnitsLeft, effect.At = 2, new(int64), point.BeforeWrite
		effect.Holder = &point.Holder{User: 7, LockKey: "a-lock"}
		*effect.UnitsLeft = 1
	}
	return &fault.Injection{Effect: effect, Undo: func(context.Context, *fault.Effect) error { return nil }}, nil
}

func (f *fake) load(ctx context.Context, c loadtest.Config) (*loadtest.Result, error) {
	c.Begin()
	for {
		select {
		case p := <-f.progress:
			c.OnProgress(p)
		case r := <-f.results:
			r.Strategy.Name, r.Strategy.Broken = c.Strategy, c.Strategy == "naive"
			return r, nil
		case <-ctx.Done():
			r := fakeResult(judge.NotValid)
			r.Problems = []loadtest.Problem{{Text: "interrupted after 60 of 2,000 buyers", Code: "interrupted",
				Params: map[string]any{"sent": 60, "of": 2000}}, {Text: "something new", Code: "new"}}
			return r, nil
		}
	}
}

func fakeProgress(i, left, sold int) loadtest.Progress {
	return loadtest.Progress{
		Elapsed: time.Duration(i) * 100 * time.Millisecond, Requests: 20 * i, Buyers: 2000,
		Counts: map[judge.Outcome]int{judge.OutcomeSold: sold, judge.OutcomeSoldOut: 20*i - sold},
		Units:  int64(sold), Left: int64(left), Rate: 900 + float64(i%7)*40, P50: 11.2, P99: 38 + float64(i)/4,
	}
}

func fakeResult(v judge.Verdict, violations ...judge.Violation) *loadtest.Result {
	audit := &judge.Report{Verdict: v, Initial: 100, Totals: judge.Totals{Sold: 100, Orders: 100}, Violations: violations}
	if v == judge.Oversold {
		audit.Sold, audit.Orders = 131, 131
	}
	signs := loadtest.Signs{Right: loadtest.Yes, Served: loadtest.Yes}
	if v != judge.Held {
		signs = loadtest.Signs{Right: loadtest.No, Served: loadtest.No,
			Limits: loadtest.Limits{LateMs: 2000, Uncertain: .01, Sold: .99},
			Short:  []loadtest.Problem{{Code: "late", Params: map[string]any{"p99_ms": 3100}}}}
	}
	return &loadtest.Result{
		Signs: signs, Targets: []loadtest.Target{{Backends: fakeBackends}},
		Requests: 2000, RequestsPerSec: 1033, SalesPerSec: 52, Seconds: 1.94, Verdict: v, Audit: audit,
		Counts: map[judge.Outcome]int{judge.OutcomeSold: int(audit.Sold),
			judge.OutcomeSoldOut: 2000 - int(audit.Sold)},
		Latency:  loadtest.Latency{P50: 11200, P99: 61000},
		Commands: []loadtest.Commands{{Backend: "mysql", Count: 8100, PerPurchase: 4.05}},
	}
}

func (f *fake) compare(ctx context.Context, _ []catalog.Info, o compare.Options) *compare.Result {
	for done := 0; ; done++ {
		o.OnStep(done, 6, compare.Step{Strategy: "conditional", Concurrency: 64})
		select {
		case <-f.turns:
		case r := <-f.ends:
			return r
		case <-ctx.Done():
			r := goldenResult()
			r.Interrupted, r.Entries = true, []*compare.Entry{}
			return r
		}
	}
}

// measured returns an entry of a comparison.
func measured(name string, concurrency int, verdict judge.Verdict, answers float64) compare.Entry {
	figures := map[string]stats.Spread{}
	for id, x := range map[string]float64{compare.Answers: answers, compare.Sales: answers / 10,
		compare.SellOut: 1000 / answers, compare.BoughtP50: 4, compare.BoughtP99: 20, compare.RefusedP50: 1,
		compare.RefusedP99: 2, compare.Commands: 4, compare.Services: .2} {
		figures[id] = stats.Spread{x, x, x}
	}
	return compare.Entry{Candidate: compare.Candidate{Strategy: name, Breaks: verdict != judge.Held},
		Concurrency: concurrency, Findings: compare.Findings{Verdict: verdict, Expected: true,
			Served: loadtest.Yes, Violations: []judge.Violation{}, Problems: []loadtest.Problem{}}, Figures: figures,
		Latency: []loadtest.Percentile{{Percent: 50, Micros: 4000}, {Percent: 99, Micros: 20_000},
			{Percent: 100, Micros: 25_000}}}
}

// goldenResult contains a faster strategy, a broken strategy, and one whose texts contain HTML.
func goldenResult() *compare.Result {
	r := &compare.Result{Settings: compare.Presets()[0].Settings, RelativeTo: "conditional",
		Origin: compare.Origin{Servers: []backend.Status{}},
		NotRun: []compare.NotRun{}, Problems: []string{}}
	r.Settings.Crowds = []int{8}
	for _, concurrency := range []int{64, 8} {
		for _, e := range []compare.Entry{measured("conditional", concurrency, judge.Held, 3234),
			measured("redis-counter-mysql", concurrency, judge.Held, 8408),
			measured("naive", concurrency, judge.Oversold, 9000),
			measured("<b>evil</b>", concurrency, judge.Held, 3300)} {
			r.Entries = append(r.Entries, &e)
		}
	}
	keyless := measured("conditional", 64, judge.Held, 3800)
	keyless.Keyless = true
	r.Entries = append(r.Entries, &keyless)
	r.Entries[0].Ratios = map[string]stats.Ratio{compare.WithoutKeys: {Times: .85, Low: .81, High: .89, Rounds: 3}}
	r.Entries[1].ProofBreaks = "late-command, node-loss"
	r.Entries[1].Factor = &stats.Ratio{Times: 2.6, Low: 2.4, High: 2.8, Rounds: 3}
	r.Entries[2].Problems = []loadtest.Problem{{Text: "nobody got a definite answer", Code: "no_answer"}}
	r.Entries[3].Factor = &stats.Ratio{Times: 1.02, Low: .9, High: 1.2, Rounds: 3}
	return r
}

// fakeReplay answers a replay with the counterexample of the matrix, if there is one.
func fakeReplay(w http.ResponseWriter, r *http.Request) {
	var ask struct{ Example string }
	json.NewDecoder(r.Body).Decode(&ask)
	http.ServeFileFS(w, r, web.Guarantees(), ask.Example+".json")
}

func fakeTrace(_ context.Context, info catalog.Info, _ int) (*explore.Trace, error) {
	if info.Name == "conditional" {
		return nil, errors.New("the wire is cut")
	}
	text, err := os.ReadFile("testdata/trace.json")
	made := &explore.Trace{Strategy: info.Name}
	return made, errors.Join(err, json.Unmarshal(text, made))
}

// fakeService lists three strategies, which are copies of naive with other names.
func fakeService(w http.ResponseWriter, r *http.Request) {
	name, one := strings.CutPrefix(r.URL.Path, "/api/v1/strategies/")
	if !one {
		http.ServeFile(w, r, "testdata/strategies.json")
		return
	}
	text, _ := os.ReadFile("testdata/strategy.json")
	_, _ = w.Write(bytes.Replace(text, []byte("NAME"), []byte(name), 1))
}

// fakeGuarantees has a small matrix and a few counterexamples in place of the real ones, and all other counterexamples.
type fakeGuarantees struct{}

func (fakeGuarantees) Open(name string) (fs.File, error) {
	if f, err := os.DirFS("testdata/guarantees").Open(name); err == nil {
		return f, nil
	}
	return web.Guarantees().Open(name)
}
