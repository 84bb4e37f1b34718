package loadtest

import (
	"sync"
	"syscall"
	"testing"
	"time"

	"seckill/internal/ledger"
)

// The same with a real service that is really stopped.
func TestAStoppedServiceShowsAtItsFullLength(t *testing.T) {
	target, process := startService(t, "fake")
	c := Config{Targets: []string{target}, Scenario: Scenario{Strategy: testStrategy, SKU: 1, Stock: testStock, Quantity: 1,
		Profile: Constant, Rate: 100, Duration: 4 * time.Second, Connections: 4, Timeout: 20 * time.Second, Seed: 1}}
	const length = 2 * time.Second
	var stopped sync.Once
	c.OnProgress = func(p Progress) {
		if p.Elapsed >= time.Second {
			stopped.Do(func() {
				if err := process.Signal(syscall.SIGSTOP); err != nil {
					t.Error(err)
				}
				time.AfterFunc(length, func() { _ = process.Signal(syscall.SIGCONT) })
			})
		}
	}
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != ledger.Held || r.Requests != 400 {
		t.Fatalf("%s after %d requests: %s", r.Verdict, r.Requests, show(r))
	}
	// The first request of the stall waited for all of it; of 400, 200 were due
	// in it, so one in four waited for more than half of it.
	if got := time.Duration(r.Latency.Max) * time.Microsecond; got < length*95/100 {
		t.Errorf("the longest took %v of a stall of %v\n%s", got, length, show(r))
	}
	if got := quantile(r.LatencyCurve, 75); got < length*4/10 {
		t.Errorf("p75 is %v: the stall is hidden\n%s", got, show(r))
	}
	// Of those that were sent, at most one a connection met the stall.
	if got := quantile(r.ServiceCurve, 97); got > length/2 {
		t.Errorf("once sent, p97 is %v, though only %d connections met the stall", got, c.Connections)
	}
}
