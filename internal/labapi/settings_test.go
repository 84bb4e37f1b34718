package labapi

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/web"
)

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
