//go:build verify

package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Every screen of a real lab, as somebody walks through it who has never heard
// of a lost update.
func TestScreensOfRealLab(t *testing.T) {
	u := startUp(t, buildProgram(t), "--addr", "127.0.0.1:0")
	tb := startBrowser(t).open(u.page+"#/lessons", wide)

	t.Log("the first lesson, its source, and its run")
	tb.says(".chapter h1", "The lost update")
	tb.says(".sources", "var Naive = catalog.Info{")
	tb.await(`document.querySelectorAll(".sources .hl-word").length > 20`)
	tb.shots("real-lesson")
	tb.click(".break-it .run")
	tb.await(`document.querySelector('.break-it [data-verdict="oversold"], .break-it [data-verdict="lost"]') !== null`)
	tb.shots("real-lesson-broken")

	t.Log("every chapter and every strategy's lesson, in both languages")
	for range 11 {
		tb.eval(`window.title = document.querySelector(".chapter h1").innerText`)
		tb.click(".turn [rel=next]")
		tb.await(`document.querySelector(".chapter h1").innerText !== window.title`)
		tb.await(`document.querySelector(".sources pre") !== null && document.querySelector(".lesson-text p") !== null`)
		tb.await(`document.documentElement.scrollWidth <= innerWidth`)
	}
	tb.await(`!document.querySelector(".turn [rel=next]")`)
	tb.shots("real-lesson-last")
	tb.click("#language")
	tb.says(".chapter h1", "该选哪一个")
	tb.shot("real-lesson-last-zh")
	tb.click("#language")

	t.Log("the matrix of this program, and the first counterexample in it, to its end")
	tb.eval(`location.hash = "#/guarantees"`)
	tb.await(`document.querySelectorAll(".matrix .mark.bad").length > 3`)
	tb.shots("real-guarantees")
	tb.click(`.matrix [data-row="naive"][data-question="oversell"]`)
	tb.click(`dialog a[href^="#/trace/"]`)
	tb.await(`document.querySelector(".where") !== null`)
	for range 60 {
		tb.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	tb.says(".ending", "Broken")
	tb.await(`document.querySelector('[aria-label="To the end (End)"]').ariaDisabled === "true"`)
	tb.shots("real-trace")

	t.Log("every counterexample can be read, and has its end")
	names, err := chromedp.Run(tb.ctx, chromedp.Evaluate[[]string](
		`[...document.querySelectorAll("#example option")].map((o) => o.value).filter(Boolean)`))
	if err != nil || len(names) < 3 {
		t.Fatalf("counterexamples: %v, %v", names, err)
	}
	for _, name := range names {
		tb.eval(`location.hash = "#/trace/` + name + `?step=9999"`)
		tb.await(`document.querySelector(".ending") !== null && document.querySelector("#example").value === "` + name + `"`)
		tb.await(`!document.querySelector("main > [role=alert] .wrong")`)
		tb.await(`document.documentElement.scrollWidth <= innerWidth`)
	}

	t.Log("purchases of this moment")
	tb.eval(`location.hash = "#/trace"`)
	for _, strategy := range []string{"naive", "redis-lua", "zk", "get-lock", "redlock"} {
		tb.await(`[...document.querySelectorAll("#live option")].some((o) => o.value === "` + strategy + `")`)
		tb.eval(`{ const s = document.querySelector("#live"); s.value = "` + strategy + `"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
		tb.click(".live .offer:last-child")
		tb.says(".title-of h2", strategy)
		tb.await(`document.querySelectorAll(".step").length > 5 && document.querySelectorAll(".step .clock").length > 5`)
		if strategy != "naive" {
			tb.await(`document.querySelectorAll(".lane .bar.held.first").length === 2`)
			tb.says(".ending", "Nothing broke")
		}
		tb.shots("real-live-" + strategy)
	}
}
