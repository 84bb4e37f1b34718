package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/labapi"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// An upLab is `seckill up`, in this process.
type upLab struct {
	t      *testing.T
	folder string // in which it makes its own
	page   string
	stop   func() (status int, said string) // Ctrl-C
}

func startUp(t *testing.T) *upLab {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	u := &upLab{t: t, folder: labtest.HostIn(t).Temp}
	history := t.TempDir()
	t.Setenv("TMPDIR", u.folder)
	out, in := io.Pipe()
	var said bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		status := run(ctx, cancel, []string{"up", "--addr", "127.0.0.1:0", "--history", history}, in, &said)
		in.Close()
		ended <- status
	}()
	u.stop = sync.OnceValues(func() (int, string) {
		cancel()
		return <-ended, said.String()
	})
	t.Cleanup(func() {
		if status, said := u.stop(); status != 0 {
			t.Errorf("seckill up ended with %d: %s", status, said)
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if page, ok := strings.CutPrefix(lines.Text(), "Page: "); ok {
			u.page = strings.Fields(page)[0]
			go io.Copy(io.Discard, out)
			return u
		}
	}
	status, text := u.stop()
	t.Fatalf("seckill up ended with %d before it had a page: %s", status, text)
	return nil
}

// ask makes a call and decodes its answer, which must have the status.
func (u *upLab) ask(method, path, body string, want int, into any) {
	u.t.Helper()
	request, err := http.NewRequestWithContext(u.t.Context(), method, strings.TrimSuffix(u.page, "/")+path, strings.NewReader(body))
	if err != nil {
		u.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		u.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode == want {
		err = json.Unmarshal(text, into)
	}
	if err != nil || answer.StatusCode != want {
		u.t.Fatalf("%s %s %s: %d %.500s %v, want %d", method, path, body, answer.StatusCode, text, err, want)
	}
}

func (u *upLab) begin(settings string) (r labapi.Run) {
	u.t.Helper()
	u.ask("POST", "/api/lab/v1/runs", settings, http.StatusCreated, &r)
	return r
}

// until waits for news of the run, from the lab's events, that are so.
func (u *upLab) until(id string, so func(labapi.Run) bool) (r labapi.Run) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), 2*time.Minute)
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, "GET", u.page+"api/lab/v1/events", nil)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		u.t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		r = labapi.Run{}
		if ok && json.Unmarshal([]byte(data), &r) == nil && r.ID == id && so(r) {
			return r
		}
	}
	u.t.Fatalf("the run %s never came so far: %v", id, lines.Err())
	return r
}

type upStatus struct {
	Backends []backend.Status
	Services []lab.Service
	Settings lab.ServiceSettings `json:"services_settings"`
	Faults   []fault.Status
}

func (u *upLab) status() (s upStatus) {
	u.t.Helper()
	u.ask("GET", "/api/lab/v1/status", "", http.StatusOK, &s)
	return s
}

// says that a lane was judged, and from what.
func (u *upLab) judged(l labapi.Lane, want ...ledger.Verdict) {
	u.t.Helper()
	if l.Result == nil || !slices.Contains(want, l.Result.Verdict) {
		u.t.Errorf("%s: %s, %+v; want it %v", l.Strategy, l.Error, l.Result, want)
	}
}

// One lab, whose faults are real; each leaves it as it was.
func TestRunsOfARealLab(t *testing.T) {
	u := startUp(t)
	before := u.status()
	for _, f := range before.Faults {
		if !f.Available && (f.Lack == nil || f.Lack.Code != fault.LackTopology && f.Lack.Code != fault.LackLink) { // those of several machines and of links have a lab of their own
			t.Errorf("%s is not to be had on a private lab: %s", f.Kind, f.Missing)
		}
	}
	// While a fault lasts the sale may stand still for longer than buyers wait.
	anything := []ledger.Verdict{ledger.Held, ledger.Oversold, ledger.Lost, loadtest.Blocked}

	t.Run("pause", func(t *testing.T) {
		u.t = t
		begun := u.begin(`{"strategies":["conditional","redis-token"],"stock":100,"buyers":250,"concurrency":16,"lease_ms":300,"wait_ms":1000,
			"faults":[{"kind":"pause_service","service":2,"at_ms":0,"for_ms":1500}]}`)
		u.until(begun.ID, func(r labapi.Run) bool { return r.Faults[0].State == fault.IsOn })
		seen := false
		for r := (labapi.Run{}); !seen && !r.State.Ended(); u.ask("GET", "/api/lab/v1/runs/"+begun.ID, "", http.StatusOK, &r) {
			services := u.status().Services
			seen = services[1].Paused && services[1].Up && !services[0].Paused
		}
		r := u.until(begun.ID, func(r labapi.Run) bool { return r.State.Ended() })
		if f := r.Faults[0]; !seen || f.State != fault.IsOver || f.Until-f.At < 1500 {
			t.Errorf("service 2 was seen paused: %v; the fault is %+v", seen, f)
		}
		u.judged(r.Lanes[0], ledger.Held)
		u.judged(r.Lanes[1], anything...) // its locks may have ended under their holders
		if took := r.Lanes[0].Result.Latency.Max; took < 1_000_000 {
			t.Errorf("no buyer waited longer than %d µs for a service that stood still for 1.5 s", took)
		}
	})

	const longPause = `{"strategies":["conditional"],"stock":1000,"buyers":100000,"concurrency":8,
		"faults":[{"kind":"pause_service","at_ms":0,"for_ms":25000}]}`
	paused := func(r labapi.Run) bool { return len(r.Faults) > 0 && r.Faults[0].State == fault.IsOn }

	t.Run("stop in mid-fault", func(t *testing.T) {
		u.t = t
		begun := u.begin(longPause)
		u.until(begun.ID, paused)
		var stopping labapi.Run
		u.ask("DELETE", "/api/lab/v1/runs/"+begun.ID, "", http.StatusAccepted, &stopping)
		r := u.until(begun.ID, func(r labapi.Run) bool { return r.State.Ended() })
		if f := r.Faults[0]; !r.Stopped || f.State != fault.IsOver || f.Until-f.At > 20_000 {
			t.Errorf("stopped: %v, fault %+v; want the pause cut short", r.Stopped, f)
		}
		if s := u.status().Services[0]; s.Paused || !s.Up {
			t.Errorf("%+v is left paused", s)
		}
	})

	t.Run("shutdown in mid-fault", func(t *testing.T) {
		u.t = t
		u.until(u.begin(longPause).ID, paused)
		services := u.status().Services
		status, said := u.stop()
		if status != 0 || !strings.Contains(said, "nothing is left behind") {
			t.Errorf("seckill up ended with %d: %s", status, said)
		}
		for _, s := range services { // one that stands still would have its socket open
			if conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://")); err == nil {
				conn.Close()
				t.Errorf("%s is left behind", s.Name)
			}
		}
		if left, err := os.ReadDir(u.folder); err != nil || len(left) > 0 {
			t.Errorf("%v, %v are left in the lab's folder", left, err)
		}
	})
}
