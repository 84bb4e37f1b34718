package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A counterexample is shown as a diagram with playback. It has an address of its own, and can be saved as a file.
func TestCounterexamplesArePlayed(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("guarantees")
	tb.click(`a.mark[data-cell="naive.oversell"]`)
	tb.says("h1", "naive sells 3 of 2")
	tb.says(".where", "Before the first step of 11")
	tb.await(`$(".state .number").dataset.num === "2"`)
	tb.await(`!$(".ending, .chosen")`)

	t.Log("forwards with the keyboard, to its end")
	for range 11 {
		tb.press(kb.ArrowRight)
	}
	tb.says(".where", "Step 11 of 11")
	tb.says(".ending", "Sold more than there were", "3 units sold out of 2", "A: sold 2, 0 left")
	tb.await(`$(".state .number").dataset.num === "0"`)

	t.Log("backwards, and a reload stays where it was")
	tb.press(kb.Home)
	tb.says(".where", "Before the first step")
	tb.press(kb.End, kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft, kb.ArrowLeft)
	tb.says(".where", "Step 7 of 11")
	tb.says(".chosen", "COMMIT")
	tb.await(`$(".state .number").dataset.num === "1" && !$(".ending")`)
	tb.do(chromedp.Reload())
	tb.says(".where", "Step 7 of 11")
	tb.shows(`.drawing rect.d-current`)

	t.Log("a step is chosen, and shows its command in full")
	tb.click(`.drawing [data-step="5"]`)
	tb.says(".chosen pre", "UPDATE stock SET num = 1 WHERE id = 1")
	tb.await(`$(".chosen .hl-word").innerText === "UPDATE"`)

	t.Log("as files, and it plays by itself")
	tb.saves()
	tb.click(".downloads [data-file=svg]")
	tb.standsAlone(tb.saved("naive.oversell.svg"))
	tb.await(`$(".downloads a").download === "naive.oversell.json"`)
	tb.speak("zh-CN")
	tb.says(".where", "第 5 步")
	tb.press(kb.End, kb.ArrowLeft)
	tb.says(".where", "第 10 步")
	tb.click(".play")
	tb.says(".where", "第 11 步")

	t.Log("the diagram says who holds what, and who thinks so no more")
	tb.speak("en")
	tb.goTo("trace/redis-lua.lease-end?step=8")
	tb.says(".beliefs", "thinks it holds the lock")
	tb.await(`$$(".drawing .d-verdict").some((v) => v.textContent.includes("3 units sold out of 2"))`)
	tb.await(`$(".drawing .d-bar.d-stale") !== null && $$(".drawing .d-bar.d-held").length >= 2 && $$(".drawing .d-chip").length >= 7`)
	tb.await(`$$(".drawing .d-belief.d-wrong").map((b) => b.textContent).join(" ").includes("no longer true")`)
	tb.await(`$$(".drawing .d-foot").some((line) => line.textContent.includes("from the moment the buyer learns that it has the lock"))`)
	tb.await(`$(".drawing desc").textContent.includes("9 B to MySQL: COMMIT")`)
	tb.speak("zh-CN")
	tb.await(`$(".drawing desc").textContent.includes("B 发给 MySQL：COMMIT")`)

	t.Log("a command that is late leaves its sender's line, and arrives there again; the row stays locked until then")
	tb.speak("en")
	tb.goTo("guarantees")
	tb.click(`a.mark[data-cell="redis-lua.late-command"]`)
	tb.says("h1", "redis-lua: lost updates")
	tb.says(".cast", "A buys 2", "B buys 1, in process 2")
	tb.click(`.drawing [data-step="6"]`)
	tb.says(".chosen", "✉ on its way", "Its sender gets no answer in time")
	tb.await(`$$(".drawing .d-foot").some((line) => line.textContent.includes("a command on its way"))`)
	tb.click(`.drawing [data-step="12"]`)
	tb.says(".chosen", "✉ arrives late")
	tb.await(`(() => {
		const locked = $$(".drawing .d-bar.d-row").map((bar) => bar.getBoundingClientRect());
		const late = $(".drawing .d-late").getBoundingClientRect();
		return locked.some((row) => row.top < late.top && Math.abs(row.bottom - late.bottom) < 40);
	})()`)
	tb.good("trace late")
	tb.click(`.controls button:nth-of-type(5)`) // moves to the last step
	tb.says(".ending", "Lost updates")
	tb.speak("zh-CN")
	tb.says(".cast", "A 购买 2 件")
	tb.await(`["✉ 在路上", "✉ 迟到"].every((said) => $(".drawing svg").textContent.includes(said))`)

	t.Log("an address of no counterexample, and of none in particular")
	tb.speak("en")
	tb.forgive("404")
	tb.goTo("trace/naive.nothing")
	tb.says(`[role="alert"] .wrong`, "There is no counterexample “naive.nothing”")
	tb.goTo("trace")
	tb.says("h1", "naive sells 3 of 2")
}

func TestLiveTrace(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("trace")
	tb.await(`$$("#live option").length === 2`)
	tb.click(".live .offer:last-child")
	tb.says(".title-of", "naive", "Two purchases that raced at")
	tb.says(".ending", "Stock below zero")
	tb.says(".state .number", "−1")
	tb.says(".chosen", "at 0.60 ms, took 0.90 ms", "Error 1205")
	tb.await(`$$(".drawing .d-bar.d-held").length === 1`)
	tb.good("trace live")

	t.Log("it has an address, and is there after a reload")
	tb.await(`location.hash.startsWith("#/trace/live.")`)
	tb.do(chromedp.Reload())
	tb.says(".title-of", "Two purchases that raced at")
	tb.says(".chosen", "Error 1205")
	tb.await(`$(".title-of a[download]").href.includes("/api/lab/v1/traces/")`)

	t.Log("a trace that cannot be made")
	tb.forgive("503")
	tb.eval(`{ const s = $("#live"); s.value = "conditional"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
	tb.click(".live .offer")
	tb.says(".live [role=alert]", "the wire is cut")
}
