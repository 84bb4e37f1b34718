package loadtest

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

// atOnce is a service that answers at once.
type atOnce struct{}

func (atOnce) sendPurchase(purchase) reply {
	return reply{Outcome: judge.OutcomeSold, OrderID: "JBSWY3DPEHPK3PXPJBSWY3DPEH", Remaining: 7}
}
func (atOnce) sendCancellation(purchase) reply {
	return reply{Outcome: judge.OutcomeCancelled}
}
func (atOnce) sendPayment(purchase) reply        { return reply{Outcome: judge.OutcomeSold} }
func (atOnce) sendRestock(purchase) reply        { return reply{Outcome: judge.OutcomeRestocked} }
func (atOnce) askOutcome(purchase) (reply, bool) { return reply{}, false }
func (atOnce) connectTo(int)                     {}
func (atOnce) closeConnections()                 {}

// A slow service runs in the fake time of a test. It answers a purchase after the time takes, but
// gives no answer while it stalls, from stall to until.
type slow struct {
	atOnce
	takes        time.Duration
	graded       bool // true if request i takes i+1 seconds; outcomes then alternate: sold, sold out, unknown, error
	stall, until time.Time
	mu           sync.Mutex
	inside, most int
	sent         []time.Duration
	begun        time.Time
	drain        time.Duration // limits.drain of the load; 0 for the default
	connections  int           // limits.connections of the load; 0 for the default
}

func (s *slow) sendPurchase(p purchase) reply {
	s.mu.Lock()
	s.inside++
	s.most = max(s.most, s.inside)
	s.sent = append(s.sent, time.Since(s.begun))
	s.mu.Unlock()
	outcome := judge.OutcomeSoldOut
	if s.graded {
		s.takes = time.Duration(p.index+1) * time.Second
		outcome = []judge.Outcome{judge.OutcomeSold, judge.OutcomeSoldOut, judge.OutcomeUnknown,
			judge.OutcomeError}[p.index%4]
	}
	end := time.Now().Add(s.takes)
	if end.After(s.stall) && end.Before(s.until) {
		end = s.until
	}
	time.Sleep(time.Until(end))
	s.mu.Lock()
	s.inside--
	s.mu.Unlock()
	return reply{Outcome: outcome, Code: string(outcome)}
}

// send runs a scenario against s in the fake time of the test.
func send(t *testing.T, s *slow, c Scenario, stop time.Duration) (*load, *Result) {
	t.Helper()
	c.SKU, c.SKUs, c.Stock, c.Quantity, c.Timeout = 1, 1, 1, 1, time.Minute
	p := newPlan(c, []int64{1})
	l := newLoad(p, newTally(p, newResult(Config{Scenario: c})), func() caller { return s })
	l.limits.connections = cmp.Or(s.connections, l.limits.connections)
	l.limits.drain = cmp.Or(s.drain, l.limits.drain)
	s.begun = time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if stop > 0 {
		time.AfterFunc(stop, cancel)
	}
	l.sendRequests(ctx)
	l.tally.writeSummary(l.sinceStart())
	return l, l.tally.result
}

func near(got, want time.Duration) bool { // histograms keep three significant digits
	return math.Abs(float64(got-want)) <= 0.002*float64(want)+float64(2*time.Microsecond)
}

const ms = time.Millisecond

// A service stalls for two seconds, while a hundred requests a second are due. Counted from when
// they were due, 200 requests wait: the first for 2 s, the last hardly at all. Counted from when
// they were sent, only a few seem to wait: as many as there are connections.
func TestAStallShowsAtItsFullLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: ms, stall: time.Now().Add(time.Second), until: time.Now().Add(3 * time.Second),
			connections: 2}
		l, r := send(t, s, Scenario{Profile: Constant, Rate: 100, Duration: 5 * time.Second}, 0)
		labtest.Same(t, [2]int{r.Requests, s.most}, [2]int{500, 2}, "requests, and at a time")
		if got := time.Duration(r.Latency.Max) * time.Microsecond; !near(got, 2*time.Second) {
			t.Errorf("the longest took %v, want 2s", got)
		}
		// In the stall, 200 of the 500 requests were due. Their median is the 80th percentile of
		// all, and is half the stall.
		p80 := time.Duration(r.Histogram.ValueAtQuantile(80)) * time.Microsecond
		if p80 < 900*ms || p80 > 1200*ms {
			t.Errorf("p80 from the intended start is %v, want about 1s", p80)
		}
		if once := time.Duration(l.tally.times.service.ValueAtQuantile(80)) * time.Microsecond; !near(once, ms) {
			t.Errorf("p80 once sent is %v: that hides the stall, and is 1ms", once)
		}
		if why := r.findBottleneck(); r.Late < 150 || r.Late > 250 || r.Dropped != 0 || why != nil {
			t.Errorf("%d late, %d dropped, %q; want about 200, 0, and no blame on the generator", r.Late,
				r.Dropped, why)
		}
	})
}

// With enough connections, every request is sent when it is due.
func TestOpenLoopSendsWhenDue(t *testing.T) {
	for name, c := range map[string]Scenario{
		"constant": {Profile: Constant, Rate: 50, Duration: 2 * time.Second},
		"spike":    {Profile: Spike, Buyers: 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slow{takes: 10 * time.Second}
				l, r := send(t, s, c, 0)
				labtest.Same(t, []int{len(s.sent), s.most}, []int{l.plan.requests, l.plan.requests}, "sent, and at a time")
				slices.Sort(s.sent)
				for i, at := range s.sent {
					labtest.Same(t, at, c.dueAt(i), "the time at which request %d was sent", i)
				}
				if r.Late != 0 || r.Dropped != 0 || !near(time.Duration(r.Latency.Max)*time.Microsecond, s.takes) {
					t.Errorf("%d late, %d dropped, longest %d µs", r.Late, r.Dropped, r.Latency.Max)
				}
			})
		})
	}
}

// A closed loop sends a request when a worker is free. So its latency hides a stall.
func TestClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: ms, stall: time.Now().Add(10 * ms), until: time.Now().Add(2 * time.Second)}
		_, r := send(t, s, Scenario{Profile: Closed, Buyers: 1000, Concurrency: 4}, 0)
		if s.most != 4 || r.Requests != 1000 || r.Late != 0 || r.Latency != r.ServiceTime || r.Latency.P99 > 1100 {
			t.Errorf("%d at a time, %d requests, %d late, %v, %v", s.most, r.Requests, r.Late, r.Latency, r.ServiceTime)
		}
	})
}

// Each percentile is computed from the answers that its name says.
func TestPercentiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r := send(t, &slow{graded: true}, Scenario{Profile: Closed, Buyers: 1000, Concurrency: 1}, 0)
		got := []int64{r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.P999, r.Latency.Max,
			int64(r.Latency.Mean), r.SoldLatency.P50, r.SoldLatency.Max, r.RefusedLatency.P50, r.RefusedLatency.Max}
		want := []int64{500, 900, 990, 999, 1000, 500, 497, 997, 498, 998} // in seconds
		for _, point := range Curve(r.Histogram) {
			got, want = append(got, point.Micros), append(want, int64(10*point.Percent))
		}
		for i := range want {
			if us := time.Duration(got[i]) * time.Microsecond; !near(us, time.Duration(want[i])*time.Second) {
				t.Errorf("number %d is %v, want %d s", i, us, want[i])
			}
		}
	})
}

// An open loop stops some time after its last request was due. Requests that it has not sent by
// then count as dropped. When a run is stopped, its unsent requests do not count as dropped.
func TestDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: time.Second, drain: 3 * time.Second, connections: 1}
		// 20 requests are due within two seconds. They are sent one a second, until three seconds
		// after the last was due.
		_, r := send(t, s, Scenario{Profile: Constant, Rate: 10, Duration: 2 * time.Second}, 0)
		labtest.Same(t, [2]int{r.Requests, r.Dropped}, [2]int{5, 15}, "requests that were sent, and dropped")
		s = &slow{takes: ms}
		_, r = send(t, s, Scenario{Profile: Constant, Rate: 10, Duration: time.Hour}, 1050*ms)
		labtest.Same(t, [2]int{r.Requests, r.Dropped}, [2]int{11, 0}, "sent, and dropped, until 1.05s")
	})
}

// A payment may be refused because the reservation has expired. The refusal is marked as early if the reserved time has
// not passed since the purchase was sent. A payment without an answer has no time of an answer.
func TestExpiredBeforeTheDeadline(t *testing.T) {
	reserved, expired := reply{Outcome: judge.OutcomeReserved, Code: "reserved",
		OrderID: "o"}, reply{Outcome: judge.OutcomeExpired, Code: "expired"}
	for _, c := range []struct {
		answers     time.Duration
		pays        reply
		early, lost bool
		copies      float64
	}{{ms, expired, true, false, 0}, {time.Second, expired, false, false, 0},
		{ms, replyToError(io.ErrUnexpectedEOF), false, true, 0}, {ms, expired, false, false, 1}} {
		synctest.Test(t, func(t *testing.T) {
			s := Scenario{SKU: 1, SKUs: 1, Stock: 1, Quantity: 1, Profile: Constant, Rate: 1, Duration: time.Second,
				Timeout: time.Minute, Reserve: 2 * time.Second, Copies: c.copies}
			p := newPlan(s, []int64{1})
			l := newLoad(p, newTally(p, newResult(Config{Scenario: s})), func() caller {
				return &scripted{replies: []reply{reserved, reserved, reserved}, pays: c.pays, takes: c.answers}
			})
			l.sendRequests(t.Context())
			l.finishCopies()
			all, came := l.tally.skus[0].calls, l.tally.result.Reservations
			if told := all[len(all)-1]; len(all) != 2+2*int(c.copies) || told.Kind != judge.CallPay ||
				told.Early != c.early || (told.Answered == 0) != c.lost || (came.Unknown == 1) != c.lost ||
				(came.Expired == 1) == c.lost {
				t.Errorf("a payment that took %v, lost %t, of one with copies in the share %v: %+v, %+v", c.answers,
					c.lost, c.copies, all, came)
			}
		})
	}
}

var seeds = []uint64{0, 1, 42, 1 << 63, math.MaxUint64}

// No two buyers are the same user. A seed always gives the same users.
func TestUsers(t *testing.T) {
	const buyers = 50_000
	for _, seed := range seeds {
		s := Scenario{SKU: 1, SKUs: 1, Quantity: 1, Seed: seed, Buyers: buyers}
		p, again := newPlan(s, []int64{3}), newPlan(s, []int64{4})
		seen := make(map[int64]bool, buyers)
		for i := range buyers {
			u := p.userOf(i)
			if u < 1 || seen[u] {
				t.Fatalf("seed %d: buyer %d is user %d, who is not new or cannot be", seed, i, u)
			}
			if asked := p.requestOf(u); asked != i {
				t.Fatalf("seed %d: user %d made request %d, not %d", seed, u, asked, i)
			}
			seen[u] = true
		}
		if a, b := p.purchaseOf(7), again.purchaseOf(7); a.user != b.user || a.key == b.key {
			t.Errorf("seed %d: another run needs the same users and other keys", seed)
		}
		s.SKU = 2 // another SKU with the same run number, sold at the same time
		if other := newPlan(s, []int64{3}); p.keyOf(7, 1) == other.keyOf(7, 2) {
			t.Errorf("seed %d: sales of two SKUs send the same key", seed)
		}
	}
}

// Purchases are drawn with the shares that the scenario asks for.
func TestMix(t *testing.T) {
	const n = 50_000
	for _, seed := range seeds {
		p := newPlan(Scenario{SKU: 5, SKUs: 4, Zipf: 1, Quantity: 1, Duplicates: 0.25,
			Cancellations: 0.1, Reserve: time.Second, Forget: .2, Buyers: n, Seed: seed}, make([]int64, 4))
		got := map[string]int{}
		for i := range n {
			a := p.purchaseOf(i)
			got[fmt.Sprint("sku ", a.sku)]++
			for what, so := range map[string]bool{"cancels": a.cancels, "forgets": a.forgets} {
				if so {
					got[what]++
				}
			}
			if a.cancels && a.forgets {
				t.Fatalf("seed %d: buyer %d does both: %+v", seed, i, a)
			}
			if o := p.originalOf(i); o != i {
				got["duplicate"]++
				if b := p.purchaseOf(o); o > i || a.user != b.user || a.sku != b.sku || a.quantity != b.quantity ||
					a.key == b.key {
					t.Fatalf("seed %d: request %d asks again as %d: %+v, %+v", seed, i, o, a, b)
				}
			}
		}
		harmonic := 1 + 1./2 + 1./3 + 1./4
		for what, share := range map[string]float64{"sku 5": 1 / harmonic, "sku 6": 1 / harmonic / 2,
			"sku 8": 1 / harmonic / 4, "duplicate": .25, "cancels": .1, "forgets": .9 * .2} {
			if is := float64(got[what]) / n; math.Abs(is-share) > 0.01 {
				t.Errorf("seed %d: %s in the share %.3f, want %.3f", seed, what, is, share)
			}
		}
	}
}

// The rounding of a product such as 0.1 × 30 adds no request and loses none.
func TestRequestsAtARate(t *testing.T) {
	for _, test := range []struct {
		rate     float64
		duration time.Duration
		requests int
		last     time.Duration
	}{
		{10, 3 * time.Second, 30, 2900 * time.Millisecond}, {0.1, 30 * time.Second, 3, 20 * time.Second},
		{1, 1500 * time.Millisecond, 2, time.Second},
	} {
		s := Scenario{Profile: Constant, Rate: test.rate, Duration: test.duration}
		if n, last := s.Requests(), s.dueAt(test.requests-1); n != test.requests ||
			(last-test.last).Abs() > 10*time.Microsecond {
			t.Errorf("%v a second for %v: %d requests, the last after %v", test.rate, test.duration, n, last)
		}
	}
}

// The calls of one request become at most one sale and at most one cancellation. The first answer,
// or else the ledger, says whether it was sold. Here the stock is three units.
func TestWhatCallsSayOfTheStock(t *testing.T) {
	call := func(user int64, outcome judge.Outcome, left int64, sent, answered time.Duration) judge.Call {
		return judge.Call{RequestID: "k", User: user, Quantity: 1, Outcome: outcome, Remaining: left,
			CallTimes: judge.CallTimes{Sent: sent, Answered: answered}}
	}
	const sold, out = judge.OutcomeSold, judge.OutcomeSoldOut
	back := call(3, judge.OutcomeCancelled, 0, 7, 8)
	back.Kind = judge.CallCancel
	first, second, third := call(1, sold, 2, 1, 2), call(2, sold, 1, 3, 4), call(3, sold, 0, 5, 6)
	for _, c := range []struct {
		name string
		told []judge.Call
		left []int64 // remaining units in the ledger's orders, by user
		want bool
	}{
		{"told again, and first after the next", []judge.Call{call(1, sold, 1, 1, 2), call(2, sold, 2, 3, 4),
			call(1, sold, 1, 5, 6)}, nil, false},
		{"sold to a call without an answer", []judge.Call{first, second, call(3, judge.OutcomeUnknown, 0, 5, 0),
			call(4, out, 0, 7, 8)}, []int64{2, 1, 0}, true},
		{"sold to one who was accepted", []judge.Call{first, second, call(3, judge.OutcomeAccepted, 0, 5, 6),
			call(4, out, 0, 7, 8)}, []int64{2, 1, 0}, true},
		{"nothing sold to a call without an answer",
			[]judge.Call{first, second, call(3, judge.OutcomeUnknown, 0, 5, 0), call(4, out, 0, 7, 8)}, nil, false},
		{"sold out when a unit was back", []judge.Call{first, second, third, back, call(4, out, 0, 9, 10)}, nil, false},
	} {
		var snap judge.Snapshot
		for i, left := range c.left {
			snap.Orders = append(snap.Orders, judge.Order{UserID: int64(i + 1), RequestID: "k", Remaining: left})
		}
		if f := checkLinear(seckill.InRow, 3, linearOps(c.told, ordersOf(snap))); !f.Decided ||
			f.Linearizable != c.want {
			t.Errorf("%s: %+v, want linearizable %t", c.name, f, c.want)
		}
	}
	// A purchase takes units in Redis before the ledger may refuse it. Until the refusal, other buyers see fewer units.
	const duplicate = judge.OutcomeDuplicate
	refused, over, late := call(9, duplicate, 0, 3, 6), call(9, duplicate, 0, 1, 3), call(4, sold, 0, 7, 8)
	fewer, more, soldOut := call(2, sold, 0, 4, 5), call(2, sold, 2, 4, 5), call(3, out, 0, 4, 5)
	for _, c := range []struct {
		name string
		in   seckill.StockStore
		told []judge.Call
		want bool
	}{
		{"fewer, beside one who is refused", seckill.InRedis, []judge.Call{first, refused, fewer}, true},
		{"fewer, beside one who is refused by the row", seckill.InRow, []judge.Call{first, refused, fewer}, false},
		{"fewer, beside nobody", seckill.InRedis, []judge.Call{first, fewer}, false},
		{"fewer, after one who was refused", seckill.InRedis, []judge.Call{first, over, fewer}, false},
		{"more, beside one who is refused", seckill.InRedis, []judge.Call{first, refused, more}, false},
		{"sold out, beside one refused", seckill.InRedis, []judge.Call{first, second, refused, soldOut, late}, true},
		{"sold out, after one refused", seckill.InRedis, []judge.Call{first, second, over, soldOut, late}, false},
	} {
		f := checkLinear(c.in, 3, linearOps(c.told, nil))
		labtest.Same(t, f.Linearizable, c.want, "told %s: %+v: linearizable", c.name, f)
	}
	// If the stock is split into buckets, the remaining units do not show the order of the sales.
	f := checkLinear(seckill.InBuckets, 3, linearOps([]judge.Call{second, third}, nil))
	labtest.Same(t, f.Linearizable, true, "a stock in pieces is linearizable: %+v", f)
}

// The run is linearizable only if every SKU is. One SKU that is not makes the answer no. Otherwise,
// one undecided SKU makes it not_checked.
func TestLinearizableInAll(t *testing.T) {
	yes, open, no := judge.Linearity{Decided: true,
		Linearizable: true}, judge.Linearity{}, judge.Linearity{Decided: true, Reason: judge.Reason{Why: "why"}}
	for _, c := range []struct {
		want  string
		found []judge.Linearity
	}{{LinearYes, []judge.Linearity{yes, yes}}, {LinearNotChecked, []judge.Linearity{yes, open, yes}},
		{LinearNo, []judge.Linearity{yes, no, open}}} {
		var l Linearizability
		for _, f := range c.found {
			l.addFinding(&judge.Report{}, f)
		}
		labtest.Same(t, l.Answer, c.want, "%+v are %+v", c.found, l)
	}
}

func TestLeftIsTheLeastThatBuyersWereTold(t *testing.T) {
	p := &plan{scenario: Scenario{Stock: 100, SKUs: 1, SKU: 1}}
	tally := newTally(p, newResult(Config{Scenario: p.scenario}))
	tell := func(o judge.Outcome, remaining, want int64) {
		t.Helper()
		tally.countOutcome(purchase{sku: 1, quantity: 1}, reply{Outcome: o, Remaining: remaining},
			timing{})
		labtest.Same(t, tally.currentProgress().Left, want, "left after %s with %d remaining", o, remaining)
	}
	tell(judge.OutcomeSold, 98, 98)
	tell(judge.OutcomeSold, 99, 98) // an older answer that arrives later
	tell(judge.OutcomeSoldOut, 0, 0)
	tell(judge.OutcomeSold, 3, 0)
	tell(judge.OutcomeSold, -1, -1)
}
