package labapi

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/web"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

func TestPageAndItsHeaders(t *testing.T) {
	_, h, _ := start(t, nil)
	for path, want := range map[string]string{
		"/": "text/html; charset=utf-8", "/static/app.mjs": "text/javascript; charset=utf-8",
	} {
		status, _, header := call{method: "GET", path: path}.do(t, h.URL)
		if status != 200 || header.Get("Content-Type") != want {
			t.Errorf("GET %s: %d %s, want %s", path, status, header.Get("Content-Type"), want)
		}
		if !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'self'") ||
			header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s has headers %v", path, header)
		}
		again, _, _ := call{"GET", path, "", map[string]string{"If-None-Match": header.Get("ETag")}}.do(t, h.URL)
		labtest.Same(t, again, http.StatusNotModified, "GET %s again", path)
	}
	call{method: "GET", path: "/healthz"}.wants(t, h.URL, 200, "")
	call{method: "GET", path: "/readyz"}.wants(t, h.URL, 503, "") // no service process runs, so none is ready
	browser := labtest.Value(http.NewRequest(http.MethodGet, h.URL+"/nope", nil)).Must(t)
	browser.Header.Set("Accept", "text/html")
	answer, err := http.DefaultTransport.RoundTrip(browser) // RoundTrip follows no redirect
	labtest.Must(t, err)
	answer.Body.Close()
	if to := answer.Header.Get("Location"); answer.StatusCode != http.StatusFound || to != "/#/nope" {
		t.Errorf("a browser at /nope gets %d and is led to %q, want 302 and /#/nope", answer.StatusCode, to)
	}
}

// events reads the event stream of a page.
type events struct {
	t  *testing.T
	in *bufio.Scanner
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
	return &events{t, in}
}

// opened opens a page's event stream and reads the list of runs from it.
func opened(t *testing.T, base string) *events {
	t.Helper()
	e := watch(t, base)
	e.next("hello")
	return e
}

// next returns the data of the next event, which must have one of these names.
func (e *events) next(names ...string) map[string]any {
	e.t.Helper()
	event := ""
	for e.in.Scan() {
		line := e.in.Text()
		if v, ok := strings.CutPrefix(line, "event:"); ok {
			event = v
		}
		if v, ok := strings.CutPrefix(line, "data:"); ok {
			if !slices.Contains(names, event) {
				e.t.Fatalf("got event %s %s, want %s", event, v, names)
			}
			var data map[string]any
			labtest.Must(e.t, json.Unmarshal([]byte(v), &data))
			return data
		}
	}
	e.t.Fatalf("the stream ended instead of %s: %v", names, e.in.Err())
	return nil
}

func lane(run map[string]any, i int) map[string]any { return run["lanes"].([]any)[i].(map[string]any) }

// A page that is opened during a run receives the same run as a page that was open before. If the last report of a run
// follows another report at once, it changes the progress but adds no point to the charts.
func TestPagesHaveWholeRuns(t *testing.T) {
	s, h, load := start(t, nil)
	first := opened(t, h.URL)
	begun := beginRun(t, h.URL, goodRun)
	for i := range 1000 {
		load.progress <- loadtest.Progress{Elapsed: time.Duration(i) * time.Second, Left: -3}
	}
	late := opened(t, h.URL)
	load.progress <- loadtest.Progress{Elapsed: 999*time.Second + time.Millisecond, Requests: 2000}
	load.results <- &loadtest.Result{Verdict: judge.Held}
	var whole Run
	for _, page := range []*events{first, late} {
		told := page.until(ended)
		_, body, _ := call{method: "GET", path: "/api/lab/v1/runs/" + begun.ID}.do(t, h.URL)
		json.Unmarshal([]byte(body), &whole)
		l := told.Lanes[0]
		if !reflect.DeepEqual(told.Lanes, whole.Lanes) || l.Result.Verdict != judge.Held ||
			l.Progress.Requests != 2000 {
			t.Errorf("a page is told of %+v, and the lab has %+v", told.Lanes, whole.Lanes)
		}
		if n := len(l.Points); n < maxPoints/2 || n > maxPoints || l.Points[0].At != 0 || l.Points[n-1].At != 999 {
			t.Errorf("%d points, from %v to %v s", n, l.Points[0].At, l.Points[n-1].At)
		}
	}
	s.notifier.notifyLabChange()
	first.next("lab")
}

// The server serves the page before the lab runs. Other calls wait for the lab, at most until their callers disconnect.
func TestThePageDoesNotWaitForTheLab(t *testing.T) {
	lab, _, _ := start(t, nil)
	c := lab.Config
	c.Backing = Backing{}
	s := New(c)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	for path, want := range map[string]int{"/": 200, "/static/app.mjs": 200, "/static/none.mjs": 404} {
		call{method: "GET", path: path}.wants(t, h.URL, want, "")
	}
	ask := call{method: "GET", path: "/api/lab/v1/status"}
	gone, leave := context.WithCancel(t.Context())
	leave()
	r, answer := httptest.NewRequestWithContext(gone, ask.method, ask.path, nil), httptest.NewRecorder()
	r.Host = "localhost"
	if s.ServeHTTP(answer, r); answer.Body.Len() > 0 {
		t.Errorf("a call was answered before the lab is up: %s", answer.Body)
	}
	s.Open(lab.Backing)
	ask.wants(t, h.URL, 200, "")
}

func TestOnlyTheLastRunsAreKept(t *testing.T) {
	dir := t.TempDir()
	s := &Server{Config: Config{History: History(dir), Log: slog.New(slog.DiscardHandler)}, notifier: &notifier{changed: make(chan struct{})}}
	s.runs = openStore(s, runType)
	begun := time.Now()
	for i := range maxEntries + 5 {
		r := Run{Record: Record{ID: fmt.Sprint(i), State: Done, Started: begun.Add(time.Duration(i) * time.Second)},
			Settings: Settings{Strategies: []string{"good"}, Scenario: defaultScenario()},
			Lanes:    []Lane{{Strategy: "good"}}}
		s.runs.addEntry(&entry[Run]{value: r})
		s.runs.saveEntry(r)
	}
	for _, runs := range [][]Run{s.runs.listEntries(), openStore(s, runType).listEntries()} {
		if len(runs) != maxEntries || runs[0].ID != fmt.Sprint(maxEntries+4) || runs[maxEntries-1].ID != "5" {
			t.Errorf("%d runs are kept, from %s to %s", len(runs), runs[len(runs)-1].ID, runs[0].ID)
		}
	}
}

type kept struct {
	Text string
}

// The next lab reads the entries of each kind. It ignores foreign files and half written files, and does not
// change them.
func TestEntriesOutliveTheLab(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "later")
	f := History(dir)
	for id, text := range map[string]string{"a": "first", "b": "second"} {
		labtest.Must(t, f.writeEntry("run", id, kept{text}))
	}
	labtest.Must(t, f.writeEntry("comparison", "a", kept{"another"}))
	foreign := map[string]string{
		"run-cut.json": `{"seckill_history":1,"entry":{"Text":"th`, "run-list.json": `[]`,
		"run-older.json": `{"seckill_history":0,"entry":{}}`,
		"run-empty.json": "", "run-wrong.json": `{"seckill_history":1,"entry":{"Text":7}}`, "notes.txt": "mine",
	}
	for name, text := range foreign {
		labtest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	labtest.Must(t, os.Mkdir(filepath.Join(dir, "run-folder.json"), 0o700))
	want := map[string]kept{"a": {"first"}, "b": {"second"}}
	labtest.Same(t, readEntries[kept](History(dir), "run"), want, "the next lab reads")
	for name, text := range foreign {
		labtest.Same(t, string(labtest.Value(os.ReadFile(filepath.Join(dir, name))).Must(t)), text, "%s is now", name)
	}
	f.removeEntry("run", "a")
	delete(want, "a")
	labtest.Same(t, readEntries[kept](f, "run"), want, "after a removal")
}

// People may put any file into the history. The lab ignores a file that no page could show, and does not remove it.
func TestEntriesThatPagesCouldNotShow(t *testing.T) {
	settings := labtest.Value(json.Marshal(compare.Presets()[0].Settings)).Must(t)
	const ended = `"state":"done","started":"2026-01-02T03:04:05Z",`
	whole := map[string]string{
		"run": ended + `"settings":{"strategies":["good"],"stock":100,"buyers":2000,"profile":"closed","concurrency":64,"skus":1,"quantity":1},` +
			`"lanes":[{"strategy":"good","sku":1,"result":{"verdict":"held","audit":{"sold":100}}}]`,
		"trace":      ended + `"strategy":"good","steps":null`,
		"comparison": fmt.Sprintf(ended+`"settings":%s,"result":{"settings":%[1]s}`, settings),
	}
	dir := t.TempDir()
	write := func(k string, id, entry string) {
		text := `{"seckill_history":1,"entry":{` + entry + `}}`
		labtest.Must(t, os.WriteFile(History(dir).fileName(k, id), []byte(text), 0o600))
	}
	wrong := map[string][]string{ // pairs of a text in an entry and the text that replaces it
		"run": {`[{"strategy":"good"`, `[{"strategy":"other"`, `"lanes":[`, `"lanes":null,"x":[`, `"lanes":[`,
			`"lanes":[null,`,
			"done", "running", "2026", "9026", `"stock":100`, `"stock":-1`, `"buyers":2000`, `"buyers":1000000000`},
		"trace": {`"strategy":"good",`, "", "done", "preparing"},
		"comparison": {`"result"`, `"x"`, `"result":{`, `"result":{"entries":[null],`,
			`"settings":{`, `"settings":null,"x":{`},
	}
	for k, entry := range whole {
		write(k, "whole", entry)
		write(k, "nothing", "")
		for i, pair := range slices.Collect(slices.Chunk(wrong[k], 2)) {
			write(k, fmt.Sprint("wrong-", i), strings.Replace(entry, pair[0], pair[1], 1))
		}
	}
	before, _ := os.ReadDir(dir)

	s, h, _ := start(t, func(c *Config) { c.History = History(dir) })
	listed := [3]int{len(s.runs.entries), len(s.traces.entries), len(s.comparisons.entries)}
	labtest.Same(t, listed, [3]int{1, 1, 1}, "listed runs, traces and comparisons")
	// If a file lacks a list inside a member of the entry, the answer contains an empty list.
	call{method: "GET", path: "/api/lab/v1/runs/whole"}.wants(t, h.URL, 200, `"violations":[]`)
	call{method: "GET", path: "/api/lab/v1/traces/whole"}.wants(t, h.URL, 200, `"steps":[]`)
	call{method: "GET", path: "/api/lab/v1/comparisons/whole"}.wants(t, h.URL, 200, `"not_run":[]`)
	after, _ := os.ReadDir(dir)
	labtest.Same(t, len(after), len(before), "the number of files left")
}

func TestWhatCannotBeKept(t *testing.T) {
	nothing := History("")
	nothing.removeEntry("run", "a")
	if err := nothing.writeEntry("run", "a", kept{}); err != nil || len(readEntries[kept](nothing, "run")) > 0 {
		t.Errorf("without a folder: %v", err)
	}
	file := filepath.Join(t.TempDir(), "a-file")
	labtest.Must(t, os.WriteFile(file, nil, 0o600))
	labtest.Fails(t, History(file).writeEntry("run", "a", kept{}), "", "an entry where no folder can be")
}

// The test makes the calls in testdata, in the format of labtest.Calls, and checks the answers.
func TestCalls(t *testing.T) {
	for file, change := range map[string]func(*Config){
		"runs": func(c *Config) { c.Compare = newComparing().run },
		"shop": func(c *Config) {
			c.Strategy, c.Strategies = "conditional", []catalog.Info{{Name: "naive"},
				{Name: "conditional", Reserves: true}}
			c.Page = fstest.MapFS{"index.html": {Data: []byte("lab")}, "shop/index.html": {Data: []byte("shop")}}
		},
	} {
		_, h, _ := start(t, change)
		calls := labtest.Calls{TB: t}
		calls.Ask = func(method, path, body string, _ []string) labtest.Answer {
			status, answer, header := call{method: method, path: path, body: body}.do(t, h.URL)
			var p web.Problem
			_ = json.Unmarshal([]byte(answer), &p) // an answer with HTML is no JSON, so ignore the error
			if status >= 400 && (header.Get("Content-Type") != web.ProblemType || p.Detail == "") {
				t.Errorf("%s %s %s: a problem of the type %s that says %q", method, path, body,
					header.Get("Content-Type"), p.Detail)
			}
			return labtest.Answer{Status: status, Header: header, Body: []byte(answer)}
		}
		calls.Run("testdata/" + file + ".txt")
	}
}

// A run shows all its settings, also those that the call omitted.
func TestSettingsThatAreUsed(t *testing.T) {
	_, h, load := start(t, func(c *Config) { c.Strategies = []catalog.Info{{Name: "good"}, {Name: "other"}} })
	_, body, _ := call{method: "POST", path: "/api/lab/v1/runs", body: `{"strategies":["good","other"],"stock":100,
		"profile":"constant","rate":100,"duration_ns":2000000000,"seed":"18446744073709551615","lease_ms":500}`}.do(t, h.URL)
	var begun struct {
		Settings json.RawMessage
		Lanes    []Lane
	}
	json.Unmarshal([]byte(body), &begun)
	want := `{"strategies":["good","other"],"stock":100,"sku_id":1,"skus":1,"buyers":2000,"quantity":1,"copies":0.01,"retry":1,` +
		`"profile":"constant","concurrency":64,"rate":100,"duration_ns":2000000000,"timeout_ns":15000000000,` +
		`"seed":"18446744073709551615","services":2,"lease_ms":500,"wait_ms":3000,"poll_ms":10}`
	labtest.Same(t, string(begun.Settings), want, "the settings")
	for i, sku := range []int64{1, 2} {
		c := <-load.configs
		at := 0
		if c.Strategy == "other" {
			at = 1
		}
		if l := begun.Lanes[at]; l.Strategy != c.Strategy || l.SKU != c.SKU || at == i && c.SKU != sku {
			t.Errorf("lane %+v sells SKU %d with %s", l, c.SKU, c.Strategy)
		}
		if c.Seed != 1<<64-1 || c.Requests() != 200 || c.Rate != 100 {
			t.Errorf("a lane was started with %+v", c.Scenario)
		}
	}
}
