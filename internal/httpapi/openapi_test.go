package httpapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"seckill/internal/fault/point"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/wire"
)

// The description and the routes name the same calls, on both listeners.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{Points: &point.Points{}})
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components map[string]map[string]json.RawMessage
	}
	r := ask(t, s, "GET", "/openapi.json", "")
	r.into(t, &doc)
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
	for _, handler := range []http.Handler{s.Handler(), s.AdminHandler()} {
		var routed []string
		for _, route := range handler.(*gin.Engine).Routes() {
			routed = append(routed, route.Method+" "+parameter.ReplaceAllString(route.Path, "{$1}"))
		}
		slices.Sort(routed)
		if !slices.Equal(described, routed) {
			t.Errorf("openapi.json describes\n%s\nthe routes are\n%s", strings.Join(described, "\n"), strings.Join(routed, "\n"))
		}
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
	var codes []string
	for _, refusal := range wire.Refusals {
		codes = append(codes, refusal.Code)
	}
	if slices.Sort(codes); !slices.Equal(slices.Sorted(slices.Values(problem.Properties.Code.Enum)), codes) {
		t.Errorf("problems have the codes %q, want %q", problem.Properties.Code.Enum, codes)
	}
}
