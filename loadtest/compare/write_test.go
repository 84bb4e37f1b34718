package compare

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixed is a result with everything in it, and text that must be escaped.
func fixed(t *testing.T) *Result {
	t.Helper()
	slow := func(_ loadtest.Config, r *loadtest.Result) error {
		r.SellingSeconds, r.Seconds = 1.6, 2
		r.Latency.P99, r.LockWait = 1_500_000, &loadtest.LockWait{Count: 50, MeanMS: 12.5}
		r.Commands = append(r.Commands, loadtest.Commands{Backend: "redis", Count: 210, PerPurchase: 4.2})
		return nil
	}
	luck := 0
	b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{"naive": oversells, "for-update": slow, "evil|<b>_x_": oversells,
		"version": func(c loadtest.Config, r *loadtest.Result) error {
			r.SellingSeconds = .4 + .1*float64(c.Concurrency)
			return nil
		},
		"lucky": func(_ loadtest.Config, r *loadtest.Result) error {
			if luck++; luck < 4 { // the rounds differ
				r.SellingSeconds *= 100. / 96
			} else if luck > 15 {
				r.SellingSeconds *= 100. / 103.2
			}
			r.Counts[ledger.OutcomeUnknown], r.Counts[ledger.OutcomeBusy] = 1, 2
			return nil
		}}}
	o := options(b, Candidate{Name: "naive", Title: "Naive", Breaks: true}, Candidate{Name: "conditional", Title: "Conditional update"},
		Candidate{Name: "version", Title: "Version"}, Candidate{Name: "for-update", Title: "FOR UPDATE <one row>"},
		Candidate{Name: "evil|<b>_x_", Title: "oversells, and must not"}, Candidate{Name: "lucky", Title: "Lucky", Breaks: true})
	o.Baselines = []Baseline{steady(BaselineHTTP, "bare gin handler", 20_000, 16_000), steady(BaselineTransaction, "the same transaction without HTTP", 200, 160),
		{ID: BaselineRedis, Title: "bare Redis INCR", Missing: "no Redis is known"}}
	o.Crowds = []int{1, testCrowd, 32}
	o.Sparse, o.Few = []string{"conditional", "version", "for-update"}, 2
	o.Locks = &Locks{Lease: 8000, Wait: 3000, Poll: 10}
	o.NotRun = []NotRun{{"zk", "no ZooKeeper is configured: install one (seckill doctor says how), or give --zookeeper-addrs"}}
	r := Run(t.Context(), o)
	r.Begun, r.Seconds = time.Date(2026, 11, 11, 0, 0, 0, 0, time.UTC), 42.4
	r.Machine, r.Version = measure.Machine{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26"}, "v1.0.0"
	r.Command = "seckill compare --strategies <all>"
	r.Durability = []measure.ServerSetting{{Backend: "mysql", Name: "sync_binlog", Value: "0"},
		{Backend: "redis", Name: "appendonly", Value: "no"}}
	r.Problems = []string{"the baselines: a <problem>"}
	old := Run(t.Context(), options(&script{}, Candidate{Name: "conditional"}, Candidate{Name: "for-update"}, Candidate{Name: "gone"}))
	old.Command = "seckill compare, long ago"
	r.CompareWith(old, 20)
	return r
}

func TestGolden(t *testing.T) {
	r := fixed(t)
	for name, write := range map[string]func(io.Writer) error{
		"result.txt": r.WriteText, "result.md": r.WriteMarkdown, "result.csv": r.WriteCSV, "result.json": r.WriteJSON, "table.md": r.WriteTable,
		"figures.json": func(w io.Writer) error { return measure.WriteShortJSON(w, r.Figures()) },
	} {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s is another now: look at it, and if it is right: go test ./loadtest/compare -run Golden -update\n%s",
				file, firstDifference(want, got.Bytes()))
		}
	}
}

func firstDifference(want, got []byte) string {
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return "was: " + a[i] + "\nis:  " + b[i]
		}
	}
	return "one ends where the other goes on"
}

// An empty result is a report, too: Ctrl-C may come at once.
func TestNothingMeasured(t *testing.T) {
	ctx := canceled(t)
	r := Run(ctx, options(&script{}, Candidate{Name: "a"}))
	for _, write := range []func(io.Writer) error{r.WriteText, r.WriteMarkdown, r.WriteCSV, r.WriteJSON} {
		var out bytes.Buffer
		if err := write(&out); err != nil || out.Len() == 0 {
			t.Errorf("%v, %d bytes", err, out.Len())
		}
		if strings.Contains(out.String(), "NaN") || strings.Contains(out.String(), "Inf") {
			t.Errorf("%s", out.String())
		}
	}
	if r.ExitStatus() != ExitNotValid {
		t.Errorf("exit status %d", r.ExitStatus())
	}
}
