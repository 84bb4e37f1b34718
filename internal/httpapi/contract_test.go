package httpapi_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/strategies"
)

func TestStrategies(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{})
	type strategy struct {
		Name, Title, Family, Source, Stock string
		Guarantees                         catalog.Guarantees
		Needs, Missing                     []string
		Broken, Available, Default         bool
		Files                              []struct{ Name, Content string }
		Titles, Lesson                     map[string]string
	}
	var list struct{ Strategies []strategy }
	ask(t, s, "GET", "/api/v1/strategies", "").into(t, &list)
	if len(list.Strategies) != len(strategies.All()) {
		t.Fatalf("%d strategies are listed, want %d", len(list.Strategies), len(strategies.All()))
	}
	for i, info := range strategies.All() {
		got := list.Strategies[i]
		if got.Name != info.Name || got.Title != info.TitleIn("en") || got.Stock != string(info.Stock) || got.Broken != info.Broken() ||
			got.Default != (info.Name == "conditional") || !maps.Equal(got.Guarantees, info.Guarantees) ||
			got.Titles["en"] != got.Title || got.Titles["zh"] == "" || got.Titles["zh"] != info.TitleIn("zh") ||
			got.Files != nil || got.Lesson != nil {
			t.Errorf("%s is listed as %+v", info.Name, got)
		}
		// SQLite has no row locks, and nothing else is configured.
		available := !slices.ContainsFunc(info.Needs, func(c backend.Capability) bool { return c != backend.SQL })
		if got.Available != available || got.Available != (len(got.Missing) == 0) {
			t.Errorf("%s: available %t because of %q, want %t", info.Name, got.Available, got.Missing, available)
		}
		var one strategy
		ask(t, s, "GET", "/api/v1/strategies/"+info.Name, "").into(t, &one)
		if len(one.Files) == 0 || !strings.Contains(one.Files[0].Content, info.Name) {
			t.Errorf("%s comes without the source that runs", info.Name)
		}
		shared := slices.ContainsFunc(one.Files, func(f struct{ Name, Content string }) bool { return f.Name == "fenced.go" })
		if shared != info.Fenced {
			t.Errorf("%s: the purchase behind the fence is shown: %t", info.Name, shared)
		}
		for _, f := range one.Files {
			if strings.HasSuffix(f.Name, ".md") {
				t.Errorf("%s: its lesson %s is shown as source", info.Name, f.Name)
			}
		}
		for _, language := range catalog.Languages {
			if want, err := info.Lesson(language); err != nil || one.Lesson[language] != want {
				t.Errorf("%s in %s: the lesson is %.40q, want %.40q (%v)", info.Name, language, one.Lesson[language], want, err)
			}
		}
	}
}
