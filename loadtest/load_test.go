package loadtest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/ledger"
)

// atOnce is a service that answers at once.
type atOnce struct{}

func (atOnce) buy(purchase) reply {
	return reply{Outcome: ledger.OutcomeSold, OrderID: "JBSWY3DPEHPK3PXPJBSWY3DPEH", Remaining: 7}
}
func (atOnce) cancel(purchase, string) reply { return reply{Outcome: ledger.OutcomeCancelled} }
func (atOnce) pay(purchase, string) reply    { return reply{Outcome: ledger.OutcomeSold} }
func (atOnce) became(purchase) (reply, bool) { return reply{}, false }
func (atOnce) connect(int)                   {}
func (atOnce) close()                        {}

// A slow service of the tests' own time: it answers after takes, and not
// while it is stalled.
type slow struct {
	atOnce
	takes        time.Duration
	stall, until time.Time
	mu           sync.Mutex
	inside, most int
	sent         []time.Duration
	begun        time.Time
	drain        time.Duration // of the load; 0: the usual
	connections  int           // likewise
}

func (s *slow) buy(purchase) reply {
	s.mu.Lock()
	s.inside++
	s.most = max(s.most, s.inside)
	s.sent = append(s.sent, time.Since(s.begun))
	s.mu.Unlock()
	end := time.Now().Add(s.takes)
	if end.After(s.stall) && end.Before(s.until) {
		end = s.until
	}
	time.Sleep(time.Until(end))
	s.mu.Lock()
	s.inside--
	s.mu.Unlock()
	return reply{Outcome: ledger.OutcomeSoldOut, Code: "sold_out"}
}

// send runs a scenario against s in fake time.
func send(t *testing.T, s *slow, c Scenario, stop time.Duration) (*load, *Result) {
	t.Helper()
	c.SKU, c.Stock, c.Quantity, c.Timeout = 1, 1, 1, time.Minute
	c = c.normal()
	p := newPlan(c, []int64{1})
	l := newLoad(p, newTally(p, newResult(Config{Scenario: c})), func() caller { return s })
	l.connections = cmp.Or(s.connections, l.connections)
	l.drain = cmp.Or(s.drain, l.drain)
	s.begun = time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if stop > 0 {
		time.AfterFunc(stop, cancel)
	}
	l.run(ctx)
	l.tally.summarize(l.elapsed())
	return l, l.tally.result
}

func near(got, want time.Duration) bool { // histograms keep three digits
	return math.Abs(float64(got-want)) <= 0.002*float64(want)+float64(2*time.Microsecond)
}

const ms = time.Millisecond

// A service stalls for two seconds under a hundred requests a second. From the
// intended start that is what 200 requests wait, from the latest to the first;
// once sent, only as many know of it as there are connections.
func TestAStallShowsAtItsFullLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: ms, stall: time.Now().Add(time.Second), until: time.Now().Add(3 * time.Second), connections: 2}
		l, r := send(t, s, Scenario{Profile: Constant, Rate: 100, Duration: 5 * time.Second}, 0)
		if r.Requests != 500 || s.most != 2 {
			t.Fatalf("%d requests, %d at a time; want 500 and 2", r.Requests, s.most)
		}
		if got := time.Duration(r.Latency.Max) * time.Microsecond; !near(got, 2*time.Second) {
			t.Errorf("the longest took %v, want 2s", got)
		}
		// 200 of 500 were due in the stall: the 80th percentile waited half of it.
		p80 := time.Duration(r.Histogram.ValueAtQuantile(80)) * time.Microsecond
		if p80 < 900*ms || p80 > 1200*ms {
			t.Errorf("p80 from the intended start is %v, want about 1s", p80)
		}
		if once := time.Duration(l.tally.service.ValueAtQuantile(80)) * time.Microsecond; !near(once, ms) {
			t.Errorf("p80 once sent is %v: that hides the stall, and is 1ms", once)
		}
		if why := r.bottleneck(); r.Late < 150 || r.Late > 250 || r.Dropped != 0 || why != nil {
			t.Errorf("%d late, %d dropped, %q; want about 200, 0, and no blame on the generator", r.Late, r.Dropped, why)
		}
	})
}

// With connections enough, every request is sent when it is due.
func TestOpenLoopSendsWhenDue(t *testing.T) {
	for name, c := range map[string]Scenario{
		"constant": {Profile: Constant, Rate: 50, Duration: 2 * time.Second},
		"spike":    {Profile: Spike, Buyers: 100},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &slow{takes: 10 * time.Second}
				l, r := send(t, s, c, 0)
				if len(s.sent) != l.requests || s.most != l.requests {
					t.Fatalf("%d sent, %d at a time, want %d", len(s.sent), s.most, l.requests)
				}
				slices.Sort(s.sent)
				for i, at := range s.sent {
					if at != l.due(i) {
						t.Errorf("request %d was sent at %v, was due at %v", i, at, l.due(i))
					}
				}
				if r.Late != 0 || r.Dropped != 0 || !near(time.Duration(r.Latency.Max)*time.Microsecond, s.takes) {
					t.Errorf("%d late, %d dropped, longest %d µs", r.Late, r.Dropped, r.Latency.Max)
				}
			})
		})
	}
}

// A closed loop sends when a worker is free, which hides a stall.
func TestClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: ms, stall: time.Now().Add(10 * ms), until: time.Now().Add(2 * time.Second)}
		_, r := send(t, s, Scenario{Profile: Closed, Buyers: 1000, Concurrency: 4}, 0)
		if s.most != 4 || r.Requests != 1000 || r.Late != 0 || r.Latency != r.ServiceTime || r.Latency.P99 > 1100 {
			t.Errorf("%d at a time, %d requests, %d late, %v, %v", s.most, r.Requests, r.Late, r.Latency, r.ServiceTime)
		}
	})
}

// What cannot be sent any more when the service is too slow is counted, and not what
// was left when the run was stopped.
func TestDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slow{takes: time.Second, drain: 3 * time.Second, connections: 1}
		// 20 requests, one a second: those that are due in the first two
		// seconds are sent up to three seconds later.
		_, r := send(t, s, Scenario{Profile: Constant, Rate: 10, Duration: 2 * time.Second}, 0)
		if r.Requests != 5 || r.Dropped != 15 {
			t.Errorf("%d sent, %d dropped, want 5 and 15", r.Requests, r.Dropped)
		}
		s = &slow{takes: ms}
		_, r = send(t, s, Scenario{Profile: Constant, Rate: 10, Duration: time.Hour}, 1050*ms)
		if r.Requests != 11 || r.Dropped != 0 {
			t.Errorf("stopped after 1.05s: %d sent, %d dropped, want 11 and 0", r.Requests, r.Dropped)
		}
	})
}
