package loadtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

// The test covers every way in which a service can fail its buyers, one at a time. A run must find
// the failure, name it, and end with its exit status.
func TestRunJudgesTheService(t *testing.T) {
	fails := func(f *fake) {
		f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
			if n >= testStock/2 {
				refuse(w, http.StatusServiceUnavailable, "backend_unavailable")
			}
			return n >= testStock/2
		}
	}
	tests := []struct {
		name    string
		plant   func(*fake)
		adjust  func(*Config)
		verdict judge.Verdict
		exit    int
		rules   []string // all rules that must be violated
		problem string   // text that one of the problems must contain
	}{
		{name: "correct", plant: func(*fake) {}, verdict: judge.Held},
		{name: "sells too many", plant: func(f *fake) {
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
				respond(w, f.take(p))
				return true
			}
		}, verdict: judge.Oversold, exit: ExitOversold,
			rules: []string{judge.RuleOversold, judge.RuleNegative, judge.RuleNotLinearizable}},
		{name: "forgets an acknowledged order", plant: func(f *fake) {
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
				if n == 5 {
					respond(w, f.take(p))
					f.orders = f.orders[:len(f.orders)-1]
				}
				return n == 5
			}
		}, verdict: judge.Lost, exit: ExitLost, rules: []string{judge.RuleLostUnits, judge.RuleMissingOrder}},
		{name: "sells to a few, and fails for the rest", plant: fails, verdict: judge.NotValid, exit: ExitNotValid,
			problem: "units were left: nothing could be oversold"},
		{name: "sells to a few, and fails for the rest, as a fault has it", plant: fails,
			adjust: func(c *Config) { c.Faulty = func() bool { return true } }, verdict: judge.Held},
		{name: "sells to all who want, of plenty", plant: func(*fake) {},
			adjust: func(c *Config) { c.Buyers, c.Plenty = testStock/2, true }, verdict: judge.Held},
		{name: "answers nonsense to all", plant: func(f *fake) {
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
				respond(w, map[string]string{"hello": "world"})
				return true
			}
		}, verdict: judge.NotValid, exit: ExitNotValid, rules: []string{judge.RuleNothingSold},
			problem: "no buyer got a definite answer"},
		{name: "answers nonsense once", plant: func(f *fake) {
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
				if n == 5 {
					f.take(p)
					respond(w, map[string]string{"hello": "world"})
				}
				return n == 5
			}
		}, verdict: judge.NotValid, exit: ExitNotValid, problem: "answers outside the service's contract: 1"},
		{name: "writes orders for another strategy", plant: func(f *fake) {
			f.read = func(s *judge.Snapshot) {
				if len(s.Orders) > 0 {
					s.Orders[0].Strategy = "redis-lua"
				}
			}
		}, verdict: judge.NotValid, exit: ExitNotValid, rules: []string{judge.RuleMixedStores},
			problem: `orders of strategy "redis-lua" instead of "conditional": 1`},
		{name: "sells from a counter in Redis, and the row stays as it was set", plant: func(f *fake) {
			f.stockStores = func() map[seckill.StockStore]int64 { return map[seckill.StockStore]int64{seckill.InRedis: 0} }
			f.read = func(s *judge.Snapshot) { s.Stock.Num = s.Stock.Initial }
		}, adjust: func(c *Config) { c.Strategy = "redis-lua" }, verdict: judge.Held},
		{name: "sells without keys", plant: func(f *fake) {
			f.purchase = func(_ int, p asked, w http.ResponseWriter) bool {
				sent := strings.HasPrefix(p.key, "load-")
				if sent {
					refuse(w, http.StatusBadRequest, "invalid")
				}
				return sent
			}
		}, adjust: func(c *Config) { c.Keyless = true }, verdict: judge.Held},
		{name: "writes an order that nobody asked for, without keys", plant: func(f *fake) {
			f.purchase = func(n int, p asked, _ http.ResponseWriter) bool {
				if n == 5 {
					p.User, p.key = 99, "by hand"
					f.take(p)
				}
				return false
			}
		}, adjust: func(c *Config) { c.Keyless = true }, verdict: judge.Lost, exit: ExitLost,
			rules: []string{judge.RuleInvented, judge.RuleNotLinearizable}},
		{name: "hangs, sold or not", plant: func(f *fake) {
			f.outside = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if n%20 == 3 {
					<-r.Context().Done()
				}
				return n == 23 // this call sells nothing; the other calls that hang sell after their buyer has gone
			}
		}, adjust: func(c *Config) { c.Timeout = 200 * time.Millisecond }, verdict: judge.Held},
		{name: "is reset in mid-run", plant: func(f *fake) {
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
				if n == 10 {
					f.resetTo(testStock)
				}
				return false
			}
		}, verdict: judge.NotValid, exit: ExitNotValid,
			rules: []string{judge.RuleInitialChanged, judge.RuleMissingOrder, judge.RuleNotLinearizable}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{token: "secret"}
			test.plant(f)
			c := serve(t, f)
			if test.adjust != nil {
				test.adjust(&c)
			}
			r := ran(t, c)
			if r.Verdict != test.verdict || r.ExitStatus() != test.exit {
				t.Errorf("verdict %s, exit status %d; want %s, %d\n%s", r.Verdict, r.ExitStatus(), test.verdict,
					test.exit, show(r))
			}
			if got := rules(r); !slices.Equal(got, test.rules) {
				t.Errorf("violated rules %v, want %v\n%s", got, test.rules, show(r))
			}
			labtest.Contains(t, fmt.Sprint(r.Problems), test.problem, "the problems")
			if test.verdict == judge.Held && len(r.Problems) > 0 ||
				(r.CommandsMissing == "") != (c.Strategy == testStrategy && f.stock.Run == 1) {
				t.Errorf("%s, with problems %q; of the commands it is missing %q", r.Verdict, r.Problems,
					r.CommandsMissing)
			}
			if r.Requests != c.Buyers || f.seen != c.Buyers {
				t.Errorf("%d buyers sent %d requests, of which the service saw %d", c.Buyers, r.Requests, f.seen)
			}
		})
	}
}

func rules(r *Result) (names []string) {
	if r.Audit != nil {
		for _, v := range r.Audit.Violations {
			names = append(names, v.Rule)
		}
	}
	return names
}

func show(r *Result) string {
	text := fmt.Sprintf("%s: %s\n%v\n%q\n", r.Verdict, r.Summary(), r.Counts, r.Problems)
	if r.Audit != nil {
		for _, v := range r.Audit.Violations {
			text += fmt.Sprintf("%s: %s %q\n", v.Rule, v.Message, v.Examples)
		}
	}
	return text
}

// A run that cannot begin changes nothing and says why.
func TestRunDoesNotStart(t *testing.T) {
	gone := func(c *Config) { c.Targets = append(c.Targets, "http://127.0.0.1:1") }
	for _, test := range []struct {
		name    string
		adjust  func(*Config)
		problem string
	}{
		{"one target is unreachable", gone, "http://127.0.0.1:1 cannot be used"},
		{"another token", func(c *Config) { c.AdminToken = "secreT" }, "needs the service's token, as SECKILL_TOKEN"},
		{"the SQL ledger is another one", func(c *Config) { c.Ledger = skuLedger(unheard) },
			"do they share a database?"},
		{"the SQL ledger is down", func(c *Config) { c.Ledger = skuLedger(unreadable) },
			"the ledger could not be read: no such luck"},
		{"a unit is gone at once", func(c *Config) {
			all := c.Ledger
			c.Ledger = skuLedger(func(sku int64) (judge.Snapshot, error) {
				snap, err := all.Snapshot(t.Context(), sku)
				snap.Stock.Num--
				return snap, err
			})
		}, "do they share a database?"},
		{"the targets sell different stocks", func(c *Config) {
			c.Targets = append(c.Targets, serve(t, &fake{}).Targets[0])
		}, "do they share a database?"},
		{"the strategy was not reset", func(c *Config) {
			c.Targets = serve(t, &fake{token: "secret", notReset: []string{testStrategy}}).Targets
		}, "the reset did not reach the strategy"},
		{"the target is something else", func(c *Config) {
			c.Targets = []string{c.Targets[0] + "/elsewhere"}
		}, "cannot be used"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{token: "secret"}
			c := serve(t, f)
			test.adjust(&c)
			r := ran(t, c)
			if all := fmt.Sprint(r.Problems); r.ExitStatus() != ExitNotValid || !strings.Contains(all, test.problem) {
				t.Errorf("exit status %d, problems %q; want %d, one with %q", r.ExitStatus(), all, ExitNotValid,
					test.problem)
			}
			labtest.Same(t, f.seen, 0, "the purchases that the service saw")
		})
	}
}

// Two readings of a ledger differ if an order was cancelled or decided between them.
func TestReadingsThatAgree(t *testing.T) {
	sold, held := judge.Order{Status: judge.Active}, judge.Order{Status: judge.Active,
		Reservation: &judge.Reservation{Left: 1}}
	for _, other := range []judge.Order{held, {Status: judge.Cancelled}} {
		if sameSnapshot(judge.Snapshot{Orders: []judge.Order{sold}}, judge.Snapshot{Orders: []judge.Order{other}}) {
			t.Errorf("readings of %+v and %+v agree", sold, other)
		}
	}
}

// A run waits while something may still change the ledger, and no longer.
func TestSettling(t *testing.T) {
	s := limits{settle: 30 * time.Second, poll: time.Second, quiet: 5 * time.Second}
	open := judge.Snapshot{Orders: []judge.Order{{Status: judge.Active,
		Reservation: &judge.Reservation{State: seckill.Reserved}}}}
	for name, c := range map[string]struct {
		answered, promised  bool
		service             failing       // how the service fails when asked for its purchases in flight
		reserve             time.Duration // how long reservations last; 0 for none
		from, until         time.Duration // then the ledger is unreadable or, with reserve, has an open reservation
		took                time.Duration
		restless, unsettled bool
		unread              bool // true if there is no report, because the ledger was never read
	}{
		"all were answered": {answered: true},
		"a reservation is open": {answered: true, reserve: time.Second, until: 3 * time.Second,
			took: 3 * time.Second},
		"the last reservation": {answered: true, reserve: 10 * time.Second, until: 39 * time.Second,
			took: 39 * time.Second},
		"one was not answered": {took: time.Second},
		"one was accepted":     {promised: true, took: 5 * time.Second},
		"accepted, and the database went away": {promised: true, from: time.Second, until: 3 * time.Second,
			took: 7 * time.Second},
		"the database went away for good": {from: time.Second, until: time.Hour, took: 30 * time.Second,
			unsettled: true},
		"the ledger cannot be read": {answered: true, until: time.Hour, took: 30 * time.Second,
			unsettled: true, unread: true},
		"a ledger that never stands still":      {restless: true, took: 30 * time.Second, unsettled: true},
		"not answered, and the service is dead": {service: "dial", took: time.Second},
		"the service hangs":                     {service: "read", took: 30 * time.Second, unsettled: true},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			r := newRun(Config{Scenario: Scenario{SKU: 1, SKUs: 1, Reserve: c.reserve}, limits: s,
				Ledger: skuLedger(func(sku int64) (judge.Snapshot, error) {
					switch at := time.Since(begun); {
					case c.restless:
						return judge.Snapshot{Stock: judge.Stock{Version: int64(at)}}, nil
					case at < c.from || at >= c.until:
						return judge.Snapshot{}, nil
					case c.reserve > 0:
						return open, nil
					}
					return unreadable(sku)
				})})
			if c.service != "" {
				r.services = []service{{http: &http.Client{Transport: c.service}}}
			}
			r.tally.skus[0].hasSilentCall, r.tally.skus[0].hasOpenRequest = !c.answered, c.promised
			reports := r.auditSKUs(t.Context())
			if took := time.Since(begun); r.result.Settled == c.unsettled ||
				len(r.result.Problems) > 0 != c.unsettled || reports == nil != c.unread || took != c.took ||
				(r.result.Linearizable.Answer == "") != (c.unsettled || c.reserve > 0) {
				t.Errorf("%s: %t, with %d reports, after %v, want %v; %+v %q", name, r.result.Settled, len(reports),
					took, c.took, r.result.Linearizable, r.result.Problems)
			}
		})
	}
}

// A failing service breaks connections while they are opened ("dial") or later ("read").
type failing string

func (op failing) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: string(op), Err: syscall.ECONNRESET}
}

// A skuLedger is a Ledger: the function returns the snapshot of a SKU.
type skuLedger func(sku int64) (judge.Snapshot, error)

func (l skuLedger) Snapshot(_ context.Context, sku int64) (judge.Snapshot, error) { return l(sku) }

func unheard(int64) (judge.Snapshot, error) { return judge.Snapshot{}, seckill.ErrUnknownSKU }

func unreadable(int64) (judge.Snapshot, error) {
	return judge.Snapshot{}, errors.New("no such luck")
}

func TestRunRefusesWhatProvesNothing(t *testing.T) {
	for _, test := range []struct {
		name   string
		adjust func(*Config)
		want   string
	}{
		{"no target", func(c *Config) { c.Targets = nil }, "no target"},
		{"no ledger", func(c *Config) { c.Ledger = nil }, "no ledger"},
		{"an unknown strategy", func(c *Config) { c.Strategy = "hope" }, `which has: conditional, redis-lua, zk`},
		{"an unavailable strategy", func(c *Config) { c.Strategy = "zk" }, "no ZooKeeper is configured"},
		{"to join a sale that was reset meanwhile", func(c *Config) { c.Joins = true },
			"was reset meanwhile, from 20 units to 0"},
		{"a strategy without reservations", func(c *Config) { c.Reserve = time.Second }, "has no reservations"},
		{"more than the memory holds", func(c *Config) { c.Buyers = 4_000_000 },
			"4,000,000 buyers of 20 units: every answer is kept until it is judged, which would take about 1.8 GB"},
		{"payments that the memory does not hold", func(c *Config) { c.Buyers, c.Stock, c.Reserve = 1_000_000, 800_000, time.Second }, "about 1.2 GB"},
		{"orders that the memory does not hold", func(c *Config) { c.Buyers, c.Stock = 2_000_000, 1_000_000 },
			"about 1.4 GB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{token: "secret"}
			c := serve(t, f)
			test.adjust(&c)
			_, err := Run(t.Context(), c)
			labtest.Check(t, err, ErrConfig, "the run")
			labtest.Fails(t, err, test.want, "the run")
			labtest.Same(t, f.stock.Run, 0, "the run of a sale that was not to be reset")
		})
	}
}

// A violation that is proven for one SKU counts, even if other SKUs cannot be read, or do not
// settle in the time that all SKUs share.
func TestAuditOfSeveralSKUs(t *testing.T) {
	for _, test := range []struct {
		name    string
		spoil   func(*judge.Snapshot) // changes the snapshot of SKU 1
		adjust  func(*run)
		unread  int64
		verdict judge.Verdict
	}{
		{"oversold, and one is not read", func(s *judge.Snapshot) { s.Orders[0].Quantity = 2 }, func(*run) {}, 2,
			judge.Oversold},
		{"lost, and others do not settle", func(s *judge.Snapshot) { s.Orders = nil },
			func(r *run) {
				for k := 1; k < 6; k++ {
					r.tally.skus[k].hasSilentCall = true
				}
			}, 0, judge.Lost},
		{"orders of another strategy in each", func(*judge.Snapshot) {}, func(r *run) { r.config.Strategy = "naive" },
			0, judge.NotValid},
		{"lost, and does not settle", func(s *judge.Snapshot) { s.Orders = nil },
			func(r *run) { r.tally.skus[0].hasSilentCall = true }, 0, judge.NotValid},
	} {
		c := serve(t, &fake{pretend: 1})
		c.SKUs, c.Stock, c.limits.settle = 6, 1, time.Second // long enough to read each SKU once on a busy machine
		last := 0
		c.Ledger = skuLedger(func(sku int64) (judge.Snapshot, error) {
			if sku == 6 {
				last++
			}
			s := judge.Snapshot{Stock: judge.Stock{ID: sku, Initial: 1, Run: 1},
				Orders: []judge.Order{{PublicID: "A", RequestID: "key", Run: 1,
					UserID: 1, SKUID: sku, Quantity: 1, Status: judge.Active, Strategy: testStrategy}}}
			if sku == 1 {
				test.spoil(&s)
			}
			if sku == test.unread {
				return s, errors.New("no such luck")
			}
			return s, nil
		})
		r := newRun(c)
		r.stockStores = map[string]seckill.StockStore{testStrategy: seckill.InRow}
		for k := range r.config.SKUs {
			r.plan.runs[k] = 1
			r.tally.skus[k].calls = []judge.Call{{RequestID: "key", User: 1, Quantity: 1, Outcome: judge.OutcomeSold,
				OrderID: "A", CallTimes: judge.CallTimes{Sent: 1, Answered: 2}}}
		}
		test.adjust(r)
		r.judgeSale(t.Context())
		r.result.writeVerdict(nil)
		if r.result.Verdict != test.verdict || len(r.result.Problems) == 0 {
			t.Errorf("%s: %s, want %s\n%s", test.name, r.result.Verdict, test.verdict, show(r.result))
		}
		if n := strings.Count(fmt.Sprint(r.result.Problems), "orders of strategy"); n > 1 {
			t.Errorf("%s: %d problems say so, want one for all SKUs", test.name, n)
		}
		if last > 1 {
			t.Errorf("%s: the last SKU was read %d times, after the time was over", test.name, last)
		}
	}
}

// Ctrl-C ends the load, but not the audit.
func TestRunInterrupted(t *testing.T) {
	for _, oversells := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := &fake{}
		f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
			if n == 2*testStock {
				cancel()
			}
			if oversells {
				respond(w, f.take(p))
			}
			return oversells
		}
		c := serve(t, f)
		c.Buyers = 10_000
		r := labtest.Value(Run(ctx, c)).Must(t)
		want := ExitNotValid
		if oversells {
			want = ExitOversold
		}
		if !r.Interrupted || r.ExitStatus() != want || r.Audit == nil || r.Audit.Orders < testStock {
			t.Errorf("oversells %t: interrupted %t, exit status %d, want true, %d\n%s", oversells, r.Interrupted,
				r.ExitStatus(), want, show(r))
		}
		if r.Requests != f.seen || r.Requests >= c.Buyers {
			t.Errorf("%d requests reported, %d seen", r.Requests, f.seen)
		}
	}
}

// After an interruption, a run waits only a while for buyers who have no answer.
func TestRunInterruptedWhileBuyersHang(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{}
	f.outside = func(n int, w http.ResponseWriter, r *http.Request) bool {
		cancel()
		<-r.Context().Done()
		return true
	}
	c := serve(t, f)
	c.Timeout = time.Hour
	r := labtest.Value(Run(ctx, c)).Must(t)
	if answered(r, codeInterrupted) != r.Requests || r.ExitStatus() != ExitNotValid {
		t.Errorf("%d of %d interrupted, exit status %d", answered(r, codeInterrupted), r.Requests, r.ExitStatus())
	}
}

// A process that is killed breaks some connections and then refuses others. The answers of other processes still count.
func TestRunWithATargetThatDies(t *testing.T) {
	f := &fake{}
	c := serve(t, f)
	c.Buyers = 200
	dying := httptest.NewServer(nil)
	defer dying.Close()
	seen := atomic.Int64{}
	dying.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && seen.Add(1) == 5 {
			_ = dying.Listener.Close()
			hangUp(w)
			go dying.CloseClientConnections()
			return
		}
		f.handler().ServeHTTP(w, r)
	})
	c.Targets = append(c.Targets, dying.URL)
	r := ran(t, c)
	if r.Verdict != judge.Held || answered(r, codeUnreachable) == 0 || answered(r, codeLost) == 0 ||
		r.CommandsMissing == "" {
		t.Errorf("verdict %s, answers %v; want held, some unreachable and some lost\n%s", r.Verdict, r.Answers, show(r))
	}
}

func TestRunMeasures(t *testing.T) {
	f := &fake{}
	f.outside = func(int, http.ResponseWriter, *http.Request) bool {
		time.Sleep(2 * time.Millisecond) // the latency that the run must measure
		return false
	}
	c := serve(t, f)
	var last Progress
	c.OnProgress = func(p Progress) { last = p }
	var atBegin, atEnd judge.Snapshot
	ctx, stop := context.WithCancel(t.Context())
	c.Begin, c.End = func() { atBegin = f.view() }, func() { atEnd = f.view(); stop() } // stops a run that is done
	f.wait, c.Outage = 2*time.Minute, func() time.Duration { return time.Minute }
	used := time.Hour
	c.ServersTime = func() (time.Duration, bool) { used /= 2; return used, true } // as after a restart
	r := labtest.Value(Run(ctx, c)).Must(t)
	if s := r.Audit.Served; r.Interrupted || r.Processor.Servers != nil || s.State != judge.ServedYes ||
		s.PatienceMs != 180_000 {
		t.Errorf("interrupted %t, %+v, %+v", r.Interrupted, r.Processor, s)
	}
	if atBegin.Stock.Num != testStock || len(atBegin.Orders) > 0 || len(atEnd.Orders) != testStock {
		t.Errorf("it began with %+v, and ended with %d orders", atBegin, len(atEnd.Orders))
	}
	labtest.Same(t, r.Commands, []Commands{{"sql", 3 * testBuyers, 3}}, "the commands, 3 of SQL a purchase")
	if r.SellingSeconds <= 0 || r.SellingSeconds > r.Seconds {
		t.Errorf("sold for %g s of %g", r.SellingSeconds, r.Seconds)
	}
	l, s := r.Latency, r.SoldLatency
	if l.P50 < 2000 || l.P50 > l.P90 || l.P90 > l.P99 || l.P99 > l.P999 || l.P999 > l.Max || l.Mean < 2000 ||
		s.P50 < 2000 || s.Max > l.Max {
		t.Errorf("latencies %v and %v of a service that takes at least 2 ms", l, s)
	}
	if want := testStock / r.SellingSeconds; r.RequestsPerSec <= 0 || math.Abs(r.SalesPerSec-want) > want/1000 {
		t.Errorf("%f requests/s, %f sales/s, want %f: until the last sale", r.RequestsPerSec, r.SalesPerSec, want)
	}
	if last.Requests != testBuyers || last.Buyers != testBuyers || last.Units != testStock ||
		last.Counts[judge.OutcomeSold] != testStock {
		t.Errorf("the last progress was %+v", last)
	}
	labtest.Same(t, r.Strategy.Title, "One conditional UPDATE", "the title of the strategy")
	labtest.Same(t, r.Targets[0].Backends[0].Version, "MariaDB 10.11.6", "the version of the server")
}

// A counter is read from any service that has it. If a service answers without a counter, the
// counter counts as missing, even if another service is dead.
func TestCounterOfSeveralServices(t *testing.T) {
	blind := &fake{stockStores: func() map[seckill.StockStore]int64 { return nil }}
	sees := &fake{stockStores: func() map[seckill.StockStore]int64 { return map[seckill.StockStore]int64{seckill.InRedis: 3} }}
	blindAt, seesAt, dead := serve(t, blind).Targets[0], serve(t, sees).Targets[0], "http://127.0.0.1:1"
	for _, test := range []struct {
		targets []string
		want    map[seckill.StockStore]int64
	}{
		{[]string{blindAt, seesAt}, sees.stockStores()}, {[]string{blindAt, dead}, nil}, {[]string{dead, blindAt}, nil},
	} {
		l := run{config: Config{Ledger: blind}, stockStores: map[string]seckill.StockStore{"": seckill.InRedis}}
		for _, base := range test.targets {
			l.services = append(l.services, service{base: base, http: http.DefaultClient})
		}
		snap := labtest.Value(l.Snapshot(t.Context(), 1)).Must(t)
		labtest.Same(t, snap.StockStores, test.want, "%v: the stock stores", test.targets)
	}
}

// answered returns the number of answers with this code.
func answered(r *Result, code string) (n int) {
	for _, a := range r.Answers {
		if a.Code == code {
			n += a.Count
		}
	}
	return n
}

// A run joins a sale in which others have bought two units and given one back. The run leaves that
// sale as it is. But the orders of others excuse no fault: if the service sells once more under a
// key like the run's, the order is invented.
func TestRunJoinsASale(t *testing.T) {
	for invents, rule := range map[bool][]string{false: nil, true: {judge.RuleInvented}} {
		f := &fake{}
		f.resetTo(testStock)
		for _, user := range []int64{1_000_001, 1_000_002} {
			f.take(asked{SKU: 1, User: user, Quantity: 1, key: "by hand", strategy: "zk"})
		}
		f.orders[1].Status = judge.Cancelled
		f.stock.Num++
		f.purchase = func(n int, p asked, _ http.ResponseWriter) bool {
			if invents && n == 5 {
				p.User, p.key = 99, "load-1-1-1-4711"
				f.take(p)
			}
			return false
		}
		c := serve(t, f)
		c.Joins = true
		r := ran(t, c)
		if got := rules(r); !slices.Equal(got, rule) || f.stock.Run != 1 || r.Linearizable.Answer != LinearNotChecked ||
			r.Linearizable.Why == "" {
			t.Errorf("run %d, linearizable %v\n%s", f.stock.Run, r.Linearizable, show(r))
		}
		if !invents && (len(f.orders) != testStock+1 || r.Audit.Sold != testStock ||
			r.Counts[judge.OutcomeSold] != testStock-1) {
			t.Errorf("%d orders, %d units sold; the run's buyers were sold %d", len(f.orders), r.Audit.Sold,
				r.Counts[judge.OutcomeSold])
		}
	}
}

// Most buyers come after the service has answered both calls of a restock of 7 units.
func TestRunJudgesRestocks(t *testing.T) {
	for _, test := range []struct {
		name    string
		plant   func(f *fake, call int)
		verdict judge.Verdict
		rules   []string
	}{
		{"adds them once", func(*fake, int) {}, judge.Held, nil},
		{"loses them", func(f *fake, call int) {
			if call == 0 {
				f.stock.Num -= 7
			}
		}, judge.Lost, []string{judge.RuleLostUnits, judge.RuleNotLinearizable}},
		{"adds them again", func(f *fake, call int) {
			if call == 1 {
				f.stock.Num += 7
			}
		}, judge.Oversold, []string{judge.RuleOversold, judge.RuleLostUpdate, judge.RuleNotLinearizable}},
		{"forgets that it has", func(f *fake, call int) {
			f.orders = slices.DeleteFunc(f.orders, func(o judge.Order) bool { return o.IsRestock() && call == 1 })
		}, judge.NotValid, []string{judge.RuleInitialChanged, judge.RuleOversold, judge.RuleLostUpdate,
			judge.RuleRestock}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			added := make(chan struct{})
			f := &fake{token: "secret"}
			f.restocked = func(call int) {
				test.plant(f, call)
				if call == 1 {
					close(added)
				}
			}
			f.outside = func(n int, _ http.ResponseWriter, _ *http.Request) bool {
				if n >= 10 {
					<-added
				}
				return false
			}
			c := serve(t, f)
			c.Restock = []string{"7@0s"}
			r := ran(t, c)
			if got := rules(r); r.Verdict != test.verdict || !slices.Equal(got, test.rules) || r.Restocks != 1 ||
				len(r.Problems) > 0 {
				t.Errorf("%s with %v after %d restocks, want %s with %v\n%s", r.Verdict, got, r.Restocks, test.verdict,
					test.rules, show(r))
			}
		})
	}
}

func TestRestocksThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "50", "50@", "@1s", "0@1s", "-1@1s", "50@1", "50@-1s", "50@2h", "1.5@1s"} {
		s := DefaultScenario()
		s.Restock = []string{text}
		labtest.Check(t, s.Check(), ErrConfig, "the restock %q", text)
	}
}
