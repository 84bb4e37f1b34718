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
