package httpapi_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"seckill/internal/httpapi"
)

// The description and the routes name the same calls.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{})
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Schemas map[string]json.RawMessage
		}
	}
	r := ask(t, s, "GET", "/openapi.json", "")
	r.into(t, &doc)
	var described, routed []string
	for path, item := range doc.Paths {
		for method := range item {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	parameter := regexp.MustCompile(`:(\w+)`)
	for _, route := range s.Handler().(*gin.Engine).Routes() {
		if strings.HasPrefix(route.Path, "/debug/pprof/") {
			continue // Go's own, with its own description
		}
		routed = append(routed, route.Method+" "+parameter.ReplaceAllString(route.Path, "{$1}"))
	}
	slices.Sort(described)
	slices.Sort(routed)
	if !slices.Equal(described, routed) {
		t.Errorf("openapi.json describes\n%s\nthe routes are\n%s", strings.Join(described, "\n"), strings.Join(routed, "\n"))
	}
	for _, ref := range regexp.MustCompile(`"#/components/schemas/(\w+)"`).FindAllStringSubmatch(string(r.body), -1) {
		if doc.Components.Schemas[ref[1]] == nil {
			t.Errorf("the schema %s is used and not described", ref[1])
		}
	}
}
