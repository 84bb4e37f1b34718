package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/point"
	"seckill/internal/seckill"
	"seckill/strategies"
)

// The OpenAPI description and the routes name the same calls, on both listeners.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{Points: &point.Points{}})
	r := ask(t, s, "GET", "/openapi.json", "")
	doc := read[struct {
		Paths, Components map[string]map[string]json.RawMessage
	}](t, r)
	var described []string
	for path, item := range doc.Paths {
		for method := range item {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	parameter := regexp.MustCompile(`[:*](\w+)`)
	slices.Sort(described)
	for _, handler := range []http.Handler{s.Handler, s.AdminHandler} {
		routed := labtest.Map(handler.(*gin.Engine).Routes(), func(route gin.RouteInfo) string {
			return route.Method + " " + parameter.ReplaceAllString(route.Path, "{$1}")
		})
		slices.Sort(routed)
		labtest.Same(t, strings.Join(routed, "\n"), strings.Join(described, "\n"), "the routes, and openapi.json")
	}
	for _, ref := range regexp.MustCompile(`"#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(string(r.body), -1) {
		if doc.Components[ref[1]][ref[2]] == nil {
			t.Errorf("%s is used and not described", ref[0])
		}
	}
	var problem struct {
		Properties struct{ Code struct{ Enum []string } }
	}
	labtest.Must(t, json.Unmarshal(doc.Components["schemas"]["Problem"], &problem))
	codes := labtest.Map(judge.ErrorCodes, func(e judge.ErrorCode) string { return e.Code })
	slices.Sort(codes)
	labtest.Same(t, slices.Sorted(slices.Values(problem.Properties.Code.Enum)), codes, "the codes of problems")
}

// The list has every strategy, with the reasons why it cannot run here. A single strategy comes
// with its source and its lesson.
func TestStrategies(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{})
	type file struct{ Name, Content string }
	type strategy struct {
		Name, Stock                string
		Missing                    []string
		Broken, Available, Default bool
		Files                      []file
		Titles, Lesson             map[string]string
	}
	list := read[struct{ Strategies []strategy }](t, ask(t, s, "GET", "/api/v1/strategies", ""))
	if len(list.Strategies) != len(strategies.All()) {
		t.Fatalf("%d strategies are listed, want %d", len(list.Strategies), len(strategies.All()))
	}
	for i, info := range strategies.All() {
		got := list.Strategies[i]
		// SQLite has no row locks, and nothing else is configured.
		available := !slices.ContainsFunc(info.Needs, func(c backend.Capability) bool { return c != backend.SQL })
		if got.Name != info.Name || got.Stock != string(info.Stock) || got.Broken != info.Broken() ||
			got.Default != (info.Name == "conditional") ||
			got.Available != available || available != (len(got.Missing) == 0) {
			t.Errorf("%s is listed as %+v", info.Name, got)
		}
		one := read[strategy](t, ask(t, s, "GET", "/api/v1/strategies/"+info.Name, ""))
		if len(one.Files) == 0 || !strings.Contains(one.Files[0].Content, info.Name) ||
			slices.ContainsFunc(one.Files, func(f file) bool { return f.Name == "fenced.go" }) != info.Fenced {
			t.Errorf("%s comes without the source that runs", info.Name)
		}
		for _, language := range catalog.Languages {
			if want, err := info.Lesson(language); err != nil || one.Lesson[language] != want ||
				one.Titles[language] != info.TitleIn(language) {
				t.Errorf("%s in %s: %q with the lesson %.40q (%v)", info.Name, language, one.Titles[language],
					one.Lesson[language], err)
			}
		}
	}
}

// Each file of testdata/calls is a conversation with its own server. labtest.Calls says how to read it.
func TestCalls(t *testing.T) {
	server := onMySQL(t, backend.Redis)
	reached, sold := 0, 0
	f := sells()
	sell := f.deduct
	f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		reached++
		return sell(ctx, p)
	}
	broken := catalog.Info{Name: "broken", New: func(catalog.Deps) (seckill.Strategy, error) { return f, errors.New("no") }}
	for name, s := range map[string]*httpapi.Server{
		"refusals":     serverWith(t, f, httpapi.Config{Points: &point.Points{}, Infos: []catalog.Info{broken}}),
		"sale":         serverWith(t, nil, httpapi.Config{}),
		"restock":      serverWith(t, nil, httpapi.Config{}),
		"reservations": serverWith(t, nil, httpapi.Config{Instance: server}),
		"counter":      serverWith(t, nil, httpapi.Config{Instance: server, Points: &point.Points{}}),
		"accepted":     serverWith(t, nil, httpapi.Config{Instance: onMySQL(t, backend.Redis)}), // its own claims
	} {
		t.Run(name, func(t *testing.T) {
			calls := labtest.Calls{TB: t, SQL: func(statement string) error { return s.Instance.DB.Exec(statement).Error }}
			calls.Ask = func(method, path, body string, headers []string) labtest.Answer {
				h := s.Handler
				if strings.HasPrefix(path, "/admin/") {
					h = s.AdminHandler
				}
				r := handled(t, h, newRequest(method, path, body, headers...))
				if name == "refusals" && method == "POST" && strings.HasPrefix(path, "/api/v1/seckill") &&
					r.status == http.StatusOK {
					sold++
				}
				return labtest.Answer{Status: r.status, Header: r.header, Body: r.body}
			}
			calls.Run("testdata/calls/" + name + ".txt")
			if name == "refusals" && reached != sold {
				t.Errorf("%d purchases reached the strategy, %d were answered", reached, sold)
			}
		})
	}
}
