package loadtest

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// The parts of all workers are every request once.
func TestParts(t *testing.T) {
	for _, c := range []struct{ workers, requests int }{{1, 7}, {3, 10}, {3, 9}, {4, 2}, {0, 5}} {
		seen := make([]int, c.requests)
		for mine := range max(1, c.workers) {
			p := part{mine, c.workers}
			for k := range p.own(c.requests) {
				seen[p.index(k)]++
			}
		}
		for i, n := range seen {
			if n != 1 {
				t.Errorf("%d workers: request %d is sent by %d of %d", c.workers, i, n, c.requests)
			}
		}
	}
}

// What is packed comes out as it was, with both times moved apart by what is not
// known of the worker's clock; what strangers send is an error, and never a panic.
func TestPack(t *testing.T) {
	log := &callLog{}
	for i := range 1000 {
		r := adapter.Reply{Outcome: ledger.OutcomeSold, OrderID: []byte("order"), Remaining: int64(-i)}
		log.add(purchase{index: i}, r, flagSeveral, time.Duration(i+1), time.Duration(i+2))
	}
	log.add(purchase{index: 7}, adapter.Reply{Outcome: ledger.OutcomeUnknown, Code: adapter.CodeTimeout}, 0, 5, 9)
	var all []byte
	if err := (history{log}).pack(func(b []byte) error { all = append(all, b...); return nil }); err != nil {
		t.Fatal(err)
	}
	back := &callLog{}
	if err := back.unpack(all, 1000, 100, 300); err != nil {
		t.Fatal(err)
	}
	n := 0
	for l, r := range (history{back}).records {
		if n == 1000 {
			if r.answered != 0 || r.sent != 105 || recorded[r.outcome] != ledger.OutcomeUnknown {
				t.Errorf("the call without an answer: %+v", r)
			}
		} else if r.index != uint32(n) || r.sent != int64(n+101) || r.answered != int64(n+302) || r.remaining != int32(-n) ||
			!r.is(flagSeveral) || string(l.idOf(r)) != "order" {
			t.Fatalf("call %d: %+v", n, r)
		}
		n++
	}
	if n != 1001 {
		t.Errorf("%d calls came out of 1001", n)
	}
	if err := (&callLog{}).unpack(all, 999, 0, 0); err == nil {
		t.Error("a request that the run does not have is taken")
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		broken := bytes.Clone(all[:random.IntN(200)])
		for range 1 + random.IntN(4) {
			if len(broken) > 0 {
				broken[random.IntN(len(broken))] = byte(random.IntN(256))
			}
		}
		_ = (&callLog{}).unpack(broken, 1000, 0, 0)
	}
}

// A tally that is brought back counts as one that counted by itself.
func TestHaul(t *testing.T) {
	s := DefaultScenario()
	whole, mine, other := newTally(s), newTally(s), newTally(s)
	for i, outcome := range []ledger.Outcome{ledger.OutcomeSold, ledger.OutcomeSoldOut, ledger.OutcomeUnknown, ledger.OutcomeSold} {
		p := purchase{index: i, sku: 1, quantity: int64(1 + i)}
		r := finalReply{Reply: adapter.Reply{Outcome: outcome, Code: string(outcome), Remaining: int64(9 - i)}}
		at := timing{sent: time.Millisecond, answered: time.Duration(i+2) * time.Millisecond}
		whole.record(p, r, at)
		if i%2 == 0 {
			mine.record(p, r, at)
		} else {
			other.record(p, r, at)
		}
	}
	h, err := other.haul(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := mine.add(h); err != nil {
		t.Fatal(err)
	}
	var want, got Result
	whole.summarize(&want, time.Second)
	mine.summarize(&got, time.Second)
	if got.Requests != want.Requests || got.Counts[ledger.OutcomeSold] != want.Counts[ledger.OutcomeSold] || got.Latency != want.Latency ||
		got.Units != want.Units || mine.sums[0] != whole.sums[0] || len(got.Answers) != len(want.Answers) || got.SellingSeconds != want.SellingSeconds {
		t.Errorf("together %+v, at once %+v", got, want)
	}
	if err := newTally(Scenario{SKU: 1, SKUs: 2, Stock: 1}).add(h); err == nil {
		t.Error("a haul of another number of SKUs is taken")
	}
}

// A buyer whose own worker was told to wait, and whose copy by another was sold, has
// bought; who lost their worker and was told sold by a copy is not unknown.
func TestToldByOthers(t *testing.T) {
	c := Config{Scenario: DefaultScenario()}
	c.Copies = 1
	r := newRun(c)
	logs := []*callLog{{}, {}, nil}
	told := func(worker, index int, o ledger.Outcome) {
		p := r.plan.purchase(index)
		logs[worker].add(p, adapter.Reply{Outcome: o}, flagSeveral, 1, 2)
		if index%3 == worker {
			r.tally.record(p, finalReply{Reply: adapter.Reply{Outcome: o, Code: string(o)}}, timing{sent: 1, answered: 2})
		}
	}
	told(0, 0, ledger.OutcomeInProgress)
	told(1, 0, ledger.OutcomeSold)
	told(0, 3, ledger.OutcomeSold)
	told(1, 3, ledger.OutcomeSold)
	told(1, 1, ledger.OutcomeUnknown)
	told(0, 1, ledger.OutcomeSold)
	told(1, 4, ledger.OutcomeSoldOut)
	r.toldByOthers(logs)
	s, counts := r.tally.sums[0], r.tally.byOutcome()
	if s.Sold != 3 || s.Unknown != 0 || r.tally.units != 3 || counts[ledger.OutcomeSold] != 3 || counts[ledger.OutcomeSoldOut] != 1 ||
		counts[ledger.OutcomeInProgress]+counts[ledger.OutcomeUnknown] != 0 {
		t.Errorf("%+v %v", s, counts)
	}
}

// A call without an answer may still run, whatever its retry was told: the ledger is
// not read at once then.
func TestSilentCalls(t *testing.T) {
	p := purchase{sku: 1, quantity: 1}
	sold := finalReply{Reply: adapter.Reply{Outcome: ledger.OutcomeSold}}
	whole, all := newTally(DefaultScenario()), newTally(DefaultScenario())
	whole.record(p, sold, timing{sent: 1, answered: 2})
	all.record(p, sold, timing{sent: 1, answered: 2})
	if !all.heard(0) {
		t.Error("every call was answered")
	}
	whole.call(p, adapter.Reply{Outcome: ledger.OutcomeUnknown})
	if whole.heard(0) {
		t.Error("the call before the one that was told sold had no answer")
	}
	h, err := whole.haul(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := all.add(h); err != nil || all.heard(0) {
		t.Errorf("a worker's call had no answer: %v", err)
	}
	again := newTally(DefaultScenario())
	again.cancelled(p, adapter.Reply{Outcome: ledger.OutcomeCancelled}, true)
	if again.heard(0) {
		t.Error("the first call of a cancellation had no answer")
	}
}

// stubWorker is one that brings a haul.
type stubWorker struct{ haul *Haul }

func (stubWorker) Count() int { return 1 }
func (w stubWorker) Send(context.Context, Order, func(int, Progress)) []Sent {
	return []Sent{{Name: "one", Haul: w.haul, Told: true}}
}

// Requests that a worker never sent make a run prove nothing, as in one process.
func TestWorkersThatDrop(t *testing.T) {
	c := Config{Scenario: DefaultScenario()}
	h, err := newTally(c.Scenario).haul(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	h.Requests, h.Dropped = c.Buyers-10, 10
	c.Workers = stubWorker{h}
	r := newRun(c)
	r.sendByWorkers(t.Context())()
	if len(r.result.Problems) != 1 || !strings.Contains(r.result.Problems[0], "10 requests were never sent") {
		t.Errorf("problems: %q", r.result.Problems)
	}
}
