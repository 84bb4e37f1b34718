package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// The proof: locks apart from the other ways, what breaks least first; a cell says what
// broke and leads to its counterexample, a strategy to all its answers.
func TestGuarantees(t *testing.T) {
	f := startFake(t)
	tb := startBrowser(t).open(f.url+"/#/guarantees", wide)
	tb.says("main", "5 strategies")
	tb.await(`document.querySelectorAll(".matrix thead .asks").length === 21`)
	tb.await(`[...document.querySelectorAll(".matrix .groups th.begins")].map((th) => th.innerText + " " + th.colSpan).join() ===
		"Without faults 5,One thing goes wrong 8,More 4,Measured 4"`)
	tb.await(`[...document.querySelectorAll(".matrix tbody")].map((part) => [...part.querySelectorAll("th")].map((th) => th.innerText.trim()).join(" ")).join() ===
		"Locks redis-lua redis-token redis-setnx-timestamp,Ways without a lock conditional naive"`)
	tb.await(`document.querySelector('.matrix a[data-cell="naive.oversell"]').textContent.startsWith("naive, no oversell: breaks; Sold more than there were") && document.querySelector('.matrix a[data-cell="naive.oversell"] small').innerText === "stock"`)
	tb.await(`document.querySelector('.matrix a[data-cell="redis-token.owner"] small').innerText === "lock"`)
	tb.await(`document.querySelector('.mark[aria-label^="redis-lua, how it waits: measured, no promise; polls"]') !== null`)
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

	t.Log("a strategy has all its answers, with what they rest on, and an address")
	tb.click(`.matrix th a[href$="cell=conditional"]`)
	tb.says("dialog[open] h2", "conditional")
	tb.await(`location.hash === "#/guarantees?cell=conditional"`)
	open := func(question string) {
		tb.eval(`document.querySelector('dialog [data-question="` + question + `"]').open = true`)
	}
	open("oversell")
	tb.says("dialog [data-question=oversell]", "Every schedule was run to its end: 124")
	open("cancel")
	for _, said := range []string{"225 schedules tried, each to its end. There are more.", "180 of them in order. Among them are all with at most 2 preemptions.",
		"45 of them drawn at random", "222 turns not taken"} {
		tb.says("dialog [data-question=cancel]", said)
	}
	open("lost-reply")
	tb.says("dialog [data-question=lost-reply] h4", "On MySQL 9.7.0")
	tb.says("dialog [data-question=lost-reply]", "Lost updates")
	tb.accessible("all answers")
	tb.do(chromedp.KeyEvent("\x1b"))
	tb.await(`!document.querySelector("dialog") && location.hash === "#/guarantees"`)
	tb.says("main", "On MySQL 9.7.0: 105 cells computed, 1 differs (≠).")
	tb.eval(`location.hash = "#/guarantees?cell=redis-token.owner"`)
	tb.await(`document.querySelector("dialog [data-question=owner]")?.open`)
	tb.await(`[...document.querySelectorAll("dialog [data-question=owner] a, dialog .buttons a")].map((a) => a.hash).join() ===
		"#/trace/redis-token.owner,#/play?counterexample=redis-token.owner,#/lessons/redis-token,#/lab?strategies=redis-token"`)
	tb.click("dialog .buttons button")

	t.Log("presets add up, and the filter is in the address")
	tb.click(".presets button:nth-child(2)") // several processes
	tb.says("[role=status]", "4 of 5 strategies")
	tb.click(".presets button:nth-child(4)") // survives a pause
	tb.says("[role=status]", "1 of 5 strategies")
	tb.await(`location.hash === "#/guarantees?must=processes%2Clease-end" && document.querySelectorAll(".matrix thead .chosen").length === 2`)
	tb.do(chromedp.Reload())
	tb.says("[role=status]", "1 of 5 strategies")
	tb.click(".presets [aria-pressed=true]")
	tb.click(".presets [aria-pressed=true]")
	tb.fill("#name", "nothing like it")
	tb.says("[role=status]", "No strategy matches.")
	tb.fill("#name", "redis")
	tb.says("[role=status]", "3 of 5 strategies")

	t.Log("cards on a phone, in Chinese")
	tb.click("#language")
	tb.do(look{"", 390, 844, true}.set())
	tb.says(".cards", "只有持有者能释放")
	tb.says("main h2", "锁")
	tb.accessible("guarantees, cards, Chinese")
	tb.click(`.cards a[href$="cell=redis-lua"]`)
	tb.says("dialog[open]", "在试过的")
	tb.accessible("all answers, phone, Chinese")
}
