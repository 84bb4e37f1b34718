//go:build unix

package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestGuarantees(t *testing.T) {
	f := startFake(t)
	tb := startBrowser(t).open(f.url+"/#/guarantees", wide)
	tb.says("main", "5 strategies")
	tb.await(`document.querySelectorAll(".matrix thead .asks").length === 15`)
	tb.inEveryLook("guarantees")

	t.Log("header and first column stay")
	tb.do(look{"", 390, 400, false}.set())
	tb.eval(`document.querySelector(".matrix").scrollTo(200, 200)`)
	tb.await(`(() => {
		const box = document.querySelector(".matrix").getBoundingClientRect();
		const head = document.querySelector(".matrix thead th:last-child").getBoundingClientRect();
		const name = document.querySelector(".matrix tbody tr:last-child th").getBoundingClientRect();
		return Math.abs(head.top - box.top) < 3 && Math.abs(name.left - box.left) < 3;
	})()`)
	tb.do(wide.set())

	t.Log("a cell says what it rests on")
	tb.click(`.mark[aria-label="conditional, no oversell: holds"]`)
	tb.says("dialog", "All 124 orders were run")
	tb.accessible("a cell")
	tb.do(chromedp.KeyEvent("\x1b"))
	tb.await(`!document.querySelector("dialog")`)
	tb.click(`.mark[aria-label="conditional, across processes: holds"]`)
	tb.says("dialog", "turns left out")
	tb.click("dialog button")
	tb.await(`!document.querySelector("dialog")`)

	t.Log("the filter is in the address")
	tb.eval(`{ const s = document.querySelector("#answer"); s.value = "breaks"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
	tb.says("main", "4 of 5 strategies")
	tb.eval(`{ const s = document.querySelector("#question"); s.value = "clocks"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
	tb.says("main", "1 of 5 strategies")
	tb.do(chromedp.Reload())
	tb.says("main", "1 of 5 strategies")
	tb.await(`document.querySelector("#answer").value === "breaks" && location.hash.includes("question=clocks")`)
	tb.fill("#name", "nothing like it")
	tb.says("main", "No strategy is like that")

	t.Log("in Chinese")
	tb.click("#language")
	tb.says("main", "没有这样的策略")
	tb.fill("#name", "redis")
	tb.says(".matrix", "不超卖")
}
