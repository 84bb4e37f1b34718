package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/strategies"
)

// Every strategy is listed, with what it is missing here, and one comes with its
// source and its lesson.
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
	var list struct{ Strategies []strategy }
	ask(t, s, "GET", "/api/v1/strategies", "").into(t, &list)
	if len(list.Strategies) != len(strategies.All()) {
		t.Fatalf("%d strategies are listed, want %d", len(list.Strategies), len(strategies.All()))
	}
	for i, info := range strategies.All() {
		got := list.Strategies[i]
		// SQLite has no row locks, and nothing else is configured.
		available := !slices.ContainsFunc(info.Needs, func(c backend.Capability) bool { return c != backend.SQL })
		if got.Name != info.Name || got.Stock != string(info.Stock) || got.Broken != info.Broken() || got.Default != (info.Name == "conditional") ||
			got.Available != available || available != (len(got.Missing) == 0) {
			t.Errorf("%s is listed as %+v", info.Name, got)
		}
		var one strategy
		ask(t, s, "GET", "/api/v1/strategies/"+info.Name, "").into(t, &one)
		if len(one.Files) == 0 || !strings.Contains(one.Files[0].Content, info.Name) ||
			slices.ContainsFunc(one.Files, func(f file) bool { return f.Name == "fenced.go" }) != info.Fenced {
			t.Errorf("%s comes without the source that runs", info.Name)
		}
		for _, language := range catalog.Languages {
			if want, err := info.Lesson(language); err != nil || one.Lesson[language] != want || one.Titles[language] != info.TitleIn(language) {
				t.Errorf("%s in %s: %q with the lesson %.40q (%v)", info.Name, language, one.Titles[language], one.Lesson[language], err)
			}
		}
	}
}
