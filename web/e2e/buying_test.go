package e2e

import (
	"strings"
	"testing"

	"seckill/internal/ledger"
)

// Load runs of a real lab with reservations, and with answers in two steps.
func TestLabAsksHowBuyersBuy(t *testing.T) {
	u := sharedLab(t)
	tb := startBrowser(t).open(u.page+"#/lab?strategies=conditional&stock=40&buyers=120&concurrency=16&buying=reserve", wide)
	tb.forgive(refusedInThePage)

	t.Log("what a strategy cannot do is said in place")
	tb.await(`document.querySelector("#buying")?.value === "reserve" && document.querySelector("form .run") && !document.querySelector("form .run").ariaDisabled`)
	tb.click("form .run")
	tb.says("#buying-wrong", "conditional has no reservations. Choose reserve or reserve-late alone.")
	tb.set("#buying", "async")
	tb.await(`!document.querySelector("#reserve_seconds")`)
	tb.click("form .run")
	tb.says("#buying-wrong", "Add redis-stream")
	tb.inEveryLook("lab buying")
	tb.speak("zh-CN")
	tb.set("#buying", "reserve")
	tb.noEnglish("the form of a sale with reservations")
	tb.speak("en")

	t.Log("reservations")
	tb.choose("reserve")
	tb.fill("#reserve_seconds", "1")
	tb.fill("#forget_percent", "60")
	tb.fill("#pay_late_percent", "50")
	tb.click("form .run")
	tb.says("#pay_late_percent-wrong", "100 percent at most")
	tb.await(`document.activeElement.ariaInvalid === "true"`) // the page goes there, a moment later
	tb.fill("#forget_percent", "20")
	tb.fill("#pay_late_percent", "10")
	tb.click("form .run")
	tb.says(".about-run", "reserved for 1 s, 20 % never pay, 10 % pay late")
	tb.says(".buying", "Reservations: ")
	r := u.runs()[0].Lanes[0].Result
	if r.Verdict != ledger.Held || r.Reservations.Paid == 0 || r.Reservations.Forgotten == 0 || r.Settings.ReserveSeconds != 1 {
		t.Errorf("the run with reservations: %s, %+v, %+v", r.Verdict, r.Reservations, r.Settings)
	}
	tb.await(`location.hash.includes("buying=reserve") && location.hash.includes("reserve_seconds=1")`)
	tb.inEveryLook("lab reserved")
	tb.speak("zh-CN")
	tb.says(".buying", "预留：")
	tb.noEnglish("a run with reservations")
	tb.speak("en")

	t.Log("answers when accepted")
	tb.set("#buying", "async")
	tb.choose("redis-stream", "conditional")
	tb.click("form .run")
	tb.says(".about-run", "answered when accepted")
	tb.await(`document.querySelectorAll(".buying").length === 2`)
	tb.says(".buying", "accepted, after")
	two := u.runs()[0].Lanes
	if first, second := two[0].Result, two[1].Result; first.Verdict != ledger.Held || first.TwoSteps == nil || first.TwoSteps.Ordered == 0 || second.TwoSteps.Accepted != 0 {
		t.Errorf("the run in two steps: %s, %+v; %+v", first.Verdict, first.TwoSteps, second.TwoSteps)
	}

	t.Log("a comparison")
	tb.eval(`location.hash = "#/compare?strategies=reserve,conditional&stock=20&buyers=60&concurrency=8&repeats=1&turn_ms=0&few=0&buying=reserve&reserve_seconds=1"`)
	tb.await(`document.querySelector(".command")?.innerText.includes("--strategies reserve,conditional") && !document.querySelector("form .run").ariaDisabled`)
	tb.says(".command", "--reserve 1s --forget 10% --pay-late 5%")
	tb.click("form .run")
	tb.says("#buying-wrong", "conditional has no reservations")
	tb.inEveryLook("compare buying")
	tb.eval(`location.hash = "#/compare?strategies=reserve&stock=20&buyers=60&concurrency=8&repeats=1&turn_ms=0&few=0&buying=reserve&reserve_seconds=1"`)
	tb.await(`!document.querySelector(".command").innerText.includes("conditional")`)
	tb.click("form .run")
	tb.says("[data-outcome]", "reserved for 1 s, 10 % never pay, 5 % pay late")
	var all struct{ Comparisons []struct{ Command string } }
	u.get("/api/lab/v1/comparisons", &all)
	if c := all.Comparisons[0].Command; !strings.Contains(c, "--few 0 --reserve 1s --forget 10% --pay-late 5% --seed") {
		t.Errorf("the comparison on the command line: %s", c)
	}
}
