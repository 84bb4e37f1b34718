package labapi

import (
	"encoding/json"
	"strings"
	"testing"

	"seckill/loadtest/compare"
)

func TestPairsOfAComparison(t *testing.T) {
	_, h, f := startComparing(t, nil)
	page := watch(t, h.URL)
	page.next("hello")
	begun, _ := f.begin(t, h.URL, goodComparison)
	path := comparisonsPath + "/" + begun.ID + "/pairs"
	if status, body, _ := (call{method: "GET", path: path}).do(t, h.URL); status != 409 {
		t.Errorf("while it is on: %d %s", status, body)
	}
	f.end <- measured(100)
	page.ended()
	for query, want := range map[string]string{"": "conditional", "?with=version": "version"} {
		var got struct {
			With  string
			Pairs []compare.Pair
		}
		status, body, _ := call{method: "GET", path: path + query}.do(t, h.URL)
		if json.Unmarshal([]byte(body), &got); status != 200 || got.With != want || len(got.Pairs) != 5 {
			t.Errorf("GET %s: %d %s", path+query, status, body)
		}
		for _, p := range got.Pairs {
			if (p.Faster == want) == (p.Slower == want) || p.Times < 1 {
				t.Errorf("beside %s: %+v", want, p)
			}
		}
	}
	if status, body, _ := (call{method: "GET", path: path + "?with=nope"}).do(t, h.URL); status != 400 || !strings.Contains(body, "not_compared") {
		t.Errorf("an unknown strategy: %d %s", status, body)
	}
}

func TestTwoComparisonsSideBySide(t *testing.T) {
	_, h, f := startComparing(t, nil)
	page := watch(t, h.URL)
	page.next("hello")
	var ids []string
	for _, stock := range []int64{100, 100, 150} {
		begun, _ := f.begin(t, h.URL, goodComparison)
		r := measured(stock)
		r.Strategies[0].Sales.Median *= float64(1 + len(ids)) // no baseline, so that rates are compared
		r.Strategies[0].Ratios = nil
		if len(ids) == 1 {
			r.Targets = r.Targets[:1]
		}
		f.end <- r
		page.ended()
		ids = append(ids, begun.ID)
	}
	type answer struct {
		Comparable  bool
		Against     compare.Against
		Differences []struct {
			Setting string
			Was, Is int64
		}
		Caveats []string
	}
	ask := func(path string) (status int, a answer) {
		status, body, _ := call{method: "GET", path: comparisonsPath + path}.do(t, h.URL)
		json.Unmarshal([]byte(body), &a)
		return status, a
	}
	status, a := ask("/" + ids[1] + "/against/" + ids[0])
	if c := a.Against.Changes; status != 200 || !a.Comparable || len(c) != 6 || c[0].Percent < 99.9 || c[0].Percent > 100.1 || c[0].By != "sales_per_second" {
		t.Errorf("a strategy twice as fast: %d %+v", status, a)
	}
	if strings.Join(a.Caveats, ",") != "services" {
		t.Errorf("caveats %v, want services: it was another number", a.Caveats)
	}
	_, a = ask("/" + ids[2] + "/against/" + ids[0])
	if a.Comparable || len(a.Differences) != 1 || a.Differences[0].Setting != "stock" || a.Differences[0].Was != 100 || a.Differences[0].Is != 150 {
		t.Errorf("another stock: %+v", a)
	}
	if _, a = ask("/" + ids[0] + "/against/" + ids[1] + "?limit=60"); a.Against.Failed() {
		t.Errorf("half as fast, within a limit of 60 percent: %+v", a.Against)
	}
	for path, want := range map[string]int{
		"/" + ids[0] + "/against/none": 404, "/none/against/" + ids[0]: 404, "/" + ids[0] + "/against/" + ids[1] + "?limit=x": 400,
	} {
		if status, _ := ask(path); status != want {
			t.Errorf("GET %s: %d, want %d", path, status, want)
		}
	}
}
