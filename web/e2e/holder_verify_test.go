//go:build verify

package e2e

import "testing"

// What the page says of faults at the holder: of one that stops a sale for good,
// of one that holds it up for longer than lease and wait, which is no reason to
// call it blocked, and of those that could not matter.
func TestFaultsAtTheHolderOfARealLab(t *testing.T) {
	u := startUp(t, buildProgram(t), "--addr", "127.0.0.1:0")
	tb := startBrowser(t).open(u.page, wide)
	run := func(settings string) {
		t.Helper()
		tb.await(`!document.querySelector("button.stop")`)
		tb.eval(`window.rows = document.querySelectorAll(".history tbody").length; location.hash = "#/lab?lease_ms=300&wait_ms=200&` + settings + `"`)
		tb.await(formHasAddress)
		tb.click("button.run")
		tb.await(`document.querySelectorAll(".history tbody").length === window.rows + 1`)
		tb.await(`!document.querySelector("button.stop")`)
	}

	t.Log("the holder of a lock without an end is killed")
	run("strategies=redis-setnx&stock=200&buyers=2000&concurrency=64&quantity=1&faults=kill_holder.1.100.")
	tb.await(`document.querySelector('[data-verdict="blocked"]') !== null`)
	tb.says(".banner", "Nothing was oversold or lost, but ")
	tb.says(".banner", "Buyers were told: ")
	tb.await(`document.querySelector('.happened [data-effect="bit"]') !== null`)
	tb.says(".happened .effect", "between its read and its write")
	tb.says(".why-it-broke", "Who died with what")
	tb.await(`/^Service process \d was killed at \d\.\d s with the purchase of user \d+, which held the lock seckill:lock:stock:1; [\d,]+ calls asked for it in vain for .+; it is free again when its key is deleted by hand: DEL seckill:lock:stock:1\.$/
		.test(document.querySelector(".because").innerText)`)
	tb.await(`document.querySelector(".why-it-broke a.offer").hash === "#/trace/redis-setnx.dead-holder"`)
	tb.says(".why-it-broke button", "Run one that holds: ")
	tb.everyLook("blocked")

	t.Log("and is paused, as was planned")
	run("strategies=redis-setnx&stock=200&buyers=1500&concurrency=64&quantity=1&faults=pause_holder.1.100.3000")
	tb.await(`document.querySelector('[data-verdict="held"]') !== null`)
	tb.await(`/it stopped for [3-9]\.\d s/.test(document.querySelector(".happened .effect").innerText)`)
	tb.says(".known", "Held this time; a schedule that breaks it is known: a holder that dies.")
	tb.await(`document.querySelector(".known a").hash === "#/trace/redis-setnx.dead-holder"`)
	tb.says(".tried", "1,500 buyers, 64 at a time, in 2 service processes")
	tb.says(".tried", "Holder paused, in service process ")
	tb.says(".chips", "dead holder")
	tb.everyLook("paused-as-planned")

	t.Log("faults that could not matter, side by side")
	run("strategies=redis-lua,conditional&stock=20&profile=constant&rate=60&seconds=12&quantity=1" +
		"&faults=pause_holder.1.5..conditional,kill_holder.1.9000..redis-lua,pause_service.2.9000.300")
	tb.await(`document.querySelectorAll('.lane-card [data-verdict]').length === 2`)
	tb.says(".happened li:nth-child(1)", "conditional")
	tb.says(".happened li:nth-child(1) .effect", "It had no effect: ")
	tb.says(".happened li:nth-child(2)", "redis-lua")
	tb.says(".happened li:nth-child(2)", "Kill the holder")
	tb.says(".happened li:nth-child(2) .effect", "It had no effect: no units were left.")
	tb.says(".happened li:nth-child(3) .effect", "It took effect, but could not matter: no units were left")
	tb.everyLook("could-not-matter")
}

// everyLook keeps pictures of this moment in both languages.
func (tb *tab) everyLook(moment string) {
	tb.t.Helper()
	for _, language := range []string{"en", "zh"} {
		tb.shots(moment + "-" + language)
		for _, l := range []look{{"tablet", 1024, 1600, false}, {"tablet-dark", 1024, 1600, true}} {
			tb.do(l.set())
			tb.await(`document.documentElement.scrollWidth <= innerWidth`)
			tb.shot(moment + "-" + language + "-" + l.name)
		}
		tb.do(wide.set())
		tb.click("#language")
	}
}
