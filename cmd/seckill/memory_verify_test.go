//go:build verify

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// A large sale, to its end: every order is durable, the audit is clean, and the
// services need no more memory at its end than after its first third.
func TestMemoryOfALargeSale(t *testing.T) {
	const stock, buyers = 100_000, 300_000
	store := books(t)
	_, urls, _ := services(t)
	var course []float64 // MB of both processes, for each twentieth of the sale
	r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store,
		Scenario: loadtest.Scenario{Strategy: "merged", Stock: stock, Buyers: buyers, Concurrency: 512},
		OnProgress: func(p loadtest.Progress) {
			if p.Requests >= (len(course)+1)*buyers/20 {
				course = append(course, residentMB(t, urls))
			}
		}})
	clean(t, r)
	if r.Counts[ledger.OutcomeSold] != stock || r.Counts[ledger.OutcomeSoldOut] != buyers-stock {
		t.Errorf("%d sold and %d told sold out, want %d and %d", r.Counts[ledger.OutcomeSold], r.Counts[ledger.OutcomeSoldOut], stock, buyers-stock)
	}
	if len(course) < 10 {
		t.Fatalf("memory was read %d times only", len(course))
	}
	third := len(course) / 3
	before, after := most(course[:third]), most(course[third:])
	t.Logf("%.0f s; %.0f sales/s; MB of both services: %.0f", r.Seconds, r.SalesPerSec, course)
	if after > 1.5*before+32 {
		t.Errorf("the services needed %.0f MB in the first third and %.0f MB after it: %.0f", before, after, course)
	}
}

func most(x []float64) (m float64) {
	for _, v := range x {
		m = max(m, v)
	}
	return m
}

// residentMB asks the services how much memory they have, in MB.
func residentMB(t *testing.T, urls []string) (sum float64) {
	t.Helper()
	for _, url := range urls {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/metrics", nil)
		if err != nil {
			t.Error(err)
			return 0
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer answer.Body.Close()
		lines, found := bufio.NewScanner(answer.Body), false
		for lines.Scan() {
			if value, ok := strings.CutPrefix(lines.Text(), "process_resident_memory_bytes "); ok {
				var bytes float64
				if _, err := fmt.Sscan(value, &bytes); err != nil {
					t.Error(err)
				}
				sum, found = sum+bytes/1e6, true
			}
		}
		if !found {
			t.Errorf("%s does not say how much memory it has", url)
		}
	}
	return sum
}
