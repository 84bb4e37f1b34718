package labapi

import (
	"encoding/json"
	"strings"
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// A refusal is the answer to an invalid body.
type refusal struct {
	body        string
	status      int
	field, code string // of the first blame; no field: of the problem
	says        string // in the answer
}

func refuses(t *testing.T, base, path string, all []refusal) {
	t.Helper()
	for _, c := range all {
		status, body, header := call{method: "POST", path: path, body: c.body}.do(t, base)
		var p web.Problem
		json.Unmarshal([]byte(body), &p)
		got := seckill.FieldError{Code: p.Code}
		if len(p.Errors) > 0 {
			got = p.Errors[0]
		}
		if status != c.status || got.Field != c.field || got.Code != c.code || p.Detail == "" || !strings.Contains(body, c.says) ||
			header.Get("Content-Type") != web.ProblemType {
			t.Errorf("POST %.150s:\ngot %d %s\nwant %d %s %s that says %q", c.body, status, body, c.status, c.field, c.code, c.says)
		}
	}
}

func TestWrongSettingsAreRefusedByField(t *testing.T) {
	_, h, _ := start(t, nil)
	sale := func(more string) string {
		return `{"strategies":["good"],"stock":100,"buyers":2000,"concurrency":64` + more + `}`
	}
	rated := func(more string) string { return `{"strategies":["good"],"stock":100` + more + `}` }
	refuses(t, h.URL, "/api/lab/v1/runs", []refusal{
		{``, 415, "", "unsupported_media_type", ""},
		{`{`, 400, "", "invalid", "whole JSON object"},
		{`{"stock":1,"buyers":2,"concurrency":1}`, 400, "strategies", "none", ""},
		{`{"strategies":["a","b","c","d","e"],"stock":1,"buyers":2,"concurrency":1}`, 400, "strategies", "too_many", `"max":4`},
		{`{"strategies":["good","good"],"stock":1,"buyers":2,"concurrency":1}`, 400, "strategies", "repeated", ""},
		{`{"strategies":["good","nope"],"stock":1,"buyers":2,"concurrency":1}`, 404, "strategies", "unknown_strategy", `\"nope\"`},
		{`{"strategies":["good","far"],"stock":1,"buyers":2,"concurrency":1}`, 503, "strategies", "strategy_unavailable", "no etcd"},
		{`{"strategies":["good"],"stock":1000001}`, 400, "stock", "range", `"max":1000000`},
		{sale(`,"quantity":101`), 400, "quantity", "too_much", `"stock":100`},
		{sale(`,"sku_id":7`), 400, "sku_id", "unused", ""},
		{rated(`,"profile":"constant","duration_ns":1000000000,"rate":0.5`), 400, "rate", "range", "rate: 0.5 is out of range: give 1 to 50000"},
		{rated(`,"profile":"constant","rate":100,"duration_ns":121000000000`), 400, "duration", "range", `"max":120`},
		{rated(`,"profile":"constant","rate":5000,"duration_ns":100000000000`), 400, "rate", "too_many_requests", `"requests":500000`},
		{sale(`,"services":9`), 400, "services", "range", `"max":8`},
		{sale(`,"rate":"fast"`), 400, "rate", "wrong_type", "must be a number"},
	})
}

// A run has all its settings, also those that the call omitted.
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
	if string(begun.Settings) != want {
		t.Errorf("the settings are\n%s, want\n%s", begun.Settings, want)
	}
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
