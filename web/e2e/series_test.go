package e2e

import (
	"testing"

	"seckill/internal/ledger"
)

// A sale is repeated: a sign and an address for each run, and how often which
// verdict came, between what bounds; it can be stopped as a whole.
func TestASaleIsRepeated(t *testing.T) {
	f := startFake(t)
	tb := startBrowser(t).open(f.url+"#/lab?strategies=naive&repeats=5", wide)
	tb.await(formHasAddress)
	tb.click("button.run")
	tb.says(".series", "5 runs of this sale")
	tb.await(`document.querySelectorAll(".strip li").length === 5 && document.querySelectorAll(".strip a").length === 0`)
	f.results <- fakeResult(ledger.Oversold)
	tb.says(".shares", "1 of 1 oversold (21–100 %)")
	tb.says(".banner.busy", "naive: selling") // the second

	t.Log("one looks at the first while others go on")
	tb.click(".strip a")
	tb.says("[data-verdict] .word", "OVERSOLD")
	f.results <- fakeResult(ledger.Held)
	tb.await(`document.querySelectorAll(".strip a").length === 2`)
	tb.says(".shares", "1 of 2 held (9–91 %) and 1 of 2 oversold (9–91 %)")
	tb.says("[data-verdict] .word", "OVERSOLD")
	tb.await(`document.querySelector(".strip li:nth-child(2) a").ariaLabel === "Run 2: HELD"`)
	tb.eval(`document.querySelector(".runs").open = true`)
	tb.says(".history", "run 2 of 5")
	tb.inEveryLook("series")

	t.Log("stopped as a whole")
	tb.click("button.stop")
	tb.says(".series", "Stopped before the last.")
	tb.await(`!document.querySelector("button.stop")`)
	tb.await(`document.querySelectorAll(".strip a").length === 3 && document.querySelectorAll(".strip span.place").length === 2`)
	tb.says(".shares", "1 of 2 held (9–91 %), 1 of 2 oversold (9–91 %), and 1 of 3 not valid (6–79 %)")
	tb.speak("zh-CN")
	tb.says(".shares", "2 次中 1 次超卖（9–91 %）")
	tb.says(".series", "中途被停止。")
}
