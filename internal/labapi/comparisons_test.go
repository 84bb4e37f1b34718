package labapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/loadtest/compare"
)

// A fakeComparing is a comparison that waits for the test before each step.
type fakeComparing struct {
	options chan compare.Options // receives the options with which the comparison was started
	turns   chan bool
	end     chan *compare.Result
}

func newComparing() *fakeComparing {
	return &fakeComparing{options: make(chan compare.Options, 9), turns: make(chan bool),
		end: make(chan *compare.Result)}
}

func (f *fakeComparing) run(ctx context.Context, _ []catalog.Info, o compare.Options) *compare.Result {
	f.options <- o
	for done := 0; ; done++ {
		o.OnStep(done, 9, compare.Step{Strategy: "good"})
		select {
		case <-f.turns:
		case r := <-f.end:
			return r
		case <-ctx.Done():
			r := measured(o.Stock)
			r.Interrupted = true
			return r
		}
	}
}

// measured returns the result of a comparison in which one broken strategy oversold.
func measured(stock int64) *compare.Result {
	r := &compare.Result{Settings: compare.Presets()[0].Settings, Entries: []*compare.Entry{{
		Candidate: compare.Candidate{Strategy: "conditional", Breaks: true}, Concurrency: 64,
		Findings: compare.Findings{Verdict: judge.Oversold, Expected: true}}}}
	r.Settings.Stock = stock
	return r
}

func startComparing(t *testing.T, folder History) (*Server, *httptest.Server, *fakeComparing) {
	f := newComparing()
	s, h, _ := start(t, func(c *Config) { c.Compare, c.History = f.run, folder })
	return s, h, f
}

const comparisonsPath = "/api/lab/v1/comparisons"

// begin starts a small comparison and waits until its first measurement.
func (f *fakeComparing) begin(t *testing.T, base, body string, query ...string) (begun Comparison, o compare.Options) {
	t.Helper()
	status, answer, header := call{method: "POST", path: comparisonsPath + strings.Join(query, ""),
		body: body}.do(t, base)
	json.Unmarshal([]byte(answer), &begun)
	if status != 201 || begun.State != Running || header.Get("Location") != comparisonsPath+"/"+begun.ID {
		t.Fatalf("POST %s: %d %s %v", body, status, answer, header)
	}
	return begun, <-f.options
}

const goodComparison = `{"strategies":["good"],"stock":100,"buyers":200,"concurrency":64,"rounds":2,"turn_ns":0,"seed":"18446744073709551615"}`

// A comparison first restarts service processes that have ended. Its result has their settings.
func TestComparedServicesAreAllThere(t *testing.T) {
	l, f := newFakeLab(), newComparing()
	l.services = append(l.services, lab.Service{URL: "http://127.0.0.1:2"}) // a service process that has died
	_, h, _ := start(t, func(c *Config) { c.Lab, c.Compare = l, f.run })
	_, o := f.begin(t, h.URL, goodComparison)
	labtest.Same(t, len(o.Sale.Targets), 2, "the number of services that it runs on")

	l, f = newFakeLab(), newComparing()
	l.serving.Poll, l.services[0].Up = unluckyPoll, false
	s, h, _ := start(t, func(c *Config) { c.Lab, c.Compare = l, f.run })
	call{method: "POST", path: comparisonsPath, body: goodComparison}.wants(t, h.URL, 503, "backend_unavailable")
	labtest.Check(t, s.labLock.acquire("anything"), nil, "the lab afterwards")
	s.labLock.release()
}

// A comparison runs as its settings say, and has a command that repeats it. (What pages see of it is in the tests of
// the browser.)
func TestComparisonRunsAsItIsSet(t *testing.T) {
	_, h, f := startComparing(t, History(t.TempDir()))
	page := opened(t, h.URL)
	begun, o := f.begin(t, h.URL, goodComparison)
	if o.Stock != 100 || o.Buyers != 200 || o.Concurrency != 64 || o.Quantity != 1 || o.SKU != 1 ||
		o.Seed != 1<<64-1 || o.Rounds != 2 || o.Turn != 0 || len(o.Sale.Targets) != 1 {
		t.Errorf("started with %+v", o)
	}
	want := "seckill compare --preset flash-sale --strategies good --buyers 200 --seed 18446744073709551615 --rounds 2 --turn 0s"
	labtest.Same(t, begun.Command, want, "the command")

	t.Log("nothing else may drive the lab meanwhile")
	for path, body := range map[string]string{comparisonsPath: goodComparison, "/api/lab/v1/runs": goodRun} {
		call{method: "POST", path: path, body: body}.wants(t, h.URL, 409, "busy with a comparison")
	}

	t.Log("the end is told without the result, which may be large; the address of the comparison has it")
	f.end <- measured(100)
	var last map[string]any
	for last == nil || last["state"] != string(Done) {
		last = page.next("comparison")
	}
	if last["result"] != nil || last["done"] != 9.0 || last["verdicts"].(map[string]any)["caught"] != 1.0 ||
		last["stopped"] != false {
		t.Errorf("the last event is %v", last)
	}
	_, answer, _ := call{method: "GET", path: comparisonsPath + "/" + begun.ID}.do(t, h.URL)
	var whole Comparison
	if err := json.Unmarshal([]byte(answer), &whole); err != nil || whole.Result == nil ||
		whole.Result.Command != want || whole.Services != usual {
		t.Errorf("GET: %v %.300s", err, answer)
	}
}

// After Ctrl-C during a comparison, the measurements so far are judged and kept.
func TestClosingKeepsWhatWasMeasured(t *testing.T) {
	dir := t.TempDir()
	s, h, f := startComparing(t, History(dir))
	begun, _ := f.begin(t, h.URL, goodComparison)
	labtest.Must(t, s.Close(t.Context()))
	kept := readEntries[Comparison](History(dir), "comparison")[begun.ID]
	if kept.State != Done || !kept.Stopped || kept.Result == nil || !kept.Result.Interrupted {
		t.Errorf("kept %+v", kept)
	}
}

// While the lab stops, no call begins a run, because the run would end without a verdict.
func TestNothingBeginsWhileTheLabCloses(t *testing.T) {
	s, h, f := startComparing(t, "")
	labtest.Must(t, s.Close(t.Context()))
	for path, body := range map[string]string{"/api/lab/v1/runs": goodRun, comparisonsPath: goodComparison} {
		call{method: "POST", path: path, body: body}.wants(t, h.URL, 503, "lab_closes")
	}
	if len(s.runs.listEntries()) > 0 || len(s.comparisons.listEntries()) > 0 || len(f.options) > 0 {
		t.Error("something has begun all the same")
	}
}

// A lab makes one trace at a time, and none during a run. (How a trace is shown, kept or fails is in the tests of the
// browser.)
func TestOneTraceAtATime(t *testing.T) {
	under, made := make(chan bool, 9), make(chan error)
	_, h, load := start(t, func(c *Config) {
		c.Trace = func(_ context.Context, i catalog.Info, buyers int) (*explore.Trace, error) {
			under <- true
			return &explore.Trace{Strategy: i.Name, Steps: make([]explore.SentCommand, buyers)}, <-made
		}
	})
	ask := call{method: "POST", path: "/api/lab/v1/traces", body: `{"strategy":"good","buyers":2}`}
	first := make(chan string)
	go func() {
		_, body, _ := ask.do(t, h.URL)
		first <- body
	}()
	<-under
	ask.wants(t, h.URL, http.StatusConflict, "a trace of good")
	made <- nil
	labtest.Contains(t, <-first, `"strategy":"good"`, "the trace")
	call{method: "POST", path: "/api/lab/v1/runs", body: goodRun}.do(t, h.URL)
	<-load.configs
	ask.wants(t, h.URL, 409, "run_in_progress")
}
