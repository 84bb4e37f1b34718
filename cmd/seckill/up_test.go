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
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/labapi"
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
	labtest.Must(u.t, err)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	labtest.Must(u.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode == want {
		err = json.Unmarshal(text, into)
	}
	if err != nil || answer.StatusCode != want {
		u.t.Fatalf("%s %s %s: %d %.500s %v, want %d", method, path, body, answer.StatusCode, text, err, want)
	}
}

// until asks for the run until it is so.
func (u *upLab) until(id string, so func(labapi.Run) bool) (r labapi.Run) {
	u.t.Helper()
	for end := time.Now().Add(2 * time.Minute); r.ID == "" || !so(r); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			u.t.Fatalf("the run never came so far: %+v", r)
		}
		r = labapi.Run{}
		u.ask("GET", "/api/lab/v1/runs/"+id, "", http.StatusOK, &r)
	}
	return r
}

type upStatus struct {
	Backends []backend.Status
	Services []lab.Service
	Faults   []fault.Status
}

func (u *upLab) status() (s upStatus) {
	u.t.Helper()
	u.ask("GET", "/api/lab/v1/status", "", http.StatusOK, &s)
	return s
}

// One lab, whose faults are real. It leaves nothing behind when it ends in the middle of
// one: a process that stands still would have its socket open.
func TestUpEndsInMidFault(t *testing.T) {
	u := startUp(t)
	before := u.status()
	for _, f := range before.Faults {
		if !f.Available && (f.Lack == nil || f.Lack.Code != fault.LackTopology && f.Lack.Code != fault.LackLink) { // those of several machines and of links have a lab of their own
			t.Errorf("%s is not to be had on a private lab: %s", f.Kind, f.Missing)
		}
	}
	var begun labapi.Run
	u.ask("POST", "/api/lab/v1/runs", `{"strategies":["conditional"],"stock":1000,"buyers":100000,"concurrency":8,
		"faults":[{"kind":"pause_service","at_ms":0,"for_ms":25000}]}`, http.StatusCreated, &begun)
	u.until(begun.ID, func(r labapi.Run) bool { return len(r.Faults) > 0 && r.Faults[0].Effect != nil })
	services := u.status().Services
	if !services[0].Paused || !services[0].Up || services[1].Paused {
		t.Errorf("the services are %+v, want the first paused", services)
	}
	status, said := u.stop()
	if status != 0 || !strings.Contains(said, "nothing is left behind") {
		t.Errorf("seckill up ended with %d: %s", status, said)
	}
	for _, s := range services {
		if conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://")); err == nil {
			conn.Close()
			t.Errorf("%s is left behind", s.Name)
		}
	}
	if left, err := os.ReadDir(u.folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v are left in the lab's folder", left, err)
	}
}
