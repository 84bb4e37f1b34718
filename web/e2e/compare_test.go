package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/history"
	"seckill/internal/lab"
	"seckill/internal/labapi"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
	"seckill/loadtest/compare"
	"seckill/web"
)

// A fakeComparing is a comparison that goes as the test says.
type fakeComparing struct {
	turns chan compare.Entry
	ends  chan *compare.Result
}

func (f *fakeComparing) compare(ctx context.Context, _ []catalog.Info, o compare.Options) *compare.Result {
	for done := 0; ; done++ {
		o.OnStep(done, 6, compare.Step{Strategy: "conditional", Concurrency: 64})
		select {
		case s := <-f.turns:
			o.OnTurn(s)
		case r := <-f.ends:
			return r
		case <-ctx.Done():
			r := goldenResult()
			r.Interrupted, r.Entries = true, []*compare.Entry{}
			return r
		}
	}
}

// startComparing serves a page whose comparisons are fakes, kept in a folder.
func startComparing(t *testing.T, folder string) (url string, f *fakeComparing) {
	f = &fakeComparing{make(chan compare.Entry), make(chan *compare.Result)}
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

// measured is an entry of a comparison.
func measured(name string, concurrency int, verdict ledger.Verdict, answers float64) compare.Entry {
	figures := map[string]measure.Spread{}
	for id, x := range map[string]float64{compare.Answers: answers, compare.Sales: answers / 10, compare.SellOut: 1000 / answers, compare.Sold: 1,
		compare.BoughtP50: 4, compare.BoughtP99: 20, compare.RefusedP50: 1, compare.RefusedP99: 2, compare.Commands: 4, compare.Services: .2} {
		figures[id] = measure.Spread{Median: x, Low: x, High: x}
	}
	return compare.Entry{Candidate: compare.Candidate{Strategy: name, Breaks: verdict != ledger.Held}, Concurrency: concurrency, Verdict: verdict, Expected: true,
		Served: loadtest.Yes, Violations: []compare.Violation{}, Problems: []string{}, Figures: figures,
		Latency: []loadtest.Percentile{{Percent: 50, Micros: 4000}, {Percent: 99, Micros: 20_000}, {Percent: 100, Micros: 25_000}}}
}

// goldenResult has a strategy that is faster, one that is broken, and one that tries
// to write HTML.
func goldenResult() *compare.Result {
	r := &compare.Result{Format: compare.Format, Settings: compare.Presets()[0].Settings, Baseline: "conditional", Servers: []backend.Status{},
		Durability: []measure.ServerSetting{}, NotRun: []compare.NotRun{}, Problems: []string{}}
	r.Settings.Crowds = []int{8}
	for _, concurrency := range []int{64, 8} {
		for _, e := range []compare.Entry{measured("conditional", concurrency, ledger.Held, 3234), measured("redis-counter-mysql", concurrency, ledger.Held, 8408),
			measured("naive", concurrency, ledger.Oversold, 9000), measured("<b>evil</b>", concurrency, ledger.Held, 3300)} {
			r.Entries = append(r.Entries, &e)
		}
	}
	r.Entries[1].Factor = &measure.Ratio{Times: 2.6, Low: 2.4, High: 2.8, Rounds: 3}
	r.Entries[3].Factor = &measure.Ratio{Times: 1.02, Low: .9, High: 1.2, Rounds: 3}
	return r
}

func TestComparisonIsWatched(t *testing.T) {
	url, f := startComparing(t, t.TempDir())
	b := startBrowser(t)
	tb := b.open(url+"/#/compare", wide)
	tb.says(".compare-form", "of 3 chosen") // of the preset's two, those that the lab has
	tb.says(".idle", "Nothing is being compared")
	tb.says(".estimate", "Takes about")
	tb.await(`document.querySelectorAll(".sales input").length === 4 && !document.querySelector(".advanced").open`)
	tb.inEveryLook("compare-empty")

	t.Log("what is wrong is said in place, in the language chosen")
	tb.forgive("404 (Not Found)")
	tb.fill("#stock", "0")
	tb.click(".advanced summary")
	tb.fill("#seed", "-3")
	tb.click(".search .quiet:last-child")
	tb.click(".compare-form .run")
	tb.says("#strategies-wrong", "Choose at least one strategy")
	tb.says("#stock-wrong", "from 1 to")
	tb.await(`document.querySelector("#seed-wrong").textContent.includes("18446744073709551615")`)
	tb.await(`document.activeElement.id === "strategies"`)
	tb.click("#language")
	tb.says("#stock-wrong", "请填 1 到")
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

	t.Log("a preset sets the sale, and a link brings the settings back")
	tb.click(`.sales input[value="many-skus"]`)
	tb.await(`document.querySelector("#skus").value === "50" && document.querySelector("#stock").value === "20"`)
	tb.click(`.sales input[value="flash-sale"]`)
	tb.click(`.choice input[value="conditional"]`)
	tb.click(`.choice input[value="naive"]`)
	tb.fill("#stock", "150")
	tb.fill("#seed", "18446744073709551615")
	tb.await(`location.hash.includes("stock=150") && location.hash.includes("seed=18446744073709551615")`)
	tb.do(chromedp.Reload())
	tb.await(`document.querySelector("#seed")?.value === "18446744073709551615" && document.querySelector("#stock").value === "150"`)

	t.Log("it is on, in every tab")
	tb.click(".compare-form .run")
	tb.says(".banner.busy", "Measuring conditional")
	tb.await(`/^#\/compare\/\w{20,}\?/.test(location.hash)`) // an address of its own
	second := b.open(url+"/#/compare", wide)
	second.says(".banner.busy", "Measuring conditional")
	f.turns <- measured("naive", 64, ledger.Oversold, 812)
	f.turns <- measured("conditional", 64, ledger.Held, 4810)
	f.turns <- measured("conditional", 8, ledger.Held, 1)
	for _, tab := range []*tab{tb, second} {
		tab.says(".standings", "oversold, as known")
		tab.says(".standings", "4,810")
		tab.says(".banner.busy", "3 of 6 turns")
		tab.await(`document.querySelectorAll(".standings tbody tr").length === 2`)
	}
	tb.inEveryLook("compare-running")
	tb.forgive("409 (Conflict)")
	tb.await(`document.querySelector(".compare-form .run").ariaDisabled === "true"`)
	f.ends <- goldenResult()
	for _, tab := range []*tab{tb, second} {
		tab.says("[data-outcome]", "redis-counter-mysql answers 2.60 × as many buyers as conditional (2.40–2.80)")
		tab.says("[data-outcome]", "oversold, as known")
		tab.await(`document.querySelectorAll(".results tbody tr").length === 4 && !document.querySelector(".results b")`)
	}
	tb.await(`document.querySelectorAll(".chart canvas").length === 3`) // throughput, waits, time to sell out
	tb.inEveryLook("compare-result")

	t.Log("a column's head sorts")
	tb.eval(`window.names = () => [...document.querySelectorAll(".results tbody th")].map((th) => th.innerText).join()`)
	tb.click(".results thead th:nth-child(4) .sort")
	tb.await(`names().startsWith("naive,redis-counter-mysql") && document.querySelector("[aria-sort]").ariaSort === "descending"`)
	tb.click(".results thead th:nth-child(1) .sort")
	tb.await(`names().startsWith("<b>evil</b>,conditional") && document.querySelector("[aria-sort]").ariaSort === "ascending"`)

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
