package httpapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/goccy/go-yaml"

	"seckill/internal/backend"
	"seckill/internal/gate"
	"seckill/internal/httpapi"
)

const deploy = "../../deploy/"

var (
	series = regexp.MustCompile(`(?m)^([a-z_]+)(?:\{(.*)\})? \S+$`)
	pair   = regexp.MustCompile(`([a-z_]+)="((?:[^"\\]|\\.)*)"`)
)

// exposed are the metrics of a process with a SQL database, Redis and every gate.
func exposed(t *testing.T) map[string]map[string][]string {
	t.Helper()
	redis := miniredis.RunT(t)
	in, err := backend.Open(t.Context(), backend.Config{SQLitePath: filepath.Join(t.TempDir(), "ledger.db"), RedisAddrs: []string{redis.Addr()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	migrate(t, in)
	s := serverWith(t, nil, httpapi.Config{Instance: in, Gates: gate.Settings{Gates: []string{"rate", "sold-out", "waiting-room"}, RoomRate: 1}})
	all := map[string]map[string][]string{"up": {}}
	for _, m := range series.FindAllStringSubmatch(string(ask(t, s, "GET", "/metrics", "").body), -1) {
		if all[m[1]] == nil {
			all[m[1]] = map[string][]string{"job": nil, "instance": nil} // Prometheus adds them
		}
		for _, p := range pair.FindAllStringSubmatch(m[2], -1) {
			all[m[1]][p[1]] = append(all[m[1]][p[1]], p[2])
		}
	}
	if len(all) < 40 {
		t.Fatalf("only %d metrics are exposed", len(all))
	}
	all["up"] = map[string][]string{"job": nil, "instance": nil}
	return all
}

var (
	selector = regexp.MustCompile(`\b([a-z][a-z0-9_]*_[a-z0-9_]+|up)\b(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`([a-z_]+)(=~|=)"([^"]*)"`)
	by       = regexp.MustCompile(`\b(?:by|ignoring|on) \([^)]*\)`)
	words    = []string{"histogram_quantile", "label_values", "group_left"}
)

// checkExpression: every metric of a PromQL expression is exposed, with its labels, and
// with values that they have.
func checkExpression(t *testing.T, all map[string]map[string][]string, where, expr string) (metrics int) {
	t.Helper()
	if open, end := strings.Count(expr, "("), strings.Count(expr, ")"); open != end {
		t.Errorf("%s: %d parentheses open and %d close", where, open, end)
	}
	for _, m := range selector.FindAllStringSubmatch(by.ReplaceAllString(expr, ""), -1) {
		if slices.Contains(words, m[1]) {
			continue
		}
		metrics++
		labels := all[m[1]]
		if labels == nil {
			t.Errorf("%s: the process has no metric %s", where, m[1])
			continue
		}
		for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
			values, known := labels[l[1]]
			if !known {
				t.Errorf("%s: %s has no label %s", where, m[1], l[1])
			}
			for value := range strings.SplitSeq(l[3], "|") {
				if values != nil && !strings.HasPrefix(value, "$") && !slices.Contains(values, value) {
					t.Errorf("%s: the label %s of %s is never %q", where, l[1], m[1], value)
				}
			}
		}
	}
	return metrics
}

// The alerts ask for metrics that there are.
func TestAlerts(t *testing.T) {
	text, err := os.ReadFile(deploy + "prometheus/seckill.rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	all, found := exposed(t), 0
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			found += checkExpression(t, all, r.Alert, r.Expr)
			if r.Alert == "" || r.Annotations["summary"] == "" || !slices.Contains([]string{"page", "warn"}, r.Labels["severity"]) {
				t.Errorf("%q lacks a name, a summary or a severity", r.Alert)
			}
		}
	}
	if found < 12 {
		t.Errorf("only %d metrics are asked for", found)
	}
}

// So do the panels of the dashboard.
func TestDashboard(t *testing.T) {
	text, err := os.ReadFile(deploy + "grafana/seckill.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Templating struct {
			List []struct{ Name, Type, Query string }
		}
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	all, found := exposed(t), 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			found += checkExpression(t, all, p.Title, target.Expr)
		}
	}
	for _, v := range board.Templating.List {
		if v.Type == "query" {
			found += checkExpression(t, all, v.Name, v.Query)
		}
	}
	if found < 20 {
		t.Errorf("only %d metrics are asked for", found)
	}
}

// A check that could not fail is worth nothing.
func TestExpressionsThatAreWrong(t *testing.T) {
	all := map[string]map[string][]string{"seckill_requests_total": {"outcome": {"sold"}}}
	for _, expr := range []string{`rate(seckill_request_total[1m])`, `rate(seckill_requests_total{result="sold"}[1m])`,
		`rate(seckill_requests_total{outcome=~"sold|bought"}[1m])`, `rate(seckill_requests_total[1m]`} {
		seen := &testing.T{}
		if checkExpression(seen, all, "wrong", expr); !seen.Failed() {
			t.Errorf("%s passes", expr)
		}
	}
}
