//go:build verify && linux

package main

import (
	"bufio"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// Two thousand slow, half and deaf connections to a real service process, with the
// settings that it has by itself: buyers are sold to as without them, and when the
// siege is over the process has no more descriptors than before.
func TestTwoThousandHostileConnections(t *testing.T) {
	const attackers, stock, buyers = 2000, 2000, 3000
	store := books(t)
	_, urls, _ := services(t)
	sale := func() *loadtest.Result {
		return loadRun(t, loadtest.Config{Targets: urls[:1], Ledger: store,
			Scenario: loadtest.Scenario{Strategy: "conditional", Stock: stock, Buyers: buyers, Concurrency: 64}})
	}
	alone := sale() // which also opens the pools
	clean(t, alone)
	before := metricOf(t, urls[0], "process_open_fds")

	lift := labtest.Besiege(t.Context(), strings.TrimPrefix(urls[0], "http://"), attackers)
	most := metricOf(t, urls[0], "process_open_fds")
	besieged := sale()
	cut := metricOf(t, urls[0], "seckill_connections_slow_total") + metricOf(t, urls[0], "seckill_connections_refused_total")
	lift()
	clean(t, besieged)
	if besieged.Audit.Sold != stock || besieged.Counts[ledger.OutcomeUnknown] > 0 {
		t.Errorf("%d of %d units were sold, and %d buyers do not know", besieged.Audit.Sold, stock, besieged.Counts[ledger.OutcomeUnknown])
	}
	if most < before+attackers/4 { // some are cut off at once
		t.Errorf("the process had %v descriptors under siege, and %v before: there was none", most, before)
	}

	const few = 30 // connections that others keep alive meanwhile
	after := most
	for end := time.Now().Add(3 * time.Minute); after > before+few && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		after = metricOf(t, urls[0], "process_open_fds")
	}
	if after > before+few {
		t.Errorf("%v descriptors are open after the siege, %v before", after, before)
	}
	t.Logf("p99 %v µs alone and %v µs beside %d hostile clients; descriptors %v, %v, %v; %v connections were cut off",
		alone.Latency.P99, besieged.Latency.P99, attackers, before, most, after, cut)
}

// metricOf reads one value from a process's /metrics.
func metricOf(t *testing.T, url, name string) float64 {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Get(url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	sum, found := 0.0, false
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name); ok && strings.ContainsAny(value[:1], " {") {
			n, err := strconv.ParseFloat(value[strings.LastIndex(value, " ")+1:], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum, found = sum+n, true
		}
	}
	if !found {
		t.Fatalf("%s has no metric %s", url, name)
	}
	return sum
}
