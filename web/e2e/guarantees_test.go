package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestGuarantees(t *testing.T) {
	f := startFake(t)
	tb := startBrowser(t).open(f.url+"/#/guarantees", wide)
	tb.says("main", "5 strategies")
	tb.await(`document.querySelectorAll(".matrix thead .asks").length === 21`)
	tb.await(`[...document.querySelectorAll(".matrix .groups th.begins")].map((th) => th.innerText + " " + th.colSpan).join() ===
		"Without faults 5,One thing goes wrong 8,More 4,Measured 4"`)
	tb.inEveryLook("guarantees")

	t.Log("header and first column stay")
	tb.do(look{"", 760, 400, false}.set())
	tb.eval(`document.querySelector(".matrix").scrollTo(200, 200)`)
	tb.await(`(() => {
		const box = document.querySelector(".matrix").getBoundingClientRect();
		const head = document.querySelector(".matrix thead th:last-child").getBoundingClientRect();
		const name = document.querySelector(".matrix tbody tr:last-child th").getBoundingClientRect();
		return Math.abs(head.top - box.top) < 3 && Math.abs(name.left - box.left) < 3;
	})()`)
	tb.do(wide.set())

	t.Log("a cell says what it rests on")
	tb.says(`.mark.good:not(.tried)[aria-label="conditional, no oversell: holds in all 124 schedules"]`, "✓\n124")
	tb.says(`.mark.good.tried[aria-label="conditional, cancelling: holds in the 225 schedules tried"]`, "(✓)\n225")
	tb.click(`.mark[aria-label^="conditional, no oversell:"]`)
	tb.says("dialog", "Every schedule was run to its end: 124")
	tb.accessible("a cell")
	tb.do(chromedp.KeyEvent("\x1b"))
	tb.await(`!document.querySelector("dialog")`)
	tb.click(`.mark[aria-label^="conditional, cancelling:"]`)
	tb.says("dialog", "225 schedules tried, each to its end. There are more.")
	tb.says("dialog", "180 of them in order. Among them are all with at most 2 preemptions.")
	tb.says("dialog", "45 of them drawn at random")
	tb.says("dialog", "222 turns not taken")
	tb.shot("guarantees-cell")
	tb.await(`[...document.querySelectorAll("dialog a")].map((a) => a.hash).join() === "#/lessons/conditional,#/lab?strategies=conditional"`)
	tb.click("dialog button")
	tb.await(`!document.querySelector("dialog")`)

	t.Log("a cell has an address")
	tb.click(`.mark[aria-label^="conditional, no oversell:"]`)
	tb.await(`location.hash === "#/guarantees?cell=conditional.oversell"`)
	tb.do(chromedp.Reload())
	tb.says("dialog[open]", "Every schedule was run to its end: 124")
	tb.click("dialog button")
	tb.await(`!document.querySelector("dialog") && location.hash === "#/guarantees"`)

	t.Log("the cell under the pointer, or with the focus, is read")
	tb.eval(`document.querySelector('.mark[aria-label="naive, no oversell: breaks"]').focus()`)
	tb.says(".reading", "naive · no oversell: breaks; Sold more than there were; 3 units sold out of 2: 1 too many. Two buyers in one process")
	tb.eval(`document.querySelector('.mark[aria-label^="redis-lua, how it waits"]').dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))`)
	tb.says(".reading", "redis-lua · how it waits: measured, no promise; polls; many commands in 300 ms.")

	t.Log("what other servers answer otherwise is marked")
	tb.says("main", "On MySQL 9.7.0: 105 cells computed, 1 differs (≠).")
	tb.click(`.mark[aria-label="conditional, lost reply: holds in the 75 schedules tried; different on other servers"]`)
	tb.says("dialog", "75 schedules tried")
	tb.says("dialog", "Among them are all without a preemption")
	tb.says("dialog h3", "On MySQL 9.7.0")
	tb.says("dialog", "Lost updates")
	tb.click("dialog button")
	tb.await(`!document.querySelector("dialog")`)

	t.Log("that it holds is one answer, and two")
	count := func(answer, says string) {
		tb.eval(`{ const s = document.querySelector("#answer"); s.value = "` + answer + `"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
		tb.says("[role=status]", says)
	}
	tb.eval(`{ const s = document.querySelector("#question"); s.value = "oversell"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
	count("holds", "4 of 5 strategies")
	count("all", "2 of 5 strategies")
	tb.await(`document.querySelectorAll(".matrix .chosen .mark.tried").length === 0`)
	count("tried", "2 of 5 strategies")
	tb.await(`document.querySelectorAll(".matrix .chosen .mark.tried").length === 2`)
	tb.eval(`{ const s = document.querySelector("#question"); s.value = ""; s.dispatchEvent(new Event("change", {bubbles: true})); }`)

	t.Log("the filter is in the address")
	tb.eval(`{ const s = document.querySelector("#answer"); s.value = "breaks"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
	tb.says("main", "4 of 5 strategies")
	tb.eval(`{ const s = document.querySelector("#question"); s.value = "clocks"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
	tb.says("main", "1 of 5 strategies")
	tb.do(chromedp.Reload())
	tb.says("main", "1 of 5 strategies")
	tb.await(`document.querySelector("#answer").value === "breaks" && location.hash.includes("question=clocks")`)
	tb.fill("#name", "nothing like it")
	tb.says("main", "No strategy matches. The filter asks for: Question: clocks disagree; Answer: breaks; Strategy: nothing like it.")
	tb.click("#reset")
	tb.says("main", "5 strategies")
	tb.await(`location.hash === "#/guarantees" && !document.querySelector("#reset") && document.querySelector("#answer").value === ""`)
	tb.eval(`location.hash = "#/guarantees?family=nonsense"`)
	tb.says("main", "No strategy matches. The filter asks for: Family: “nonsense” (there is none).")
	tb.await(`document.querySelector("#family").value === "nonsense"`)
	tb.click("#reset")

	t.Log("presets add up")
	tb.click(".presets button:nth-child(2)") // several processes
	tb.says("main", "4 of 5 strategies")
	tb.click(".presets button:nth-child(4)") // survives a pause
	tb.says("main", "1 of 5 strategies. The filter asks for: several processes; survives a pause.")
	tb.await(`location.hash === "#/guarantees?must=processes%2Clease-end" && document.querySelectorAll(".presets [aria-pressed=true]").length === 2`)
	tb.await(`document.querySelectorAll(".matrix thead .chosen").length === 2`)
	tb.click(".presets button:nth-child(4)")
	tb.says("main", "4 of 5 strategies")

	t.Log("two rows by their differences, in words")
	tb.eval(`document.querySelector('.take[aria-label="Compare redis-lua"]').click()`)
	tb.says("main", "Tick one more to compare.")
	tb.eval(`document.querySelector('.take[aria-label="Compare redis-token"]').click()`)
	tb.click("#differences")
	tb.says("main", "Their answers differ in 1 of 21 questions.")
	tb.await(`location.hash.includes("rows=redis-lua%2Credis-token&diff=1")`)
	tb.await(`[...document.querySelectorAll(".differences tbody tr")].map((tr) => tr.innerText.replace(/\s+/g, " ")).join() ===
		"only the owner releases (✓) holds in the schedules tried ✗ breaks"`)
	tb.click(".differences .mark.bad")
	tb.await(`document.querySelector("dialog")?.open`)
	tb.await(`[...document.querySelectorAll("dialog a")].map((a) => a.hash).join() ===
		"#/trace/redis-token.owner,#/lessons/redis-token,#/lab?strategies=redis-token,#/play?counterexample=redis-token.owner"`)
	tb.do(chromedp.KeyEvent("\x1b"))
	tb.await(`!document.querySelector("dialog")`)
	tb.shot("guarantees-differences")
	tb.eval(`location.hash = "#/guarantees?rows=redis-lua,redis-token,nonsense"`)
	tb.says("main", "The matrix has no strategy nonsense.")

	t.Log("in Chinese")
	tb.click("#language")
	tb.says("main", "矩阵里没有 nonsense 这个策略")
	tb.fill("#name", "redis")
	tb.says(".matrix", "不超卖")
	tb.says(".matrix", "命令迟到")
	tb.says(".groups", "一处出错")
	tb.says(".answers-key", "在试过的调度下成立")
	tb.fill("#name", "e")
	tb.inEveryLook("guarantees zh")
	tb.click(`.mark[aria-label^="redis-lua, 取消订单：在试过的"], .mark[aria-label^="redis-lua, 取消订单: 在试过的"]`)
	tb.says("dialog", "试了 225 种调度")
	tb.shot("guarantees-cell-zh")
}
