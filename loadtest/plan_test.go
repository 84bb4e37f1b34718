package loadtest

import (
	"fmt"
	"math"
	"testing"
	"time"
)

var seeds = []uint64{0, 1, 42, 1 << 63, math.MaxUint64}

// No two buyers are the same user, and a seed always gives the same users.
func TestUsers(t *testing.T) {
	const buyers = 50_000
	for _, seed := range seeds {
		s := Scenario{SKU: 1, SKUs: 1, Quantity: 1, Seed: seed, Buyers: buyers}
		p, again := newPlan(s, []int64{3}), newPlan(s, []int64{4})
		seen := make(map[int64]bool, buyers)
		for i := range buyers {
			u := p.user(i)
			if u < 1 || seen[u] {
				t.Fatalf("seed %d: buyer %d is user %d, who is not new or cannot be", seed, i, u)
			}
			seen[u] = true
		}
		if a, b := p.purchase(7), again.purchase(7); a.user != b.user || a.key == b.key {
			t.Errorf("seed %d: another run needs the same users and other keys", seed)
		}
		s.SKU = 2 // reset as often, and sold at the same time
		if other := newPlan(s, []int64{3}); p.key(7, 1) == other.key(7, 2) {
			t.Errorf("seed %d: sales of two SKUs send the same key", seed)
		}
	}
}

// What is drawn comes in the proportions that were asked for.
func TestMix(t *testing.T) {
	const n = 50_000
	for _, seed := range seeds {
		p := newPlan(Scenario{SKU: 5, SKUs: 4, Zipf: 1, Quantity: 1, Duplicates: 0.25,
			Cancellations: 0.1, Reserve: time.Second, Forget: .2, Buyers: n, Seed: seed}, make([]int64, 4))
		got := map[string]int{}
		for i := range n {
			a := p.purchase(i)
			got[fmt.Sprint("sku ", a.sku)]++
			for what, so := range map[string]bool{"cancels": a.cancels, "forgets": a.forgets} {
				if so {
					got[what]++
				}
			}
			if a.cancels && a.forgets {
				t.Fatalf("seed %d: buyer %d does both: %+v", seed, i, a)
			}
			if o := p.original(i); o != i {
				got["duplicate"]++
				if b := p.purchase(o); o > i || a.user != b.user || a.sku != b.sku || a.quantity != b.quantity || a.key == b.key {
					t.Fatalf("seed %d: request %d asks again as %d: %+v, %+v", seed, i, o, a, b)
				}
			}
		}
		harmonic := 1 + 1./2 + 1./3 + 1./4
		for what, share := range map[string]float64{"sku 5": 1 / harmonic, "sku 6": 1 / harmonic / 2, "sku 8": 1 / harmonic / 4, "duplicate": .25, "cancels": .1, "forgets": .9 * .2} {
			if is := float64(got[what]) / n; math.Abs(is-share) > 0.01 {
				t.Errorf("seed %d: %s in the share %.3f, want %.3f", seed, what, is, share)
			}
		}
	}
}

// A product such as 0.1 × 30 loses no request to rounding.
func TestRequestsAtARate(t *testing.T) {
	for _, test := range []struct {
		rate     float64
		duration time.Duration
		requests int
		last     time.Duration
	}{
		{10, 3 * time.Second, 30, 2900 * time.Millisecond}, {0.1, 30 * time.Second, 3, 20 * time.Second}, {1, 1500 * time.Millisecond, 2, time.Second},
	} {
		s := Scenario{Profile: Constant, Rate: test.rate, Duration: test.duration}
		if n, last := s.Requests(), s.due(test.requests-1); n != test.requests || (last-test.last).Abs() > 10*time.Microsecond {
			t.Errorf("%v a second for %v: %d requests, the last after %v", test.rate, test.duration, n, last)
		}
	}
}
