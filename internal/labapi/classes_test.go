package labapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/loadtest"
)

// member makes calls as one of a class.
type member struct {
	t    *testing.T
	base string
	key  string // CODE.KEY
}

func (m member) call(method, path, body string) (status int, answer string) {
	m.t.Helper()
	// As from another machine: through a proxy, which has no token.
	header := map[string]string{"X-Forwarded-For": "192.0.2.7"}
	if m.key != "" {
		header["X-Class-Key"] = m.key
	}
	status, answer, _ = call{method, "/api/lab/v1/" + path, body, header}.do(m.t, m.base)
	return status, answer
}

func openedClass(t *testing.T, base string) (code, key string) {
	t.Helper()
	status, body, _ := call{method: "POST", path: "/api/lab/v1/classes", body: "{}"}.do(t, base)
	var made struct{ Code, Key string }
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != http.StatusCreated || made.Key == "" {
		t.Fatalf("a class: %d %s", status, body)
	}
	return made.Code, made.Key
}

func TestClassOverHTTP(t *testing.T) {
	_, h, load := start(t, func(c *Config) { c.Strategies = append(c.Strategies, catalog.Info{Name: "naive"}) })
	stranger := member{t, h.URL, ""}
	if status, body := stranger.call("POST", "classes", "{}"); status != http.StatusForbidden {
		t.Errorf("another machine opens a class: %d %s", status, body)
	}
	code, key := openedClass(t, h.URL)
	status, body := stranger.call("POST", "classes/"+strings.ToLower(code)+"/learners", `{"nickname":"Mia"}`)
	var joined struct{ Code, Nickname, Key string }
	if err := json.Unmarshal([]byte(body), &joined); err != nil || status != http.StatusCreated || joined.Code != code || joined.Nickname != "Mia" {
		t.Fatalf("joined: %d %s", status, body)
	}
	mia, teacher := member{t, h.URL, code + "." + joined.Key}, member{t, h.URL, code + "." + key}

	status, body = mia.call("POST", "classes/"+code+"/results", `{"chapter":"01-lost-update"}`)
	if status != http.StatusOK || !strings.Contains(body, `"01-lost-update"`) {
		t.Errorf("a chapter read: %d %s", status, body)
	}

	t.Log("a prediction is compared with the run by the lab")
	page := watch(t, h.URL)
	page.next("hello")
	_, run, _ := call{method: "POST", path: "/api/lab/v1/runs", body: `{"strategies":["naive"],"stock":100,"buyers":2000,"concurrency":64}`}.do(t, h.URL)
	var begun struct{ ID string }
	if err := json.Unmarshal([]byte(run), &begun); err != nil || begun.ID == "" {
		t.Fatal(run)
	}
	<-load.configs
	foretold := `{"chapter":"01-lost-update","run":"` + begun.ID + `","said":"more"}`
	if status, body = mia.call("POST", "classes/"+code+"/results", foretold); status != http.StatusConflict || !strings.Contains(body, "not_foretold") {
		t.Errorf("a prediction of a run that is on: %d %s", status, body)
	}
	load.results <- &loadtest.Result{Verdict: ledger.Oversold, Audit: &ledger.Report{Verdict: ledger.Oversold, Initial: 100, Sold: 131}}
	page.runEnded()
	if status, body = mia.call("POST", "classes/"+code+"/results", foretold); status != http.StatusOK || !strings.Contains(body, `"said":"more","right":true`) {
		t.Errorf("a prediction: %d %s", status, body)
	}
	other := strings.Replace(foretold, "01-lost-update", "03-optimistic", 1)
	if status, body = mia.call("POST", "classes/"+code+"/results", other); status != http.StatusConflict {
		t.Errorf("the run of another chapter: %d %s", status, body)
	}

	t.Log("the teacher's table and file")
	if status, body = teacher.call("GET", "classes/"+code, ""); status != http.StatusOK || !strings.Contains(body, `"nickname":"Mia"`) || strings.Contains(body, "key_hash") {
		t.Errorf("the table: %d %s", status, body)
	}
	if status, body = teacher.call("GET", "classes/"+code+"/results.csv", ""); status != http.StatusOK || !strings.Contains(body, "\nMia,") {
		t.Errorf("the file: %d %s", status, body)
	}
	if status, body = mia.call("GET", "classes/"+code+"/me", ""); status != http.StatusOK || !strings.Contains(body, `"nickname":"Mia"`) {
		t.Errorf("of oneself: %d %s", status, body)
	}

	t.Log("what the class may not do")
	second, _ := openedClass(t, h.URL)
	for _, c := range []struct {
		who                member
		method, path, body string
		status             int
		says               string
		because            string
	}{
		{mia, "GET", "classes/" + code, "", 403, "wrong_class_key", "a learner sees the table"},
		{mia, "GET", "classes/" + code + "/results.csv", "", 403, "wrong_class_key", "a learner exports"},
		{mia, "DELETE", "classes/" + code, "", 403, "wrong_class_key", "a learner deletes"},
		{mia, "DELETE", "classes/" + code + "/learners/Mia", "", 403, "wrong_class_key", "a learner removes"},
		{stranger, "GET", "classes/" + code + "/me", "", 403, "wrong_class_key", "no key"},
		{stranger, "GET", "classes/" + code, "", 403, "wrong_class_key", "no key"},
		{mia, "GET", "classes/" + second + "/me", "", 403, "wrong_class_key", "the key of another class"},
		{mia, "GET", "classes/ABCDEFGH/me", "", 404, "unknown_class", "no class"},
		{mia, "GET", "classes/%2e%2e/me", "", 400, "", "a path"},
		{mia, "POST", "classes/" + code + "/results", `{}`, 400, "invalid", "nothing"},
		{mia, "POST", "classes/" + code + "/results", `{"chapter":"../etc"}`, 404, "unknown_chapter", "no chapter"},
		{mia, "POST", "classes/" + code + "/results", `{"chapter":"01-lost-update","said":"more"}`, 400, "invalid", "no run"},
		{mia, "POST", "classes/" + code + "/results", `{"chapter":"01-lost-update","said":"<b>","run":"x"}`, 400, "must be fewer, all or more", "no prediction"},
		{mia, "POST", "classes/" + code + "/results", `{"chapter":"01-lost-update","said":"all","run":"x"}`, 404, "unknown_run", "no run"},
		{mia, "POST", "classes/" + code + "/results", `{"game":"x"}`, 503, "strategy_unavailable", "no games here"},
		{mia, "POST", "classes/" + code + "/results", `{"solved":"all"}`, 400, "is not a field here", "a claim"},
		{stranger, "POST", "classes/" + code + "/learners", `{"nickname":"=cmd()"}`, 400, "bad_nickname", "a formula"},
		{stranger, "POST", "classes/" + code + "/learners", `{"nickname":"mia"}`, 409, "nickname_taken", "the same nickname"},
		{stranger, "POST", "classes/" + code + "/learners", `{}`, 400, "nickname is missing", "no nickname"},
		{stranger, "POST", "classes/" + code + "/learners", `{"nickname":"` + strings.Repeat("x", 80<<10) + `"}`, 413, "too_large", "a large nickname"},
		{mia, "POST", "runs", goodRun, 403, "forbidden", "a learner starts a run"},
		{mia, "POST", "comparisons", "{}", 403, "forbidden", "a learner compares"},
		{mia, "PUT", "shop", "{}", 403, "forbidden", "a learner sets the shop"},
		{mia, "POST", "games", `{"level":"first-lost-update"}`, 503, "strategy_unavailable", "a learner plays"},
		{stranger, "POST", "games", `{"level":"first-lost-update"}`, 403, "forbidden", "a stranger plays"},
	} {
		if status, body := c.who.call(c.method, c.path, c.body); status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s (%s %s %.60s): %d %s; want %d and %q", c.because, c.method, c.path, c.body, status, body, c.status, c.says)
		}
	}
	status, body, _ = call{"POST", "/api/lab/v1/classes/" + code + "/results", `{"chapter":"02-one-statement"}`,
		map[string]string{"X-Class-Key": mia.key, "Origin": "http://evil.example"}}.do(t, h.URL)
	if status != http.StatusForbidden {
		t.Errorf("a foreign page: %d %s", status, body)
	}

	t.Log("a learner goes, and then the class")
	if status, body = teacher.call("DELETE", "classes/"+code+"/learners/Mia", ""); status != http.StatusNoContent {
		t.Errorf("removed: %d %s", status, body)
	}
	if status, body = mia.call("POST", "games", `{"level":"first-lost-update"}`); status != http.StatusForbidden {
		t.Errorf("who was removed plays: %d %s", status, body)
	}
	if status, body = teacher.call("DELETE", "classes/"+code, ""); status != http.StatusNoContent {
		t.Errorf("deleted: %d %s", status, body)
	}
	if status, body = teacher.call("GET", "classes/"+code, ""); status != http.StatusNotFound {
		t.Errorf("after it was deleted: %d %s", status, body)
	}
}
