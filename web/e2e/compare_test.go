package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"seckill/internal/catalog"
	"seckill/internal/history"
	"seckill/internal/lab"
	"seckill/internal/labapi"
	"seckill/internal/ledger"
	"seckill/loadtest/compare"
	"seckill/web"
)

// A fakeComparing is a comparison that goes as the test says.
type fakeComparing struct {
	turns chan compare.Standing
	ends  chan *compare.Result
}

func (f *fakeComparing) compare(ctx context.Context, _ []catalog.Info, o compare.Options) *compare.Result {
	for done := 0; ; done++ {
		o.OnStep(done, 6, compare.Step{Strategy: "conditional", What: "conditional"})
		select {
		case s := <-f.turns:
			o.OnTurn(s)
		case r := <-f.ends:
			return r
		case <-ctx.Done():
			r := goldenResult()
			r.Interrupted, r.Strategies, r.NotRun = true, []*compare.Entry{}, []compare.NotRun{}
			return r
		}
	}
}

// startComparing serves a page whose comparisons are fakes, kept in a folder.
func startComparing(t *testing.T, folder string) (url string, f *fakeComparing) {
	f = &fakeComparing{make(chan compare.Standing), make(chan *compare.Result)}
	service := httptest.NewServer(http.HandlerFunc(fakeService))
	server := labapi.New(labapi.Config{
		Lab: &fake{services: []lab.Service{{URL: service.URL, Up: true}}}, Compare: f.compare, History: history.Open(folder),
		Page: web.Files(), Guarantees: os.DirFS("testdata/guarantees"), Version: "test",
		Strategies: []catalog.Info{{Name: "naive"}, {Name: "conditional"}}, Missing: func(catalog.Info) []string { return nil },
	})
	host := httptest.NewServer(server)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := server.Close(ctx); err != nil {
			t.Error(err)
		}
		host.Close()
		service.Close()
	})
	return host.URL, f
}

// goldenResult is the one that the reports are tested with; a strategy of it
// tries to write HTML.
func goldenResult() *compare.Result {
	f, err := os.Open("../../loadtest/compare/testdata/result.json")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	r, err := compare.Read(f)
	if err != nil {
		panic(err)
	}
	return r
}

func TestComparisonIsWatched(t *testing.T) {
	url, f := startComparing(t, t.TempDir())
	b := startBrowser(t)
	tb := b.open(url+"/#/compare", wide)
	tb.says(".compare-form", "2 of 3 chosen")
	tb.says(".idle", "Nothing is being compared")
	tb.says(".estimate", "Takes about")
	tb.inEveryLook("compare-empty")

	t.Log("what is wrong is said in place, in the language chosen")
	tb.forgive("404 (Not Found)")
	tb.fill("#stock", "0")
	tb.fill("#seed", "-3")
	tb.click(".search .quiet:last-child")
	tb.click(".compare-form .run")
	tb.says("#strategies-wrong", "Choose at least one strategy")
	tb.says("#stock-wrong", "from 1 to 1,000,000")
	tb.says("#seed-wrong", "18446744073709551615")
	tb.await(`document.activeElement.id === "strategies"`)
	tb.click("#language")
	tb.says("#stock-wrong", "请填 1 到 1,000,000 之间的整数")
	tb.inEveryLook("compare-wrong-zh")
	tb.click("#language")

	t.Log("strategies by search, family and all")
	tb.fill("#wanted", "condit")
	tb.await(`document.querySelectorAll(".choice li").length === 1`)
	tb.click(`.choice input[value="conditional"]`)
	tb.fill("#wanted", "no such")
	tb.says(".boxes", "No strategy matches “no such”")
	tb.eval(`{ const i = document.querySelector("#wanted"); i.value = ""; i.dispatchEvent(new Event("input", {bubbles: true})); }`)
	tb.await(`document.querySelector(".choice .whole input").indeterminate`)
	tb.click(".choice .whole input")
	tb.says(".compare-form", "2 of 3 chosen")
	tb.says(".command", "--strategies all")

	t.Log("a link brings the settings back")
	tb.fill("#stock", "150")
	tb.fill("#buyers", "200")
	tb.fill("#seed", "18446744073709551615")
	tb.click(`.choice input[value="naive"]`)
	tb.says(".command", "seckill compare --strategies conditional --stock 150 --buyers 200 --concurrency 64 --quantity 1 --repeats 3 --turn 500ms --few 2 --seed 18446744073709551615")
	tb.await(`location.hash === "#/compare?strategies=conditional&stock=150&buyers=200&seed=18446744073709551615"`)
	tb.do(chromedp.Reload())
	tb.says(".command", "--strategies conditional --stock 150 --buyers 200")
	tb.await(`document.querySelector("#seed").value === "18446744073709551615" && !document.querySelector('.choice input[value="naive"]').checked`)

	t.Log("it is on, in every tab")
	tb.click(".compare-form .run")
	tb.says(".banner.busy", "Measuring conditional")
	tb.await(`/^#\/compare\/\w{20,}\?/.test(location.hash)`) // an address of its own
	second := b.open(url+"/#/compare", wide)
	second.says(".banner.busy", "Measuring conditional")
	f.turns <- compare.Standing{Strategy: "naive", Concurrency: 64, Rounds: 1, Verdict: ledger.Oversold, Breaks: true, Expected: true, Sales: 812, P99: 40, Rates: []float64{812}}
	f.turns <- compare.Standing{Strategy: "conditional", Concurrency: 64, Rounds: 1, Verdict: ledger.Held, Expected: true, Sales: 4810, P99: 12, Rates: []float64{4810}}
	f.turns <- compare.Standing{Strategy: "conditional", Concurrency: 2, Rounds: 1, Verdict: ledger.Held, Expected: true, Sales: 1, P99: 1}
	for _, tab := range []*tab{tb, second} {
		tab.says(".standings", "OVERSOLD, as known")
		tab.says(".standings", "4,810")
		tab.says(".banner.busy", "3 of 6 turns")
		tab.await(`document.querySelectorAll(".standings tbody tr").length === 2 && document.querySelectorAll(".standings .dots.under").length === 2`)
	}
	tb.inEveryLook("compare-running")
	tb.forgive("409 (Conflict)")
	tb.await(`document.querySelector(".compare-form .run").ariaDisabled === "true"`)
	f.ends <- goldenResult()
	for _, tab := range []*tab{tb, second} {
		tab.says("[data-outcome]", "differed from what is known")
		tab.await(`document.querySelectorAll(".results tbody tr").length === 6 && !document.querySelector(".results b")`)
	}
	tb.says(".estimate", "Takes about")
	tb.inEveryLook("compare-result")

	t.Log("each round is a dot, and what the rounds say is a sentence")
	tb.await(`document.querySelector(".sales-bars .dots").getAttribute("d").match(/M/g).length === 2`)
	tb.says(".pairs", "the fastest that held: conditional")
	tb.says(".sentences", "conditional is 4.00 × for-update (4.00–4.00)")
	tb.says(".sentences [data-apart=no]:nth-child(3)", "conditional and lucky cannot be told apart (0.63–1.59)")
	tb.await(`document.querySelectorAll(".latency-rows .count").length > 10 && document.querySelectorAll(".plot").length === 2`)

	t.Log("a column's head sorts")
	tb.eval(`window.names = () => [...document.querySelectorAll(".results tbody th")].map((th) => th.innerText).join()`)
	tb.click(".results thead th:nth-child(6) .sort")
	tb.await(`names().startsWith("for-update,") && document.querySelector("[aria-sort]").ariaSort === "descending"`)
	tb.click(".results thead th:nth-child(1) .sort")
	tb.await(`names().startsWith("conditional,evil") && document.querySelector("[aria-sort]").ariaSort === "ascending"`)
	tb.click(".results thead th:nth-child(1) .sort")
	tb.await(`names().startsWith("version,")`)

	t.Log("stopped, and removed")
	tb.click(".compare-form .run")
	tb.says(".banner.busy", "Measuring conditional")
	tb.click(".compare-form .stop")
	tb.says("[data-outcome]", "Nothing was measured")
	tb.await(`document.querySelectorAll(".history tbody tr").length === 2`)
	tb.click(".history tbody tr:first-child .row-buttons button")
	tb.says(".history tbody tr:first-child .row-buttons", "Remove?")
	tb.click(".history tbody tr:first-child .row-buttons button")
	tb.await(`document.querySelectorAll(".history tbody tr").length === 1`)
	second.await(`document.querySelectorAll(".history tbody tr").length === 1`)
	tb.says("#stage", "There is no such comparison here")
}
