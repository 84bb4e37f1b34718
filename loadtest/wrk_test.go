package loadtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// BenchmarkBesideWrk: the generator's rate against the service with a
// strategy that does nothing, beside wrk's, at 64 connections each, in turns
// of a second. wrk sends one request again and again and looks at the status;
// ours makes every request, checks every answer, and records every outcome.
// The ratio is the median of the turns.
//
//	go test -run '^$' -bench BesideWrk -benchtime 8x ./loadtest
func BenchmarkBesideWrk(b *testing.B) {
	wrk, err := exec.LookPath("wrk")
	if err != nil {
		b.Skip("wrk is not installed: apt-get install wrk")
	}
	target, _ := startService(b, "no-op")
	const connections, turn = 64, time.Second
	script := filepath.Join(b.TempDir(), "purchase.lua")
	if err := os.WriteFile(script, []byte(`wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"sku_id":1,"user_id":1234567,"quantity":1}'
`), 0o600); err != nil {
		b.Fatal(err)
	}
	perSecond := regexp.MustCompile(`Requests/sec:\s+([\d.]+)`)
	theirs := func() float64 {
		out, err := exec.Command(wrk, "-t2", "-c"+strconv.Itoa(connections), "-d1s", "-s", script, target+"/api/v1/seckill").CombinedOutput()
		m := perSecond.FindSubmatch(out)
		if err != nil || m == nil {
			b.Fatalf("wrk: %v\n%s", err, out)
		}
		rate, _ := strconv.ParseFloat(string(m[1]), 64)
		return rate
	}
	generator := func() float64 {
		scenario := Scenario{Strategy: "no-op", SKU: 1, Stock: 1, Buyers: maxBuyers, Concurrency: connections, Quantity: 1,
			Timeout: 5 * time.Second}
		// The same request as wrk's: a key would be looked up in the ledger.
		p := adapter.Ours("no-op", true)
		p.Buy.Header, _ = adapter.ParseTemplate("Content-Type: application/json\r\n")
		c := newClient(Config{Scenario: scenario, Targets: []string{target}, protocol: p})
		ctx, cancel := context.WithTimeout(b.Context(), turn)
		defer cancel()
		t := newTally(scenario)
		l := &load{plan: newPlan(scenario, []int64{1}), tally: t, open: func() caller { return c.newBuyer() }}
		l.run(ctx)
		took := l.elapsed()
		if sold := t.byOutcome()[ledger.OutcomeSold]; sold != t.requests {
			b.Fatalf("%d of %d requests sold: %v", sold, t.requests, t.answers)
		}
		return float64(t.requests) / took.Seconds()
	}
	theirs()
	generator() // warm
	var a, w, ratios []float64
	for b.Loop() {
		our, their := generator(), theirs()
		a, w, ratios = append(a, our), append(w, their), append(ratios, our/their)
	}
	b.ReportMetric(median(a), "ours/s")
	b.ReportMetric(median(w), "wrk/s")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
