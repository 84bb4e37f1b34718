package main

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/strategies"
)

// asProgram is the variable that makes this test binary act as the seckill program. A lab starts
// the binary with it as a service process.
const asProgram = "SECKILL_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		labtest.KeepCompiledSQLite()
		main()
		return
	}
	testscript.Main(tests{m}, map[string]func(){"seckill": main}) // in scripts, seckill is a link to this binary
}

type tests struct{ *testing.M }

// Run runs the tests without the variables that commands read.
func (t tests) Run() int {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "SECKILL_") &&
			!strings.HasPrefix(name, "SECKILL_TEST_") {
			os.Unsetenv(name)
		}
	}
	os.Setenv(asProgram, "1")
	return labtest.Main(t.M)
}

// needed lists the capabilities that the strategies in these tests need. With make verify, the
// tests use all strategies.
var needed = []backend.Capability{backend.SQL, backend.RowLocks, backend.Redis}

func init() {
	if labtest.Verify {
		needed = append(needed, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd)
	}
}

// everyones has the URLs of two service processes without special arguments. All tests use them
// that neither stop nor kill a process.
var everyones []string

// sharedServices returns the URLs of two service processes that several tests use, one after the
// other. The processes end with the lab.
func sharedServices(t testing.TB) (l *lab.Lab, urls []string) {
	t.Helper()
	l = labtest.Start(t, needed...)
	if everyones == nil {
		before := len(l.Services())
		labtest.Must(t, l.StartServices(context.Background(), 2))
		for _, s := range l.Services()[before:] {
			everyones = append(everyones, s.URL)
		}
	}
	return l, everyones
}

// services starts two service processes on the test's lab, which end with the test. It returns
// their URLs and their processes.
func services(t *testing.T, args ...string) (l *lab.Lab, urls []string, processes []*lab.Process) {
	t.Helper()
	l = labtest.Start(t, needed...)
	t.Setenv("SECKILL_TOKEN", l.Token()) // for commands that the test itself runs
	urls, processes = servicesOf(t, l, args...)
	return l, urls, processes
}

// servicesOf starts two service processes on the given lab.
func servicesOf(t *testing.T, l *lab.Lab, args ...string) (urls []string, processes []*lab.Process) {
	t.Helper()
	before := len(l.Services())
	labtest.Must(t, l.StartServices(t.Context(), 2, args...))
	for _, s := range l.Services()[before:] {
		p := labtest.Value(l.Process(s.Name)).Must(t)
		urls, processes = append(urls, s.URL), append(processes, p)
	}
	t.Cleanup(func() {
		for _, p := range processes {
			if p.Alive() {
				labtest.Check(t, p.Terminate(context.Background()), nil, "end a service process")
			}
		}
	})
	return urls, processes
}

func books(t *testing.T) *ledger.Store {
	return ledger.NewStore(labtest.Instance(t, backend.SQL).DB)
}

func loadRun(t *testing.T, c loadtest.Config) *loadtest.Result {
	t.Helper()
	c.SKU, c.SKUs = cmp.Or(c.SKU, 1), cmp.Or(c.SKUs, 1)
	c.Profile, c.Concurrency = cmp.Or(c.Profile, loadtest.Closed), cmp.Or(c.Concurrency, 64)
	if c.AdminToken == "" {
		c.AdminToken = labtest.Start(t).Token()
	}
	if c.Seed == 0 {
		c.Seed = uint64(time.Now().UnixNano())
	}
	c.Quantity, c.Timeout = 1, 20*time.Second
	t.Logf("seed %d", c.Seed)
	return labtest.Value(loadtest.Run(t.Context(), c)).Must(t)
}

// quick lists the strategies with a load run in make test: one for each stock store, and a broken one.
var quick = []string{"conditional", "naive", "mysql-counter", "redis-counter", "redis-counter-mysql", "bucketed",
	"redis-stream"}

// The test sends the default load of seckill load, with fewer buyers, to two processes. The verdict must be what the
// strategy declares. In make verify, it must be the same with more copies and without cancellations.
func TestLoadRunOverTwoProcesses(t *testing.T) {
	store := books(t)
	_, shared := sharedServices(t)
	for _, info := range strategies.All() {
		if !labtest.Verify && !slices.Contains(quick, info.Name) {
			continue
		}
		t.Run(info.Name, func(t *testing.T) {
			urls := shared
			if info.Name == "zk-norecheck" { // with these times no waiter gives up, so the flaw does not show
				_, urls, _ = services(t, "--lock-wait=60s", "--purchase-timeout=60s", "--zookeeper-session=30s")
			}
			usual := loadtest.DefaultScenario()
			usual.Strategy, usual.Buyers, usual.Seed = info.Name, 600, 1 // with this seed, some requests are copied
			agrees(t, info, loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: usual}))
			if labtest.Verify {
				usual.Stock, usual.Buyers, usual.Copies, usual.Retry, usual.Cancellations = 60, 300, 0.3, 2, 0
				agrees(t, info, loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: usual}))
			}
		})
	}
}

// agrees checks that a verdict is what the strategy declares.
func agrees(t *testing.T, info catalog.Info, r *loadtest.Result) {
	t.Helper()
	refused := r.Counts[judge.OutcomeBusy] + r.Counts[judge.OutcomeConflict]
	switch {
	case r.Copies == 0:
		t.Error("nothing was copied")
	case info.BreaksIn(2):
		if r.Verdict != judge.Oversold && r.Verdict != judge.Lost {
			t.Errorf("shipped as broken, and the run says %s: %+v", r.Verdict, r.Audit)
		}
	case r.ExitStatus() != loadtest.ExitHeld || r.Counts[judge.OutcomeUnknown] != 0:
		t.Errorf("the run says %s: %v %+v\n%v, %d copies", r.Verdict, r.Problems, r.Audit.Violations, r.Counts,
			r.Copies)
	case r.Audit.Sold+int64(r.Cancellations.Done) < r.Settings.Stock && refused == 0:
		t.Errorf("%d sold of %d, and no buyer was told busy or conflict", r.Audit.Sold, r.Settings.Stock)
	case r.Linearizable.Answer != loadtest.LinearYes && r.Settings.Cancellations == 0:
		t.Errorf("linearizable is %s: %s", r.Linearizable.Answer, r.Linearizable.Why)
	}
}

// Buyers reserve at two service processes, which both release expired reservations. Most buyers
// pay, some cancel, some forget. Units that were not paid are sold to others.
func TestLoadRunWithReservations(t *testing.T) {
	store := books(t)
	_, urls := sharedServices(t)
	r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: loadtest.Scenario{Strategy: "reserve",
		Stock: 60, Buyers: 240, Reserve: 2 * time.Second, Forget: .3, Cancellations: .2, Copies: .1, Retry: 1,
		Concurrency: 32}})
	c, a := r.Reservations, r.Audit
	t.Logf("%s: %+v, %+v, sold %d, reserved %d, expired %d, cancelled %d", r.Verdict, c, r.Cancellations, a.Sold,
		a.Reserved, a.Expired, a.Cancelled)
	if r.Verdict != judge.Held {
		t.Errorf("the verdict is %s: %+v %v", r.Verdict, a.Violations, r.Problems)
	}
	if c.Paid == 0 || c.Forgotten == 0 || a.Expired == 0 || c.Returned == 0 || r.Cancellations.Done == 0 ||
		c.Refused+c.Unknown > 0 {
		t.Errorf("not all of it happened: %+v, %+v", c, r.Cancellations)
	}
	// If copies of a request must wait, the buyer may pay too late.
	if a.Sold != int64(c.Paid) || a.Reserved != 0 ||
		a.Expired+a.Cancelled != c.Forgotten+c.Expired+r.Cancellations.Done ||
		a.Remaining != 60-a.Sold || r.Counts[judge.OutcomeReserved] != c.Paid+c.Forgotten+c.Expired+r.Cancellations.Done {
		t.Errorf("the ledger and the buyers differ: %+v, %+v, %+v", c, r.Cancellations, a)
	}
}

// A thorough load tries everything in one sale. A service process is killed in the middle of the
// sale, and sells again afterwards.
func TestThoroughLoad(t *testing.T) {
	store := books(t)
	l, urls, processes := services(t)
	c := LoadCmd{Thorough: true, Scenario: loadtest.ThoroughScenario()}
	c.Scenario.Stock, c.Scenario.Buyers = 1000, 2500
	config, first := loadtest.Config{Targets: urls, Ledger: store, Scenario: c.Scenario}, processes[1].Done()
	config.OnProgress = func(loadtest.Progress) {}
	end := c.planFault(t.Context(), &place{lab: l}, &config)
	r := loadRun(t, config)
	r.Fault = end()
	did, not := r.Exercised() // not tried: reservations, answers in two steps, restocks
	t.Logf("tried: %v, not: %v", did, not)
	if r.Verdict != judge.Held || r.Fault == "" || len(not) != 3 || r.Cut == 0 {
		t.Errorf("%s %v %+v, not tried: %v", r.Verdict, r.Problems, r.Audit, not)
	}
	if !processes[1].Alive() || processes[1].Done() == first {
		t.Error("the process that was to be killed did not start again")
	}
}

// Two processes accept purchases for later. One process is killed in the middle of the sale. The
// other process writes the orders that the first had accepted, so every promise is kept.
func TestLoadRunInTwoSteps(t *testing.T) {
	store := books(t)
	_, urls, processes := services(t)
	kill := sync.OnceFunc(func() {
		labtest.Check(t, processes[0].Kill(context.Background()), nil, "kill a process")
	})
	r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store,
		Scenario: loadtest.Scenario{Strategy: "redis-stream", Async: true,
			Stock: 800, Buyers: 1200, Concurrency: 64, Copies: 0.1, Retry: 1, Cancellations: 0.05},
		Hooks: loadtest.Hooks{OnProgress: func(p loadtest.Progress) {
			if p.Requests > 100 {
				kill()
			}
		}}})
	if r.Verdict != judge.Held {
		t.Errorf("%s, %v %+v", r.Verdict, r.Problems, r.Audit.Violations)
	}
	if r.Accepted < 300 || r.Counts[judge.OutcomeAccepted] > 0 ||
		r.Counts[judge.OutcomeSold] < r.Accepted { // a copy's answer may be the order
		t.Errorf("%d accepted, and the requests came to %v", r.Accepted, r.Counts)
	}
	if processes[0].Alive() {
		t.Error("the run ended before a process was killed")
	}
}

func parseLoad(t *testing.T, args ...string) (loadtest.Scenario, error) {
	t.Helper()
	var c struct {
		Load LoadCmd `cmd:""`
	}
	parser := labtest.Value(newParser(&c)).Must(t)
	_, err := parser.Parse(append([]string{"load"}, args...))
	return c.Load.Scenario, err
}

// Flags override the scenario file, and the file overrides the defaults.
func TestScenarioOfFlagsAndFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sale.yaml")
	labtest.Must(t, os.WriteFile(file, []byte("stock: 300\nprofile: constant\nrate: 100\nduration: 9s\nrequire: [errors==0]\n"), 0o600))
	got, err := parseLoad(t, "--scenario", file, "--rate", "250.5", "--seed", "7", "--require", "p99<1s", "--async")
	labtest.Must(t, err)
	want := loadtest.DefaultScenario()
	want.Stock, want.Profile, want.Rate, want.Duration, want.Seed = 300, loadtest.Constant, 250.5, 9*time.Second, 7
	want.Require, want.Async = []string{"p99<1s"}, true
	labtest.Same(t, got, want, "the flags and the file")
	want = loadtest.ThoroughScenario()
	want.Strategy, want.Copies, want.Seed, want.Reserve, want.Forget = "reserve", 0.5, 7, time.Second, 0.2
	labtest.Value(parseLoad(t, "--strategy", "reserve", "--copies", "0.5", "--thorough", "--seed", "7")).Same(t, want,
		"--thorough")
	a, _ := parseLoad(t)
	b, _ := parseLoad(t)
	if a.Seed == b.Seed {
		t.Error("two runs without a seed have the same")
	}
}

// The lab shows a command line for each run. It makes the same sale.
func TestCommandOfAScenario(t *testing.T) {
	usual := loadtest.DefaultScenario()
	usual.Seed = 1<<64 - 1
	for _, change := range []func(*loadtest.Scenario){
		func(s *loadtest.Scenario) { s.Strategy, s.SKU, s.Stock, s.Quantity = "redis-lua", 3, 500, 2 },
		func(s *loadtest.Scenario) { s.Profile, s.Concurrency, s.Timeout = loadtest.Spike, 0, 15*time.Second },
		func(s *loadtest.Scenario) {
			s.Profile, s.Buyers, s.Concurrency, s.Rate, s.Duration = loadtest.Constant, 0, 0, 500, 3*time.Second
		},
		func(s *loadtest.Scenario) { s.Strategy, s.Async = "redis-stream", true },
		func(s *loadtest.Scenario) { s.Require = []string{"p99<50ms", "errors==0"} },
		func(s *loadtest.Scenario) {
			s.Strategy, s.Reserve, s.Forget = "reserve", 2*time.Second, .1
		},
	} {
		want := usual
		change(&want)
		words := labtest.Value(exec.Command("sh", "-c", `printf '%s\n' `+want.Command()).Output()).Must(t)
		got, err := parseLoad(t, strings.Fields(string(words))[2:]...)
		if err != nil || got.Command() != want.Command() || got.Requests() != want.Requests() || got.Seed != want.Seed {
			t.Errorf("%s\nis read as\n%s (%v)", want.Command(), got.Command(), err)
		}
	}
}
