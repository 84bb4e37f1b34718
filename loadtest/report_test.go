package loadtest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		labtest.Must(t, os.WriteFile(path, got, 0o644))
	}
	want := labtest.Value(os.ReadFile(path)).Must(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s\nwant:\n%s", path, got, want)
	}
}

// example returns the result of a run without any problem. Tests change copies of it.
func example() *Result {
	backends := []backend.Status{
		{Name: "mysql", Tier: backend.Private, Address: "127.0.0.1:34567", Version: "MariaDB 10.11.6", OK: true},
		{Name: "redis", Tier: backend.Embedded, Address: "127.0.0.1:45678", Version: "miniredis", OK: true},
	}
	return &Result{
		Settings: Scenario{Strategy: "conditional", SKU: 1, Stock: 500, Buyers: 3000, Concurrency: 64, Quantity: 1, Timeout: 10 * time.Second, Seed: 42,
			Profile: Closed, SKUs: 1},
		Strategy: StrategyInfo{Name: "conditional", Title: "One conditional UPDATE", StockStore: seckill.InRow},
		Targets:  []Target{{URL: "http://127.0.0.1:8081", Backends: backends}, {URL: "http://127.0.0.1:8082", Backends: backends}},
		Start:    time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC), Seconds: 1.25, Requests: 3000,
		Counts: map[judge.Outcome]int{
			judge.OutcomeSold: 500, judge.OutcomeSoldOut: 2500, judge.OutcomeBusy: 0, judge.OutcomeConflict: 0,
			judge.OutcomeDuplicate: 0, judge.OutcomeUnknown: 0, judge.OutcomeError: 0,
		},
		Signs:          Signs{Right: Yes, Served: Yes, Short: []Problem{}},
		Answers:        []Answer{{Code: "sold_out", Outcome: judge.OutcomeSoldOut, Count: 2500, Sample: "sold out"}},
		RequestsPerSec: 2400, SalesPerSec: 400,
		Latency:     Latency{P50: 3210, P90: 12_340, P99: 123_456, P999: 999_999, Max: 1_234_567, Mean: 4321.5},
		SoldLatency: Latency{P50: 5210, P90: 13_340, P99: 223_456, P999: 999_999, Max: 1_034_567, Mean: 6321.5},
		Commands:    []Commands{{Backend: "sql", Count: 7500, PerPurchase: 2.5}, {Backend: "redis", Count: 3000, PerPurchase: 1}},
		Audit: &judge.Report{Verdict: judge.Held, SKU: 1, Run: 7, Initial: 500, Remaining: 0, Totals: judge.Totals{Sold: 500, Orders: 500},
			StockStore: seckill.InRow, Violations: []judge.Violation{},
			Served: &judge.Served{State: judge.ServedYes, PatienceMs: 11_000, LongestMs: 40}},
		ServiceTime:  Latency{P50: 3200, P90: 12_300, P99: 120_000, P999: 900_000, Max: 1_200_000, Mean: 4300},
		Linearizable: Linearizability{Answer: LinearYes, Checked: 3000}, Checks: []Check{},
		SellingSeconds: 1.1, Settled: true, Problems: []Problem{}, Verdict: judge.Held,
	}
}

func TestWrite(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*Result)
	}{
		{"held", func(*Result) {}},
		{"blocked", func(r *Result) {
			r.Settings.Copies, r.Settings.Retry, r.Copies, r.Retries = .01, 1, 24, 3
			r.Counts = map[judge.Outcome]int{judge.OutcomeSold: 76, judge.OutcomeBusy: 2922, judge.OutcomeUnknown: 2}
			r.Cancellations = Cancellations{Done: 5}
			r.Audit.Sold, r.Audit.Orders, r.Audit.Remaining = 76, 76, 424
			r.Audit.Served = &judge.Served{State: judge.ServedBlocked, PatienceMs: 11_000, LongestMs: 92_000, FromMs: 310}
			r.Verdict = Blocked
		}},
		{"oversold", func(r *Result) {
			r.Strategy = StrategyInfo{Name: "naive", Title: "Read, compute, write", Broken: true}
			r.Counts[judge.OutcomeSold], r.Counts[judge.OutcomeSoldOut] = 1523, 1477
			r.Audit.Sold, r.Audit.Orders = 1523, 1523
			r.Audit.Violations = []judge.Violation{
				{Rule: judge.RuleOversold, Verdict: judge.Oversold, Message: "1523 units sold out of 500: 1023 too many", Count: 1},
				{Rule: judge.RuleLostUpdate, Verdict: judge.Lost, Message: "0 left + 1523 sold = 1523, 1023 more than the 500 there were: deductions were overwritten", Count: 1},
			}
			r.Verdict = judge.Oversold
		}},
		{"lost", func(r *Result) {
			r.Counts[judge.OutcomeUnknown], r.Counts[judge.OutcomeError], r.Counts[judge.OutcomeSoldOut] = 2, 3, 2495
			r.Answers = append(r.Answers,
				Answer{Code: "backend_unavailable", Outcome: judge.OutcomeError, Count: 3, Sample: "mysql cannot be reached"},
				Answer{Code: "timeout", Outcome: judge.OutcomeUnknown, Count: 2, Sample: "context deadline exceeded"})
			r.Commands, r.CommandsMissing = nil, "http://127.0.0.1:8082 has no metric seckill_backend_commands_total"
			r.Targets[1].Backends = []backend.Status{{Name: "mysql", Tier: backend.Given, Address: "db:3306", Error: "connection refused"}}
			r.Audit.Cancelled = 1
			r.Audit.Violations = []judge.Violation{
				{Rule: judge.RuleMissingOrder, Verdict: judge.Lost, Message: "sales that buyers were told of and the ledger does not have",
					Count: 1234, Examples: []string{"user 5 was given order A", "user 6 was given order B"}},
			}
			r.Verdict = judge.Lost
		}},
		{"open-loop", func(r *Result) {
			r.Settings.Profile, r.Settings.Rate, r.Settings.Duration = Constant, 2400, 1250*time.Millisecond
			r.Settings.SKUs, r.Settings.Zipf, r.Settings.Duplicates, r.Settings.Cancellations = 3, 1.1, 0.2, 0.05
			r.Late, r.Dropped, r.Lag, r.Cancellations = 12, 3, Latency{P99: 850}, Cancellations{Done: 20, Refused: 1, Unknown: 2}
			r.Linearizable = Linearizability{Answer: LinearNotChecked}
			r.Checks = []Check{{Requirement: "p99<50ms", Actual: 123.456},
				{Requirement: "rate>=1000", Actual: 2400, Met: true}, {Requirement: "errors<3", Met: true}}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := example()
			test.change(r)
			var b bytes.Buffer
			labtest.Must(t, r.Report().WriteText(&b))
			golden(t, test.name+".txt", b.Bytes())
		})
	}
}

func TestLine(t *testing.T) {
	p := Progress{Elapsed: 1500 * time.Millisecond, Requests: 1234, Buyers: 20_000, Units: 501, Rate: 2310, P99: 31,
		Counts: map[judge.Outcome]int{judge.OutcomeSold: 501, judge.OutcomeUnknown: 3}}
	const want = "1,234 of 20,000 buyers, sold 501 of 500 OVERSOLD, 3 without an answer, 2,310/s, p99 31.0 ms, 1.5s"
	labtest.Same(t, p.Line(500), want, "the line")
	if p.Units--; strings.Contains(p.Line(500), "OVERSOLD") {
		t.Error("the last unit is said to be oversold")
	}
}
