package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestChooserOffersWhatFits(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("choose")
	tick := func(question, answer string) {
		box := fmt.Sprintf(`.questions input[name=%q][value=%q]`, question, answer)
		tb.click(box)
		tb.await(fmt.Sprintf(`$(%q).checked`, box))
	}
	tb.await(`$(".fit h2 code")?.innerText === "conditional" && $$(".fit").length === 1`)
	tb.says(".results [role=status]", "1 way fits, simplest first.")
	tb.says(".fit", "holds in all schedules: no oversell")
	tb.await(`$(".top nav [aria-current]").innerText === "Which one?" && document.title.startsWith("Five questions")`)
	tb.good("chooser")

	t.Log("a failure that does not apply does no harm; a load that nothing was seen to meet does")
	tick("fails", "clocks")
	tb.says(".fit", "conditional")
	tick("rate", "3000")
	tb.says(".results [role=status]", "Nothing fits. One of these changes is enough:")
	tb.await(`location.hash === "#/choose?rate=3000&have=mysql&fails=clocks"`)
	tb.click(".ways a")
	tb.says(".fit", "conditional")
	tb.await(`!location.hash.includes("rate") && location.hash.includes("fails=clocks")`)

	t.Log("what is no lock is not offered as one; where no single change is enough, none is named")
	tick("need", "lock")
	tb.says(".results [role=status]", "Nothing fits, and no single change is enough.")
	tb.await(`$(".ways, .results [role=status] .hint") === null`)
}

// The matrix lists locks and other strategies separately, those that break least first. A cell says which rule broke and
// links to its counterexample. The name of a strategy links to all its answers.
func TestGuarantees(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("guarantees")
	tb.says("main", "5 strategies")
	tb.await(`$$(".matrix thead .asks").map((th) => th.innerText).join() ===
		"no oversell,across processes,dead holder,lease ends under a holder,late command,how it waits"`)
	tb.await(`$(".matrix a[href$='cell=redis-token']").closest("tr").querySelector(".also").innerText.includes("only the owner releases")`)

	t.Log("all columns; a cell says what broke")
	tb.click("#columns")
	tb.await(`$$(".matrix thead .asks").length === 20`)
	tb.await(`$$(".matrix .groups th.begins").map((th) => th.innerText + " " + th.colSpan).join() ===
		"Without faults 4,One thing goes wrong 8,More 4,Measured 4"`)
	tb.await(`$$(".matrix tbody").map((part) => [...part.querySelectorAll("th")].map((th) => th.innerText.trim()).join(" ")).join() ===
		"Locks redis-lua redis-token redis-setnx-timestamp,Ways without a lock conditional naive"`)
	tb.await(`$('.matrix a[data-cell="naive.oversell"]').textContent.startsWith("naive, no oversell: breaks; Sold more than there were") && $('.matrix a[data-cell="naive.oversell"] small').innerText === "stock"`)
	tb.await(`$('.matrix a[data-cell="redis-token.owner"] small').innerText === "lock"`)
	tb.shows(`.mark[aria-label^="redis-lua, how it waits: measured, no promise; polls"]`)
	tb.good("all columns")

	tb.click("#columns")

	t.Log("a strategy has all its answers, with what they rest on, and an address")
	tb.click(`.matrix th a[href$="cell=conditional"]`)
	tb.says("dialog[open] h2", "conditional")
	tb.await(`location.hash === "#/guarantees?cell=conditional"`)
	open := func(question string) {
		tb.eval(`$('dialog [data-question="` + question + `"]').open = true`)
	}
	open("oversell")
	tb.says("dialog [data-question=oversell]", "All schedules are covered: 124 were run to their end")
	open("cancel")
	for _, said := range []string{"225 schedules tried, each to its end. There are more.",
		"180 of them in order. Among them are all with at most 2 preemptions.",
		"45 of them drawn at random", "222 turns not taken"} {
		tb.says("dialog [data-question=cancel]", said)
	}
	open("lost-reply")
	tb.good("all answers")
	tb.press("\x1b")
	tb.await(`!$("dialog") && location.hash === "#/guarantees"`)
	tb.goTo("guarantees?cell=redis-token.owner")
	tb.await(`$("dialog [data-question=owner]")?.open`)
	tb.await(`$$("dialog [data-question=owner] a, dialog .buttons a").map((a) => a.hash).join() ===
		"#/trace/redis-token.owner,#/trace/redis-token.owner.two_holders,#/trace/redis-token.owner,#/lessons/redis-token,#/lab?strategies=redis-token"`)
	tb.await(`$$("dialog [data-question=owner] [data-rule]").map((p) => p.dataset.rule).join() === "stolen,two_holders,blocked"`)
	tb.says("dialog [data-question=owner] [data-rule=blocked]", "C waits, and nothing will ever wake them",
		"step by step")
	tb.click("dialog .buttons button")

	t.Log("presets add up, and the filter is in the address")
	tb.click(".presets button:nth-child(2)") // the preset "several processes"
	tb.says("[role=status]", "4 of 5 strategies")
	tb.click(".presets button:nth-child(4)") // the preset "survives a pause"
	tb.says("[role=status]", "1 of 5 strategies")
	tb.await(`location.hash === "#/guarantees?must=processes%2Clease-end" && $$(".matrix thead .chosen").length === 2`)
	tb.do(chromedp.Reload())
	tb.says("[role=status]", "1 of 5 strategies")
	tb.click(".presets [aria-pressed=true]")
	tb.click(".presets [aria-pressed=true]")
	tb.fill("#name", "nothing like it")
	tb.says("[role=status]", "No strategy matches.")
	tb.fill("#name", "redis")
	tb.says("[role=status]", "3 of 5 strategies")

	t.Log("cards on a phone, in Chinese")
	tb.speak("zh-CN")
	tb.in(look{"", 390, 844, true})
	tb.says(".cards", "只有持有者能释放")
	tb.says("main h2", "锁")
	tb.click(`.cards a[href$="cell=redis-lua"]`)
	tb.says("dialog[open]", "在试过的")
}

// The screen shows the committed run with the symbols of the matrix. A cell that did not hold says which rule broke. It
// opens to show the course of the sale, its figures, and the command that repeats it.
func TestChaosScreen(t *testing.T) {
	t.Parallel()
	tb := fresh(t, sharedLab(t).page+"#/guarantees")
	tb.click(`.tabs a[href="#/chaos"]`)
	const bad = `.matrix tbody a.mark.bad`
	tb.shows(bad)
	tb.await(`$(".top nav [aria-current=page]").hash === "#/choose" && document.title.startsWith("Faults under load")`)
	tb.good("chaos")

	t.Log("a cell opens by the keyboard, and has an address")
	tb.shows(bad) // once more, now in the wide window
	address := ask[string](tb, `$("`+bad+`").hash`)
	_, cell, _ := strings.Cut(address, "cell=")
	strategy, fault, _ := strings.Cut(cell, ".")
	tb.await(`($("` + bad + `").focus(), document.activeElement?.hash === "` + address + `")`)
	tb.press("\r")
	tb.says("dialog[open]", strategy)
	tb.says("dialog .command", "seckill chaos --strategies "+strategy+" --faults "+fault)
	tb.await(`$("dialog polyline.sold").getAttribute("points").split(" ").length > 5`)
	tb.good("a cell of the faults")
	tb.do(chromedp.Reload())
	tb.says("dialog[open]", strategy)
	tb.press("\x1b")
	tb.await(`!$("dialog") && location.hash === "#/chaos"`)

	t.Log("only what did not hold, then on a phone")
	tb.click(".presets button:nth-of-type(2)")
	tb.await(`$$(".matrix tbody tr:not(.family)").every((tr) => tr.querySelector(".mark.bad") !== null)`)
	tb.speak("zh-CN")
	tb.in(look{"", 390, 844, false})
	tb.await(`$$(".cards .mark.bad").length > 0 && $("#all") !== null`)
}
