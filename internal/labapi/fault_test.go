package labapi

import (
	"encoding/json"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

func beginRun(t *testing.T, base, body string) (begun Run) {
	t.Helper()
	status, answer, _ := call{method: "POST", path: "/api/lab/v1/runs", body: body}.do(t, base)
	json.Unmarshal([]byte(answer), &begun)
	if status != 201 {
		t.Fatalf("POST %s: %d %s", body, status, answer)
	}
	return begun
}

// with returns the body of a run with further settings.
func with(more string) string { return goodRun[:len(goodRun)-1] + more + "}" }

// adds returns the call that adds a fault to a run.
func (r Run) adds(fault string) call {
	return call{method: "POST", path: "/api/lab/v1/runs/" + r.ID + "/faults", body: fault}
}

// until reads events until a run meets the condition so.
func (e *events) until(so func(Run) bool) (last Run) {
	e.t.Helper()
	for last.ID == "" || !so(last) {
		data, _ := json.Marshal(e.next("run", "lab"))
		last = Run{}
		json.Unmarshal(data, &last)
	}
	return last
}

func ended(r Run) bool { return r.State.Ended() }

// Faults happen at their planned times and are undone. The run ends only after all faults were undone.
func TestFaults(t *testing.T) {
	l := newFakeLab()
	_, h, load := start(t, func(c *Config) { c.Lab = l })
	page := opened(t, h.URL)
	begun := beginRun(t, h.URL, goodRun)
	config := <-load.configs
	for _, f := range []string{`{"kind":"kill_service","at_ms":1}`, `{"kind":"pause_service","at_ms":90000}`,
		`{"kind":"pause_service","service":2}`} {
		begun.adds(f).wants(t, h.URL, 201, `"state":"planned"`)
	}
	for len(l.did) == 0 { // the sale continues until the planned time of the fault
		config.OnProgress(loadtest.Progress{})
	}
	labtest.Same(t, <-l.did, "kill_service 1", "the lab did")
	on := page.until(func(r Run) bool {
		return len(r.Faults) == 3 && r.Faults[0].State == fault.IsOn && r.Faults[2].State == fault.HasFailed
	})
	labtest.Same(t, on.Faults[2].Error, "it is dead already", "the fault that cannot be")
	load.results <- &loadtest.Result{}
	labtest.Same(t, <-l.did, "undo kill_service 1", "the lab did")
	r := page.until(ended)
	if f := r.Faults; f[0].State != fault.IsOver || f[0].Until < f[0].At || f[1].State != fault.HasFailed ||
		!strings.Contains(f[1].Error, "ended before") {
		t.Errorf("at the end the faults are %+v", f)
	}
	begun.adds(`{"kind":"kill_service"}`).wants(t, h.URL, 409, "run_ended")
}

// A pause ends after its duration, or when the run is stopped.
func TestPausesByHand(t *testing.T) {
	l := newFakeLab()
	_, h, load := start(t, func(c *Config) { c.Lab = l })
	page := opened(t, h.URL)
	begun := beginRun(t, h.URL, goodRun)
	config := <-load.configs
	labtest.Same(t, config.Faulty(), false, "a run without faults has faults")
	for _, body := range []string{`{"kind":"pause_service","for_ms":1}`, `{"kind":"pause_service"}`} {
		begun.adds(body).wants(t, h.URL, 201, "")
		labtest.Same(t, config.Faulty(), true, "a run with a fault has faults")
		labtest.Same(t, <-l.did, "pause_service 1", "the lab did")
		if strings.Contains(body, "for_ms") {
			<-l.did
			page.until(func(r Run) bool { return len(r.Faults) > 0 && r.Faults[0].State == fault.IsOver })
		}
	}
	if r := page.until(func(r Run) bool { return len(r.Faults) == 2 && r.Faults[1].State == fault.IsOn }); r.Faults[1].For <= usual.Lease {
		t.Errorf("a pause of no length given: %+v, want one longer than the lease", r.Faults[1])
	}
	for body, field := range map[string]string{`{"kind":7}`: "kind", `{"kind":"flood"}`: "kind",
		`{"kind":"restart_redis"}`: "kind", `{"kind":"kill_service","service":9}`: "service",
		`{"kind":"kill_service","at_ms":-1}`: "at_ms", `{"kind":"kill_service","for_ms":1}`: "for_ms",
		`{"kind":"pause_service","for_ms":25001}`: "for_ms", `{"kind":"pause_holder","service":1}`: "service",
		`{"kind":"pause_holder","strategy":"other"}`: "strategy", `{"kind":"kill_service","colour":7}`: "colour"} {
		begun.adds(body).wants(t, h.URL, 400, `"field":"`+field+`"`)
	}
	call{method: "DELETE", path: "/api/lab/v1/runs/" + begun.ID}.do(t, h.URL)
	labtest.Same(t, <-l.did, "undo pause_service 1", "when the run was stopped, the lab did")
	if r := page.until(ended); !r.Stopped || r.Faults[1].State != fault.IsOver {
		t.Errorf("the run ended as %+v", r)
	}
}

// A fault at a lock's holder waits until a purchase holds the lock. Then it hits the holder's
// process, and reports its effect.
func TestFaultsAtTheHolder(t *testing.T) {
	l := newFakeLab()
	_, h, load := start(t, func(c *Config) { c.Lab = l })
	page := opened(t, h.URL)
	held := &loadtest.Result{Verdict: judge.Held}
	for _, comes := range []bool{true, false} {
		begun := beginRun(t, h.URL, goodRun)
		id, config := begun.ID, <-load.configs
		begun.adds(`{"kind":"pause_holder","for_ms":1}`).wants(t, h.URL, 201, "")
		labtest.Same(t, <-l.did, "wait for a holder of good of SKU 1", "the lab did")
		page.until(func(r Run) bool { return r.ID == id && len(r.Faults) > 0 && r.Faults[0].State == fault.IsWaiting })
		if comes {
			l.holders <- 2
			page.until(func(r Run) bool { return r.ID == id && len(r.Faults) > 0 && r.Faults[0].State == fault.IsOver })
			<-l.did
			<-l.did
		}
		labtest.Same(t, config.Outage() > 0, comes, "the sale may stand still")
		load.results <- held
		r := page.until(func(r Run) bool { return r.ID == id && ended(r) })
		f := r.Faults[0]
		switch {
		case f.State != fault.IsOver || f.Effect == nil || f.Effect.TookEffect != comes:
			t.Errorf("the fault ended as %+v", f)
		case comes && (f.Service != 2 || f.Effect.StandstillMS != 7):
			t.Errorf("the fault is %+v %+v", f, f.Effect)
		case !comes && f.Effect.Why != fault.NoUnits:
			t.Errorf("no purchase came, and the fault is %+v", f.Effect)
		}
	}
}

// Runs wait until the services run with their settings. If a restart fails, the run has the error.
func TestServicesAreMadeReady(t *testing.T) {
	l := newFakeLab()
	l.starts = make(chan struct{})
	_, h, load := start(t, func(c *Config) { c.Lab = l })
	page := opened(t, h.URL)
	r := beginRun(t, h.URL, with(`,"services":3,"lease_ms":500`))
	labtest.Same(t, r.State, Preparing, "the run begins")
	close(l.starts)
	<-load.configs
	labtest.Same(t, l.ServiceSettings(), lab.ServiceSettings{Services: 3, Lease: 500, Wait: 3000, Poll: 10}, "services")
	load.results <- &loadtest.Result{}
	page.until(ended)

	if r := beginRun(t, h.URL, goodRun); r.State != Running || r.Settings.Services != 3 {
		t.Errorf("a run that says nothing of services begins %s with %+v", r.State, r.Settings.ServiceSettings)
	}
	<-load.configs
	load.results <- &loadtest.Result{}
	page.until(ended)

	beginRun(t, h.URL, with(`,"poll_ms":13`))
	if r := page.until(func(r Run) bool { return ended(r) && r.Settings.Poll == unluckyPoll }); r.State != Failed ||
		!strings.Contains(r.Error, "its last words") {
		t.Errorf("a run whose services do not start ends %s: %s", r.State, r.Error)
	}
	beginRun(t, h.URL, goodRun) // although the last run has failed, the lab accepts the next run
}

func TestRunsOutliveTheLab(t *testing.T) {
	folder := History(t.TempDir())
	_, h, load := start(t, func(c *Config) {
		c.History, c.Strategies = folder, []catalog.Info{{Name: "good"}, {Name: "other"}}
	})
	page := opened(t, h.URL)
	begun := beginRun(t, h.URL, strings.Replace(goodRun, `"good"`, `"good","other"`, 1))
	for range 2 {
		<-load.configs
		load.results <- &loadtest.Result{Requests: 2000}
	}
	page.until(ended)

	_, again, _ := start(t, func(c *Config) { c.History = folder })
	page = watch(t, again.URL)
	hello := page.next("hello")["runs"].([]any)
	labtest.Same(t, len(hello), 1, "the number of runs with which the next lab begins")
	if r := page.next("run"); r["id"] != begun.ID || lane(r, 1)["result"].(map[string]any)["requests"] != 2000. {
		t.Errorf("and shows %v, want the whole run", r)
	}
	begun.adds(`{"kind":"kill_service"}`).wants(t, again.URL, 409, "")
}
