package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func TestComparisonIsWatched(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	tb := f.open("compare")
	tb.await(`$$(".sales input").length === 4 && !$(".advanced").open`)
	tb.await(`$(".takes-part").innerText.trim() === "conditional"`) // the lab has no other one of the preset

	t.Log("by keyboard: a preset, which sets the sale, and a whole family")
	tb.reach(".sales input:checked")
	tb.press(kb.ArrowDown, kb.ArrowDown)
	tb.await(`$(".sales input:checked").value === "many-skus" && $("#skus").value === "50" && $("#stock").value === "20"`)
	tb.press(kb.ArrowUp, kb.ArrowUp)
	tb.await(`$(".sales input:checked").value === "flash-sale"`)
	tb.reach(".advanced summary")
	tb.press("\r")
	tb.says(".choice legend", "1 of 3 chosen")
	tb.await(`$(".choice .family li code").innerText === "conditional"`) // the six well-known strategies come first
	tb.reach(".choice .family:nth-child(2) .whole input")
	tb.press(" ")
	tb.says(".choice legend", "2 of 3 chosen")

	t.Log("what is wrong is said in place")
	tb.forgive("404 (Not Found)")
	tb.fill("#stock", "0")
	tb.click(".search .quiet:last-child")
	tb.click(".compare-form .run")
	tb.says("#strategies-wrong", "Choose a strategy")
	tb.says("#stock-wrong", "from 1 to")
	tb.good("compare, with wrong input")

	t.Log("a link brings the settings back")
	tb.click(".search .quiet")
	tb.chosen("conditional", "naive")
	tb.fill("#stock", "150")
	tb.fill("#seed", "18446744073709551615")
	tb.reach("[name=keys]")
	tb.press(" ")
	tb.await(`location.hash.includes("stock=150") && location.hash.includes("keys=on") &&
		location.hash.includes("seed=18446744073709551615")`)
	tb.do(chromedp.Reload())
	tb.await(`$("#seed")?.value === "18446744073709551615" && $("#stock").value === "150" && $("[name=keys]").checked`)

	t.Log("it is on, in every tab")
	tb.reach(".compare-form .run")
	tb.press("\r")
	tb.says(".banner.busy", "Measuring conditional")
	tb.await(`/^#\/compare\/\w{20,}\?/.test(location.hash)`) // the comparison has an address of its own
	second := f.open("compare")
	second.says(".banner.busy", "Measuring conditional")
	f.turns <- true
	f.turns <- true
	for _, tab := range []*tab{tb, second} {
		tab.says(".banner.busy", "2 of 6 turns")
	}
	tb.await(`$(".compare-form .run").ariaDisabled === "true"`)
	tb.good("comparing")
	f.ends <- goldenResult()
	for _, tab := range []*tab{tb, second} {
		tab.says("[data-outcome]", "redis-counter-mysql answers 2.60 × as many buyers as conditional (2.40–2.80)",
			"oversold, as known")
		tab.await(`$$(".results tbody tr").length === 5 && !$(".results b")`)
	}
	tb.says(".results", "conditional, no key", "0.81–0.89")
	tb.says(".ran-on", "lease 8,000 ms, wait 3,000 ms, poll 10 ms")
	tb.await(`$$(".chart canvas").length === 2`) // charts of throughput and of waits
	tb.good("compared")

	t.Log("a column's head sorts")
	tb.eval(`window.names = () => $$(".results tbody th").map((th) => th.innerText).join()`)
	tb.click(".results thead th:nth-child(4) .sort")
	tb.await(`names().startsWith("naive,redis-counter-mysql") && $("[aria-sort]").ariaSort === "descending"`)
	tb.click(".results thead th:nth-child(1) .sort")
	tb.await(`names().startsWith("<b>evil</b>,conditional") && $("[aria-sort]").ariaSort === "ascending"`)

	t.Log("stopped")
	tb.click(".compare-form .run")
	tb.says(".banner.busy", "Measuring conditional")
	tb.click(".compare-form .stop")
	tb.says("[data-outcome]", "Nothing was measured")
	tb.await(`$$(".history tbody tr").length === 2`)
	second.await(`$$(".history tbody tr").length === 2`)
}
