package labapi

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/game"
	"seckill/web"
)

// What cannot be run again is refused, with what to do.
func TestReplays(t *testing.T) {
	kept, err := fs.ReadFile(web.Guarantees(), "naive.oversell.json")
	if err != nil {
		t.Fatal(err)
	}
	_, without, _ := start(t, nil)
	_, h, _ := start(t, func(c *Config) {
		c.Games = &game.Hall{Servers: func() backend.Config { return backend.Config{} }, Strategies: []catalog.Info{{Name: "naive"}}}
		c.Guarantees = fstest.MapFS{"matrix.json": {Data: []byte(`{"format":1}`)}, "naive.oversell.json": {Data: kept},
			"gone.oversell.json": {Data: []byte(strings.Replace(string(kept), `"naive"`, `"gone"`, 1))}}
	})
	for _, c := range []struct {
		name, url, body string
		status          int
		says            string
	}{
		{"a lab without games", without.URL, `{"example":"naive.oversell"}`, 503, "no games"},
		{"no name", h.URL, `{}`, 400, "example"},
		{"no such example", h.URL, `{"example":"naive.nothing"}`, 404, "unknown_example"},
		{"a file elsewhere", h.URL, `{"example":"../naive.oversell"}`, 404, "unknown_example"},
		{"no example", h.URL, `{"example":"matrix"}`, 400, "counterexample has"},
		{"a strategy that is gone", h.URL, `{"example":"gone.oversell"}`, 404, "unknown_strategy"},
		{"no MySQL", h.URL, `{"example":"naive.oversell"}`, 503, "seckill doctor"},
	} {
		status, body, _ := call{method: "POST", path: "/api/lab/v1/replays", body: c.body}.do(t, c.url)
		if status != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s: got %d, want %d with %q: %s", c.name, status, c.status, c.says, body)
		}
	}
}
