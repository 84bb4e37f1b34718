//go:build verify

package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// What a result offers to those who must decide, and what it remembers.
func TestComparisonIsExplored(t *testing.T) {
	url, f := startComparing(t, "")
	b := startBrowser(t)
	tb := b.open(url+"/#/compare?crowds=1,32", look{"screen", 1440, 900, false})

	t.Log("further numbers of buyers")
	tb.says(".command", "--few 2 --crowds 1,32")
	for wrong, says := range map[string]string{"1 1": "at most 8 different", "0": "from 1 to 1,024", "x": "whole numbers", "1,2,3,4,5,6,7,8,9": "at most 8"} {
		tb.fill("#crowds", wrong)
		tb.click(".compare-form .run")
		tb.says("#crowds-wrong", says)
	}
	tb.fill("#crowds", "1, 32")
	tb.await(`location.hash.includes("crowds=1%2C32")`)

	t.Log("while it works, what it does is in view, wherever the form is scrolled to")
	tb.click(".compare-form .run")
	tb.says(".banner.busy", "Measuring conditional")
	tb.says(".standings tbody tr:nth-child(2)", "has its first turn") // all that take part are there from the start
	inView := `(({top, bottom}) => top >= 0 && bottom <= innerHeight)(document.querySelector(".banner.busy").getBoundingClientRect())`
	tb.await(inView)
	tb.eval(`document.querySelector(".compare-form .stop").scrollIntoView({block: "end"})`)
	tb.await(inView)
	tb.shot("compare-working-900")
	tb.click("#language")
	tb.says(".banner.busy", "正在测量 conditional")
	tb.click("#language")
	address := `location.href`
	running, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](address))
	if err != nil {
		t.Fatal(err)
	}
	tb.do(chromedp.Reload())
	tb.says(".banner.busy", "Measuring conditional")
	f.ends <- goldenResult()
	tb.says("[data-outcome]", "3 held")
	b.open(running, wide).says("[data-outcome]", "3 held")

	t.Log("beside a strategy of one's own choice")
	tb.eval(`{ const s = document.querySelector("#pairs-with"); s.value = "version"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
	tb.says(".sentences", "version is 1.33 × for-update")
	tb.await(`!document.querySelector(".sentences").innerText.includes("conditional is 4.00")`)

	t.Log("columns are chosen, and remembered with the order")
	tb.await(`!document.querySelector(".results thead").innerText.includes("lock wait")`)
	tb.click(".pick-columns summary")
	tb.click(`.pick-columns input[value="wait"]`)
	tb.click(`.pick-columns input[value="failed"]`)
	tb.says(".results thead", "lock wait")
	tb.await(`!document.querySelector(".results thead").innerText.includes("errors")`)
	tb.eval(`[...document.querySelectorAll(".sort")].find((b) => b.innerText.startsWith("sold out in")).click()`)
	first := `document.querySelector(".results tbody th").innerText === "for-update"`
	tb.await(first)
	tb.do(chromedp.Reload())
	tb.says(".results thead", "lock wait")
	tb.await(first + ` && document.querySelector("[aria-sort]").innerText.startsWith("sold out in")`)

	t.Log("lines are drawn or not")
	lines := `document.querySelectorAll(".plot")[1].querySelectorAll(".plot-area .line").length`
	tb.await(lines + ` === 6`)
	tb.eval(`document.querySelectorAll(".plot")[1].querySelector(".legend button").click()`)
	tb.await(lines + ` === 5`)
	tb.eval(`document.querySelectorAll(".plot")[1].querySelector("summary").click()`)
	tb.await(`document.querySelectorAll(".plot")[1].querySelector("table").innerText.includes("100 (96–103)")`)

	t.Log("the sentences are in the reader's language")
	tb.click("#language")
	tb.await(`document.querySelector(".sentences").innerText.includes("倍")`)
	tb.click("#language")
	tb.inEveryLook("compare-explored")
	tb.wellLaidOut("compare, a result")
}

// What could not be fetched is fetched again: by a button, and by itself when the
// lab is back.
func TestComparisonRecovers(t *testing.T) {
	url, f := startComparing(t, t.TempDir())
	tb := startBrowser(t).open(url+"/#/compare", wide)
	tb.click(".compare-form .run")
	f.ends <- goldenResult()
	tb.says(".results", "conditional")
	cut, mend := `window.whole = fetch; window.fetch = () => Promise.reject(new TypeError("Failed to fetch"))`, `window.fetch = whole`
	for _, recover := range []string{`document.querySelector(".failure button").click()`,
		`import("/static/lab.js").then(({news}) => news.dispatchEvent(new Event("connected")))`} {
		tb.eval(`location.hash = "#/compare"`)
		tb.says(".idle", "Nothing is being compared")
		tb.eval(cut)
		tb.click(".history tbody a")
		tb.says(".failure", "The lab does not answer.")
		tb.accessible("a failure")
		tb.eval(mend)
		tb.eval(recover)
		tb.says(".results", "conditional")
		tb.await(`document.querySelector(".failure") === null`)
	}
}
