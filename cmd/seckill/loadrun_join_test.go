package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/loadtest"
	"seckill/loadtest/join"
)

// joined starts so many seckill load --join processes and returns them in the order of
// their numbers.
func joined(t *testing.T, n int) (*join.Crew, []*exec.Cmd) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.Repeat("s", shortSecret)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	came, next := make(chan struct{}, n), make(chan *exec.Cmd, n)
	go func() { // one after the other: a process's number is known
		for range n {
			c := exec.Command(self, "load", "--join", l.Addr().String(), "--join-secret", file)
			c.SysProcAttr = labtest.Together()
			if err := c.Start(); err != nil {
				t.Error(err)
			}
			next <- c
			<-came
		}
	}()
	crew, err := join.Assemble(t.Context(), l, []byte(secret), n, func(string, int, int) { came <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	var workers []*exec.Cmd
	for range n {
		c := <-next
		workers = append(workers, c)
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
	}
	t.Cleanup(crew.Close)
	return crew, workers
}

// Three processes act as one run: every buyer is counted once, copies of one request
// come from several of them, and all that was told is judged together.
func TestLoadFromThreeProcesses(t *testing.T) {
	store := books(t)
	_, urls := sharedServices(t)
	for _, sale := range []loadtest.Scenario{
		{Strategy: "conditional", Stock: 200, Buyers: 1000, Copies: .2, Retry: 1},
		{Strategy: "one-trip", SKUs: 3, Stock: 50, Profile: loadtest.Constant, Rate: 500, Duration: 2 * time.Second, Copies: .1, Retry: 1},
	} {
		t.Run(sale.Strategy, func(t *testing.T) {
			crew, workers := joined(t, 3)
			r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Scenario: sale, Workers: crew})
			clean(t, r)
			copied := 0
			for _, n := range r.Counts {
				copied += n
			}
			if r.Verdict != ledger.Held || r.Requests != 1000 || copied != 1000 {
				t.Errorf("%s with %d requests: %v %v", r.Verdict, r.Requests, r.Counts, r.Problems)
			}
			// Each copied request has three calls of its worker, and one of each other.
			if share := float64(r.Copies) / float64(sale.Copies) / 1000; share < 2.5 || share > 6 {
				t.Errorf("%d copies of %v of 1000 requests", r.Copies, sale.Copies)
			}
			if r.Latency.Max == 0 || r.SalesPerSec == 0 || r.Processor.Generator == nil {
				t.Errorf("figures are missing: %+v", r.Latency)
			}
			for i, w := range workers {
				if err := w.Wait(); err != nil {
					t.Errorf("worker %d ends with %v", i+1, err)
				}
			}
		})
	}
}

// One of three processes is killed in mid-run: the run says so, its buyers are
// unknown, none is left out, and what they bought is no contradiction.
func TestALostWorkerIsUnknown(t *testing.T) {
	store := books(t)
	_, urls := sharedServices(t)
	crew, workers := joined(t, 3)
	const buyers = 3000
	r := loadRun(t, loadtest.Config{Targets: urls, Ledger: store, Workers: crew,
		Scenario: loadtest.Scenario{Strategy: "conditional", Stock: buyers, Profile: loadtest.Constant, Rate: 300, Duration: 10 * time.Second,
			Copies: .1, Retry: 1}, Rest: true,
		OnProgress: midway(buyers/3, func() {
			if err := workers[1].Process.Kill(); err != nil {
				t.Error(err)
			}
		})})
	clean(t, r)
	if r.Verdict != ledger.NotValid || len(r.Problems) == 0 || !strings.Contains(strings.Join(r.Problems, "; "), "worker 2") {
		t.Errorf("%s: %v", r.Verdict, r.Problems)
	}
	// A tenth of the lost worker's buyers, give or take five standard deviations, have copies that other workers sent: those may know.
	most, least := buyers/3, buyers/3-buyers/30-50
	if unknown := r.Counts[ledger.OutcomeUnknown]; r.Requests+r.Dropped != buyers || unknown < least || unknown > most {
		t.Errorf("%d of %d buyers, %d dropped, %d unknown; want all, and %d to %d unknown", r.Requests, buyers, r.Dropped, unknown, least, most)
	}
	if most += r.Counts[ledger.OutcomeSold]; r.Audit.Orders <= r.Counts[ledger.OutcomeSold] || r.Audit.Orders > most {
		t.Errorf("%d orders, %d told sold: the lost worker's buyers bought, too, %d at most in all", r.Audit.Orders, r.Counts[ledger.OutcomeSold], most)
	}
}
