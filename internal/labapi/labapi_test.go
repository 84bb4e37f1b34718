package labapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// fakeLab has backends on paper only.
type fakeLab struct {
	mu       sync.Mutex
	services []lab.Service
	serving  lab.ServiceSettings
	did      chan string
	holders  chan int // the service processes in which a holder is caught
}

var usual = lab.ServiceSettings{Services: 2, Lease: 8000, Wait: 3000, Poll: 10}

func newFakeLab() *fakeLab {
	return &fakeLab{services: []lab.Service{{URL: "http://127.0.0.1:1", Up: true}}, serving: usual, did: make(chan string, 99), holders: make(chan int)}
}

func (*fakeLab) Backends() []backend.Status {
	return []backend.Status{{Name: "mysql", Tier: backend.Private, Address: "127.0.0.1:3306", Version: "MariaDB 10.11", OK: true}}
}

func (l *fakeLab) Services() []lab.Service {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.services
}

func (l *fakeLab) ServiceSettings() lab.ServiceSettings {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.serving
}

func (l *fakeLab) Serve(_ context.Context, s lab.ServiceSettings) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.Poll == unluckyPoll {
		return errors.New("its last words")
	}
	l.serving = s
	l.services = slices.Clone(l.services) // some may be being read
	for i := range l.services {
		l.services[i].Up = true
	}
	return nil
}

const unluckyPoll = 13

func (*fakeLab) Faults() []lab.FaultStatus {
	return []lab.FaultStatus{{Kind: fault.PauseService, Available: true}, {Kind: fault.KillService, Available: true},
		{Kind: fault.PauseHolder, Available: true}, {Kind: fault.RestartRedis, Missing: "redis was given"}}
}

func (l *fakeLab) Inject(ctx context.Context, kind fault.Name, aim fault.Aim) (*fault.Injection, error) {
	effect := fault.Effect{Took: true, Matters: true, Service: aim.Service}
	switch {
	case aim.Service == 2:
		return nil, errors.New("it is dead already")
	case kind == fault.PauseHolder:
		l.did <- fmt.Sprint("wait for a holder of ", aim.Strategy, " of SKU ", aim.SKU)
		select {
		case effect.Service = <-l.holders:
		case <-ctx.Done():
			return fault.NewInjection(fault.Effect{Why: fault.NoUnits, Left: new(int64)}, nil), nil
		}
	}
	l.did <- fmt.Sprint(kind, " ", effect.Service)
	return fault.NewInjection(effect, func(_ context.Context, e *fault.Effect) error {
		l.did <- fmt.Sprint("undo ", kind, " ", effect.Service)
		e.Stood = 7
		return nil
	}), nil
}

// fakeLoad is a load run that goes as far as the test lets it.
type fakeLoad struct {
	configs  chan loadtest.Config
	progress chan loadtest.Progress
	results  chan *loadtest.Result
}

func newFakeLoad() *fakeLoad {
	return &fakeLoad{make(chan loadtest.Config, 9), make(chan loadtest.Progress), make(chan *loadtest.Result, 9)}
}

func (f *fakeLoad) run(ctx context.Context, c loadtest.Config) (*loadtest.Result, error) {
	f.configs <- c
	c.Begin()
	defer c.End()
	for {
		select {
		case p := <-f.progress:
			c.OnProgress(p)
		case r := <-f.results:
			return r, nil
		case <-ctx.Done():
			return &loadtest.Result{Interrupted: true, Verdict: ledger.NotValid}, nil
		}
	}
}

// start serves a lab on a real socket, because peers and Hosts matter here.
func start(t *testing.T, change func(*Config)) (*Server, *httptest.Server, *fakeLoad) {
	t.Helper()
	load := newFakeLoad()
	c := Config{
		Lab: newFakeLab(),
		Strategies: []catalog.Info{
			{Name: "good"}, {Name: "far", Needs: []backend.Capability{backend.Etcd}},
		},
		Missing: func(i catalog.Info) []string {
			if len(i.Needs) > 0 {
				return []string{"no etcd"}
			}
			return nil
		},
		Load:       load.run,
		Page:       fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "app.mjs": {Data: []byte("export {}")}},
		Guarantees: fstest.MapFS{"matrix.json": {Data: []byte(`{"format":1}`)}},
		Addr:       "127.0.0.1:8080", ServiceToken: serviceToken,
	}
	if change != nil {
		change(&c)
	}
	s := New(c)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		h.Close()
	})
	return s, h, load
}

type call struct {
	method, path, body string
	header             map[string]string
}

func (c call) do(t *testing.T, base string) (status int, body string, header http.Header) {
	t.Helper()
	req, err := http.NewRequest(c.method, base+c.path, strings.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	if c.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.header {
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header
}

const serviceToken = "the-services"

const goodRun = `{"strategies":["good"],"stock":100,"buyers":2000,"concurrency":64,"quantity":1}`

func TestGuard(t *testing.T) {
	_, open, _ := start(t, nil)
	_, closed, load := start(t, func(c *Config) { c.Token = "s3cret" })
	run := func(header ...string) call {
		c := call{method: "POST", path: "/api/lab/v1/runs", body: goodRun, header: map[string]string{}}
		for i := 0; i < len(header); i += 2 {
			c.header[header[i]] = header[i+1]
		}
		return c
	}
	host := strings.TrimPrefix(open.URL, "http://")
	for _, c := range []struct {
		name string
		base string
		call call
		want int
	}{
		{"foreign name", open.URL, call{"GET", "/", "", map[string]string{"Host": "evil.example"}}, 403},
		{"foreign address", open.URL, call{"GET", "/", "", map[string]string{"Host": "10.1.2.3:8080"}}, 403},
		{"localhost", open.URL, call{"GET", "/", "", map[string]string{"Host": "localhost:9999"}}, 200},
		{"IPv6 loopback", open.URL, call{"GET", "/", "", map[string]string{"Host": "[::1]:8080"}}, 200},
		{"foreign page", open.URL, run("Origin", "http://evil.example"), 403},
		{"page of nowhere", open.URL, run("Origin", "null"), 403},
		{"page of another port", open.URL, run("Origin", "http://127.0.0.1:1"), 403},
		{"foreign page buys", open.URL, call{"POST", "/api/v1/seckill", "{}", map[string]string{"Origin": "http://evil.example"}}, 403},
		{"dotted path", open.URL, call{"DELETE", "/api/v1/orders/../skus/1", "", nil}, 400},
		{"own page", open.URL, run("Origin", "http://"+host), 201},
		{"no token", closed.URL, run(), 403},
		{"wrong token", closed.URL, run("Authorization", "Bearer s3cre"), 403},
		{"reset without token", closed.URL, call{"PUT", "/api/v1/skus/1", "{}", nil}, 403},
		{"reset with token", closed.URL, call{"PUT", "/api/v1/skus/1", "{}", map[string]string{"Authorization": "Bearer s3cret"}}, 503},
		{"purchase without token", closed.URL, call{"POST", "/api/v1/seckill", "{}", nil}, 503},
		{"token", closed.URL, run("Authorization", "Bearer s3cret"), 201},
	} {
		if got, body, _ := c.call.do(t, c.base); got != c.want {
			t.Errorf("%s: got %d %s, want %d", c.name, got, body, c.want)
		}
	}
	if c := <-load.configs; c.AdminToken != serviceToken {
		t.Errorf("the run was given the token %q", c.AdminToken)
	}
}

func TestOnlyThisMachineChangesThingsWithoutToken(t *testing.T) {
	s, _, _ := start(t, nil)
	r := httptest.NewRequest("PUT", "/api/v1/skus/1", nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8080", "10.0.0.7:4711"
	r.Header.Set("X-Forwarded-For", "127.0.0.1")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != 403 {
		t.Errorf("a reset from another machine was answered %d %s", w.Code, w.Body)
	}
}

// What a reverse proxy on this machine passes on comes from 127.0.0.1. Without
// a token of its own the page gives it no admin call, and the services' token
// goes with none of its calls.
func TestProxyInFrontOfThePageIsNoAdmin(t *testing.T) {
	var asked atomic.Int64
	url := service(t, "a", &asked)
	_, mine, _ := start(t, func(c *Config) { c.Lab = &fakeLab{services: []lab.Service{{URL: url, Up: true}}} })
	open := mine.URL
	_, closed, _ := start(t, func(c *Config) {
		c.Lab, c.Token = &fakeLab{services: []lab.Service{{URL: url, Up: true}}}, "s3cret"
	})
	admin := []call{
		{method: "PUT", path: "/api/v1/skus/1", body: "{}"},
		{method: "GET", path: "/api/v1/audit?sku_id=1"},
		{method: "GET", path: "/api/v1/orders?sku_id=1"},
		{method: "GET", path: "/api/v1/orders?request_id=k"},
		{method: "POST", path: "/api/v1/faults"},
		{method: "GET", path: "/api/v1/whatever"},
	}
	buyers := []call{
		{method: "POST", path: "/api/v1/seckill", body: "{}"},
		{method: "GET", path: "/api/v1/orders?user_id=7&request_id=k"},
		{method: "DELETE", path: "/api/v1/orders/x"},
		{method: "GET", path: "/api/v1/skus/1"},
		{method: "GET", path: "/api/v1/strategies"},
	}
	with := func(c call, header, value string) call {
		c.header = map[string]string{}
		if header != "" {
			c.header[header] = value
		}
		return c
	}
	const carries = "Bearer " + serviceToken
	for _, c := range admin {
		for _, h := range []string{open, closed.URL} {
			for header, value := range map[string]string{"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": "127.0.0.1", "X-Real-Ip": "127.0.0.1",
				"Forwarded": "for=127.0.0.1", "Via": "1.1 proxy", "Host": "shop.example", "Origin": "http://shop.example",
				"Authorization": "Bearer wrong", "Cookie": "none"} {
				if h == open && (header == "Authorization" || header == "Cookie" || header == "Origin" && c.method == "GET") {
					continue
				}
				asked.Store(0)
				if status, body, _ := with(c, header, value).do(t, h); status != 403 || asked.Load() != 0 {
					t.Errorf("%s %s with %s: %s: %d %s, and the service was asked %d times", c.method, c.path, header, value, status, body, asked.Load())
				}
			}
		}
		for _, token := range []string{"s3cret", serviceToken} {
			if status, body, _ := with(c, "Authorization", "Bearer "+token).do(t, closed.URL); status != 200 || !strings.Contains(body, carries) {
				t.Errorf("%s %s with the token: %d %s", c.method, c.path, status, body)
			}
		}
		if status, body, _ := c.do(t, open); status != 200 || !strings.Contains(body, carries) {
			t.Errorf("%s %s from this machine: %d %s", c.method, c.path, status, body)
		}
	}
	for _, c := range buyers {
		for _, header := range []string{"", "X-Forwarded-For", "Authorization"} {
			status, body, _ := with(c, header, "Bearer s3cret").do(t, closed.URL)
			if status != 200 || strings.Contains(body, "Bearer") {
				t.Errorf("%s %s with %q: %d %s; want no token", c.method, c.path, header, status, body)
			}
		}
	}
	old, err := net.Dial("tcp", strings.TrimPrefix(open, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	fmt.Fprintf(old, "PUT /api/v1/skus/1 HTTP/1.0\r\nHost: %s\r\n\r\n", old.RemoteAddr())
	if said, err := io.ReadAll(old); err != nil || !strings.Contains(string(said), " 403 ") {
		t.Errorf("as nginx asks when it is told nothing: %s %v", said, err)
	}
}

func TestPageAndItsHeaders(t *testing.T) {
	_, h, _ := start(t, nil)
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/static/app.mjs": "text/javascript; charset=utf-8",
	} {
		status, _, header := call{method: "GET", path: path}.do(t, h.URL)
		if status != 200 || header.Get("Content-Type") != want {
			t.Errorf("GET %s: %d %s, want %s", path, status, header.Get("Content-Type"), want)
		}
		if !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'self'") || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s has headers %v", path, header)
		}
		again, _, _ := call{"GET", path, "", map[string]string{"If-None-Match": header.Get("ETag")}}.do(t, h.URL)
		if again != http.StatusNotModified {
			t.Errorf("GET %s again: %d, want 304", path, again)
		}
	}
	for path, want := range map[string]int{"/static/nope": 404, "/nope": 404, "/healthz": 200, "/readyz": 200} {
		if status, body, _ := (call{method: "GET", path: path}).do(t, h.URL); status != want {
			t.Errorf("GET %s: %d %s, want %d", path, status, body, want)
		}
	}
	if status, body, _ := (call{method: "POST", path: "/api/lab/v1/status"}).do(t, h.URL); status != 405 || !strings.Contains(body, "method_not_allowed") {
		t.Errorf("POST status: %d %s", status, body)
	}
}

// events reads a page's stream.
type events struct {
	t    *testing.T
	body io.ReadCloser
	in   *bufio.Scanner
}

func watch(t *testing.T, base string) *events {
	t.Helper()
	resp, err := http.Get(base + "/api/lab/v1/events")
	if err != nil || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatal(resp, err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<20)
	return &events{t, resp.Body, in}
}

// next is the next event's data; it must be of this name.
func (e *events) next(name string) map[string]any {
	e.t.Helper()
	return e.anyOf(name)
}

// anyOf is the next event's data, which must be of one of these names.
func (e *events) anyOf(names ...string) map[string]any {
	e.t.Helper()
	event := ""
	for e.in.Scan() {
		line := e.in.Text()
		if v, ok := strings.CutPrefix(line, "event: "); ok {
			event = v
		}
		if v, ok := strings.CutPrefix(line, "data: "); ok {
			if !slices.Contains(names, event) {
				e.t.Fatalf("got event %s %s, want %s", event, v, names)
			}
			var data map[string]any
			if err := json.Unmarshal([]byte(v), &data); err != nil {
				e.t.Fatal(err)
			}
			return data
		}
	}
	e.t.Fatalf("the stream ended instead of %s: %v", names, e.in.Err())
	return nil
}

func lane(run map[string]any, i int) map[string]any { return run["lanes"].([]any)[i].(map[string]any) }

// runEnded waits until a page is told that a run has.
func (e *events) runEnded() (last map[string]any) {
	for last == nil || last["state"] != string(Done) && last["state"] != string(Failed) {
		last = e.next("run")
	}
	return last
}

func TestRunIsSeenByAllPages(t *testing.T) {
	s, h, load := start(t, nil)
	first := watch(t, h.URL)
	if hello := first.next("hello"); len(hello["runs"].([]any)) != 0 {
		t.Fatalf("hello %v", hello)
	}
	status, body, header := call{method: "POST", path: "/api/lab/v1/runs", body: goodRun}.do(t, h.URL)
	var begun Run
	json.Unmarshal([]byte(body), &begun)
	if status != 201 || begun.ID == "" || header.Get("Location") != "/api/lab/v1/runs/"+begun.ID {
		t.Fatalf("POST runs: %d %s %v", status, body, header)
	}
	if c := <-load.configs; c.SKU != 1 || c.Stock != 100 || c.Buyers != 2000 || c.Concurrency != 64 || c.Quantity != 1 ||
		len(c.Targets) != 1 || c.Timeout <= 0 {
		t.Errorf("the load run was started with %+v", c)
	}
	if status, body, _ := (call{method: "POST", path: "/api/lab/v1/runs", body: goodRun}).do(t, h.URL); status != 409 || !strings.Contains(body, "run_in_progress") {
		t.Errorf("a second run: %d %s", status, body)
	}
	if r := first.next("run"); r["id"] != begun.ID || r["state"] != "running" {
		t.Errorf("run event %v", r)
	}
	load.progress <- loadtest.Progress{Elapsed: time.Second, Requests: 7, Left: 93}
	if l := lane(first.next("snapshot"), 0); l["from"] != 0.0 || len(l["points"].([]any)) != 1 || l["progress"].(map[string]any)["left"] != 93.0 {
		t.Errorf("snapshot %v", l)
	}

	late := watch(t, h.URL)
	if hello := late.next("hello"); len(hello["runs"].([]any)) != 1 {
		t.Errorf("late hello %v", hello)
	}
	if l := lane(late.next("run"), 0); len(l["points"].([]any)) != 1 || l["progress"].(map[string]any)["left"] != 93.0 {
		t.Errorf("a page that opens late is told %v", l)
	}
	load.progress <- loadtest.Progress{Elapsed: 2 * time.Second, Requests: 9, Left: -3}
	for _, e := range []*events{first, late} {
		if l := lane(e.next("snapshot"), 0); l["from"] != 1.0 || len(l["points"].([]any)) != 1 {
			t.Errorf("snapshot %v", l)
		}
	}
	// The last report may follow at once: it counts, and is no point of a chart.
	load.progress <- loadtest.Progress{Elapsed: 2*time.Second + time.Millisecond, Requests: 2000}
	for _, e := range []*events{first, late} {
		if l := lane(e.next("snapshot"), 0); l["points"] != nil || l["progress"].(map[string]any)["requests"] != 2000.0 {
			t.Errorf("snapshot %v", l)
		}
	}
	load.results <- &loadtest.Result{Verdict: ledger.Held}
	for _, e := range []*events{first, late} {
		if r := e.runEnded(); r["state"] != "done" || lane(r, 0)["result"].(map[string]any)["verdict"] != "held" {
			t.Errorf("last event %v", r)
		}
	}
	_, body, _ = call{method: "GET", path: "/api/lab/v1/runs/" + begun.ID}.do(t, h.URL)
	if !strings.Contains(body, `"verdict":"held"`) || !strings.Contains(body, `"points":[{`) {
		t.Errorf("GET run: %s", body)
	}
	if status, body, _ := (call{method: "GET", path: "/api/lab/v1/runs/none"}).do(t, h.URL); status != 404 || !strings.Contains(body, "unknown_run") {
		t.Errorf("GET of no run: %d %s", status, body)
	}

	s.EndStreams()
	for first.in.Scan() { // ends, or the test times out
	}
}

func TestStockIsReadFromTheLedger(t *testing.T) {
	_, h, load := start(t, func(c *Config) {
		c.Left = func(context.Context, int64) (int64, error) { return -7, nil }
		c.Strategies = []catalog.Info{{Name: "good", Stock: ledger.HomeRow}, {Name: "elsewhere", Stock: ledger.HomeRedis}}
	})
	page := watch(t, h.URL)
	page.next("hello")
	for strategy, want := range map[string]float64{"good": -7, "elsewhere": 93} {
		call{method: "POST", path: "/api/lab/v1/runs", body: strings.Replace(goodRun, "good", strategy, 1)}.do(t, h.URL)
		page.next("run")
		load.progress <- loadtest.Progress{Left: 93}
		if l := lane(page.next("snapshot"), 0); l["progress"].(map[string]any)["left"] != want {
			t.Errorf("%s: snapshot %v, want %v left", strategy, l, want)
		}
		load.results <- &loadtest.Result{}
		page.runEnded()
	}
}

func TestPagesAreToldThatTheLabChanged(t *testing.T) {
	s, h, _ := start(t, nil)
	page := watch(t, h.URL)
	page.next("hello")
	s.LabChanged()
	page.next("lab")
}

func TestStopAudits(t *testing.T) {
	_, h, load := start(t, nil)
	page := watch(t, h.URL)
	page.next("hello")
	_, body, _ := call{method: "POST", path: "/api/lab/v1/runs", body: goodRun}.do(t, h.URL)
	var begun Run
	json.Unmarshal([]byte(body), &begun)
	<-load.configs
	page.next("run")
	if status, body, _ := (call{method: "DELETE", path: "/api/lab/v1/runs/" + begun.ID}).do(t, h.URL); status != 202 {
		t.Errorf("DELETE: %d %s", status, body)
	}
	r := page.runEnded()
	if r["state"] != "done" || r["stopped"] != true || lane(r, 0)["result"].(map[string]any)["interrupted"] != true {
		t.Errorf("a stopped run ends as %v", r)
	}
}

// A page that reads nothing must not hold up a run.
func TestSlowPage(t *testing.T) {
	s, h, load := start(t, nil)
	watch(t, h.URL) // and never reads
	call{method: "POST", path: "/api/lab/v1/runs", body: goodRun}.do(t, h.URL)
	<-load.configs
	for i := range 3 * maxPoints {
		load.progress <- loadtest.Progress{Elapsed: time.Duration(i) * 100 * time.Millisecond}
	}
	if r := s.runs.list()[0]; r.Lanes[0].Progress == nil {
		t.Error("the run has no progress")
	}
	if l := s.runs.read(s.runs.entries[0]).Lanes[0]; len(l.Points) > maxPoints {
		t.Errorf("%d points are kept, want at most %d", len(l.Points), maxPoints)
	}
}

// A page that puts the news of a run together has what the lab has, of each
// lane.
func TestNewsOfLanesAddUp(t *testing.T) {
	_, h, load := start(t, func(c *Config) { c.Strategies = []catalog.Info{{Name: "good"}, {Name: "other"}} })
	page := watch(t, h.URL)
	page.next("hello")
	begun := begin(t, h.URL, strings.Replace(goodRun, `"good"`, `"good","other"`, 1))
	go func() {
		for i := range 2 * maxPoints { // more than one lane keeps, so that points are thinned
			load.progress <- loadtest.Progress{Elapsed: time.Duration(i) * time.Second}
		}
		load.results <- &loadtest.Result{}
		load.results <- &loadtest.Result{}
	}()
	var put [2][]Point
	page.until(func(r Run) bool {
		for i, l := range r.Lanes {
			if l.From > len(put[i]) {
				t.Fatalf("lane %d goes on at %d, and %d points are known", i, l.From, len(put[i]))
			}
			put[i] = append(put[i][:l.From], l.Points...)
		}
		return ended(r)
	})
	var whole Run
	_, body, _ := call{method: "GET", path: "/api/lab/v1/runs/" + begun.ID}.do(t, h.URL)
	json.Unmarshal([]byte(body), &whole)
	for i, l := range whole.Lanes {
		if !slices.Equal(put[i], l.Points) || len(l.Points) == 0 {
			t.Errorf("lane %d: %d points were put together, the lab has %d", i, len(put[i]), len(l.Points))
		}
	}
}
