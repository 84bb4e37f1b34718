package loadtest

import (
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
)

func TestRequirements(t *testing.T) {
	r := &Result{Requests: 1000, RequestsPerSec: 500, Latency: Latency{P50: 900, P99: 50_000, P999: 60_000},
		Counts: map[ledger.Outcome]int{ledger.OutcomeSold: 10, ledger.OutcomeUnknown: 1}, Late: 7}
	for text, met := range map[string]bool{
		"p99<50ms": false, "p99<=50ms": true, " p99.9 < 61ms ": true, "p50<1ms": true, "p99>50ms": false,
		"rate>=500": true, "rate>500": false, "errors==0": true, "unknown==0": false, "unknown<=1": true,
		"late<8": true, "sold>=10": true, "sold_p99<1s": true,
	} {
		q, err := ParseRequirement(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c := q.check(r); c.Met != met {
			t.Errorf("%s: %+v, want %t", text, c, met)
		}
	}
	for text, want := range map[string]string{
		"": "write it like", "p99": "write it like", "p99=50ms": "write it like", "p98<1ms": "there are busy, conflict", "p99<50": "is no time",
		"rate>fast": "is no number", "errors<-1": "is no number from 0 on", "p99<-1ms": "is no time", "rate<NaN": "is no number", "rate>5%": "is no number",
		"rate<1e300": "is no number",
	} {
		if _, err := ParseRequirement(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	// Of nothing every percentile is 0; that meets nothing.
	for _, text := range []string{"p99<1s", "errors==0"} {
		q, _ := ParseRequirement(text)
		if q.check(&Result{}).Met {
			t.Errorf("%s is met by a run without requests", text)
		}
	}
}

func TestBottleneck(t *testing.T) {
	const ms = int64(time.Millisecond / time.Microsecond)
	for _, test := range []struct {
		name    string
		r       Result
		spoiled bool
	}{
		{"nothing was sent", Result{Seconds: 2, Processor: Processor{Generator: new(2000.0)}}, false},
		{"in time", Result{Requests: 1, Lag: Latency{P99: 1}, Latency: Latency{P99: 100 * ms}}, false},
		{"a little late, and so is everything", Result{Requests: 1, Lag: Latency{P99: 9 * ms}, Latency: Latency{P99: 10 * ms}}, false},
		{"late, of a service that is slow", Result{Requests: 1, Lag: Latency{P99: 40 * ms}, Latency: Latency{P99: 100 * ms}}, false},
		{"late, and that is most of it", Result{Requests: 1, Lag: Latency{P99: 60 * ms}, Latency: Latency{P99: 100 * ms}}, true},
		{"all processors", Result{Requests: 1, Seconds: 2, Processor: Processor{Generator: new(2000.0)}}, true},
	} {
		if why := test.r.bottleneck(); (why != nil) != test.spoiled {
			t.Errorf("%s: %q", test.name, why)
		}
	}
}
