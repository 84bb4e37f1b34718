package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

// formHasAddress checks that the form shows the settings of the address.
const formHasAddress = `(() => {
	const said = Object.fromEntries(new URLSearchParams(location.hash.split("?")[1]));
	const value = (id) => document.getElementById(id)?.value;
	const profile = $("input[name=profile]:checked")?.value;
	return $(".run")?.innerText.includes(said.strategies.replaceAll(",", ", ")) && profile === (said.profile ?? "closed")
		&& Object.entries(said).every(([name, text]) => value(name) === text || ["strategies", "profile"].includes(name));
})()`

// sale shows the form with these settings.
func (tb *tab) sale(settings string) {
	tb.t.Helper()
	tb.goTo("lab?" + settings)
	tb.await(formHasAddress)
}

func TestWrongInputIsSaidInPlace(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("")
	tb.forgive("status of ") // some fields only the lab can check
	good := "stock=100&buyers=2000&concurrency=64&quantity=1"
	for _, c := range []struct{ settings, field, en, zh string }{
		{good + "&stock=many", "stock", "whole number from 1 to 1,000,000", "1 到 1,000,000 之间的整数"},
		{good + "&quantity=101", "quantity", "the stock is 100", "库存只有 100"},
		{good + "&seed=18446744073709551616", "seed", "2⁶⁴", "2⁶⁴"},
		{good + "&strategies=nope", "strategies", "no strategy nope", "没有 nope 这个策略"},
	} {
		tb.sale("strategies=conditional&" + c.settings)
		wrong := fmt.Sprintf(`document.getElementById(%q)`, c.field+"-wrong")
		tb.click("button.run")
		tb.await(fmt.Sprintf(`%s?.innerText.includes(%q)`, wrong, c.en))
		tb.await(fmt.Sprintf(`document.activeElement.id === %q &&
			document.activeElement.ariaInvalid === "true"`, c.field))
		tb.speak("zh-CN")
		tb.await(fmt.Sprintf(`%s.innerText.includes(%q)`, wrong, c.zh))
		tb.speak("en")
		tb.says(".sale", "Strategies")
	}
	tb.good("wrong input")

	t.Log("it goes when it is mended")
	tb.sale("strategies=conditional&stock=100&quantity=0")
	tb.click("button.run")
	tb.says("#quantity-wrong", "whole number")
	tb.fill("#quantity", "1")
	tb.await(`$("#quantity-wrong").innerText === "" && location.hash.includes("quantity=1")`)
}

func TestSettingsAreInTheAddress(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("lab?strategies=naive,conditional&profile=constant&rate=200&duration=7&seed=18446744073709551615")
	tb.settings()
	tb.chosen("conditional", "naive")
	tb.await(`$("#rate").value === "200" && $("#seed").value === "18446744073709551615"`)
	tb.await(`!$("#buyers")`)
	tb.says(".boxes", "no ZooKeeper is configured")
	tb.good("settings")
	tb.click(".segments label:nth-child(2)")
	tb.fill("#stock", "77")
	tb.await(`location.hash.includes("profile=spike") && location.hash.includes("stock=77")`)

	t.Log("the link brings it back, in another browser too")
	tb.eval(`navigator.clipboard.writeText = async (text) => { window.copied = text; }`)
	tb.click(".copy button")
	tb.says(".copy", "Copied")
	other := fresh(t, ask[string](tb, `window.copied`))
	other.settings()
	other.await(`$("#stock")?.value === "77" && $(".segments :checked").value === "spike"`)
	tb.forgive("status of 400")
	tb.goTo("lab?strategies=naive&fault=restart_redis")
	tb.click("button.run")
	tb.says(".start [role=alert]", "redis is not one server of the lab")
}

// With the keyboard alone, people can find strategies by their common names, choose them and run them.
func TestRunByKeyboard(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	tb := f.open("")
	tb.says(".start", "See it break")
	tb.reach("#settings")
	tb.press("\r")
	tb.shows(`#strategies input`)
	tb.chosen("conditional")
	tb.reach("#wanted")
	for _, search := range []string{"读出", "compute", "无锁", "naive"} {
		tb.fill("#wanted", search)
		tb.await(`$$(".choice li code").map((name) => name.innerText).join() === "naive"`)
	}
	tb.reach("[type=checkbox][value=naive]")
	tb.press(" ")
	tb.await(`$(".choice .chosen").textContent.trim() === "naive conditional"`)
	tb.fill("#wanted", "no such")
	tb.says(".boxes", "No strategy matches “no such”")
	tb.reach(".start .run")
	tb.press("\r")
	tb.says(".banner.busy", "selling")
	f.results <- fakeResult(judge.Held)
	f.results <- fakeResult(judge.Held)
	tb.await(`$$("[data-verdict=held]").length === 2`)
}

// The page is served while the servers start. A run that is started meanwhile waits for them.
func TestRunAsTheLabTellsIt(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	tb := f.open("")
	tb.good("start")
	tb.sale("strategies=naive")
	tb.click("button.run")
	tb.says(".banner.busy", "naive: selling")
	for i := range 60 {
		f.progress <- fakeProgress(i, 70-2*i, 30+i)
	}
	tb.says("[data-left]", "−48")
	tb.says(".numbers-row", "below zero")
	tb.says(".numbers-row .told", "sold out 1,091")
	tb.click("button.stop")
	tb.says("[data-verdict]", "NOT VALID")
	tb.says(".rules", "Interrupted after 60 of 2,000 buyers.")
	tb.says(".rules", "Something new.") // the page has no words for this code, so it shows the lab's
	tb.speak("zh-CN")
	tb.says(".rules", "2,000 位买家中只到了 60 位就中断了。")
	tb.speak("en")

	for _, v := range []struct {
		verdict judge.Verdict
		word    string
	}{
		{judge.Held, "HELD"}, {judge.Lost, "LOST"}, {judge.Oversold, "OVERSOLD"},
	} {
		tb.click("button.run")
		tb.says(".banner.busy", "naive: selling")
		f.progress <- fakeProgress(99, 0, 100)
		var violations []judge.Violation
		if v.verdict != judge.Held {
			violations = []judge.Violation{{Rule: judge.RuleLostUpdate, Verdict: v.verdict,
				Message: "deductions were overwritten",
				Count:   31, Examples: []string{"order <i>ABC</i>", "user 7"}}}
		}
		f.results <- fakeResult(v.verdict, violations...)
		tb.says("[data-verdict] .word", v.word)
	}
	tb.says("[data-verdict=oversold]", "naive · 31 units more than there were.")
	tb.evidence()
	for selector, said := range map[string]string{
		".ran-on": "MariaDB 10.11.14 (mysql, private)", "[data-sign=right][data-answer=no]": "Not right",
		"[data-sign=served][data-answer=no]": "One answer in a hundred took longer than 3.1 s, and 2.0 s are allowed",
		".rules":                             "Lost updates lost_update", ".rules .examples": "order <i>ABC</i>",
		".rules .examples li:last-child": "and 29 more",
	} {
		tb.says(selector, said)
	}
	tb.eval(`$(".runs").open = true`)
	tb.says(".history tbody:nth-of-type(4)", "NOT VALID")

	t.Log("a run of the history has an address, which survives a reload and brings its result into view")
	tb.in(look{"narrow", 390, 844, true})
	tb.click(".history tbody:nth-of-type(3) a")
	tb.says("[data-verdict] .word", "HELD")
	tb.await(`location.hash.includes("run=") && document.activeElement.id === "stage"`)
	tb.evidence()
	tb.eval(`$(".about-run a:last-of-type").click()`)
	tb.await(`/^#\/lab\?run=\w+$/.test(location.hash)`)
	tb.do(chromedp.Reload())
	tb.says("[data-verdict] .word", "HELD")
	tb.await(`[$("[data-verdict]").getBoundingClientRect()].every(({ top, bottom }) => top >= 0 && bottom <= innerHeight)`)
	tb.in(wide)
	tb.forgive("status of 404")
	kept := ask[string](tb, `location.hash.slice(2)`)
	tb.goTo("lab?run=NONE")
	tb.says(".failed", "There is no such run: the last 50 are kept.")
	tb.goTo(kept)
	tb.says(".tried", "2,000 buyers, 64 at a time, in 1 service process", "no fault: nothing was killed")
	tb.await(`$(".chips a")?.hash === "#/trace/naive.oversell"`)
	tb.evidence()
	tb.says("[data-sign=right][data-answer=yes]", "Right")
	tb.says("[data-sign=served][data-answer=yes]", "Served")
	tb.saves()
	tb.click(".about-run button")
	file := tb.saved("seckill-run-naive-")
	for _, want := range []string{"naive: HELD", "Nothing was oversold, lost or invented.",
		"seckill load --strategy naive --", "--seed ", "seckill test · ", "MariaDB 10.11.14", "default-src 'none'"} {
		labtest.Contains(t, file, want, "the saved file")
	}
	if !ask[bool](tb, `!/<(script|link|button|a) |src="(?!data:)|url\(/.test(Object.values(window.saved)[0])`) {
		t.Error("the saved file needs something else")
	}

	t.Log("blocked, by the fault that it had, which is offered once the run goes on for long enough")
	tb.click(".guided li:first-child button")
	tb.says(".banner.busy", "naive: selling")
	f.progress <- fakeProgress(9, 91, 9)
	tb.await(`$("[data-sold]").dataset.sold === "9" && $("[data-fault]") === null`)
	f.progress <- fakeProgress(12, 91, 9)
	tb.shows("[data-fault=kill_service]")
	tb.await(`$("[data-fault=pause_holder]") === null`) // not offered, because naive has no lock
	tb.says(".faults summary", "1 more fault needs other servers")
	tb.eval(`fetch("/api/lab/v1/runs").then((r) => r.json()).then(({ runs: [{ id }] }) =>
		fetch("/api/lab/v1/runs/" + id + "/faults", { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"kind":"pause_holder"}' }))`)
	tb.says(".happened", "Freeze the lock’s holder past its lease, Service process 2")
	blocked := fakeResult(judge.Held)
	blocked.Verdict, blocked.Audit.Served = loadtest.Blocked, &judge.Served{State: judge.ServedBlocked,
		LongestMs: 11500}
	f.results <- blocked
	tb.says("[data-verdict] .word", "BLOCKED")
	tb.await(`location.hash === "#/"`) // the page changes to the run that began
	tb.eval(`$(".runs").open = true`)
	tb.says(".history tbody:nth-of-type(1)", "Freeze the lock’s holder past its lease")
	tb.says(".because", "Service process 2 stood still at ")
	tb.says(".because", "with the purchase of user 7, which held the lock a-lock; buyers asked for it in vain for 11.5 s, while units were left; it is free again when ")
	tb.says(".because-of .hint", "longer than a wait (3,000 ms) and a lease (8,000 ms) together")
	tb.evidence()
	tb.good("blocked, with its evidence and the runs before")
}

// If content cannot be loaded, the page says so in the reader's language and offers to try again.
// When the lab is back, the page loads the content by itself.
func TestWhatCouldNotBeLoadedComesBack(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	tb := f.open("trace/naive.oversell")
	tb.forgive("net::ERR_")
	tb.says("h1", "naive sells 3 of 2")
	tb.speak("zh-CN")
	tb.goTo("")
	tb.sale("strategies=conditional")
	other := f.open("")
	other.forgive("net::ERR_")
	other.shows("#settings")
	other.hidden(true)
	f.falls(true)
	other.click("#settings")
	other.says(".failed", "这个页面加载失败") // the code of the form is loaded when the form is opened
	tb.says(".lost-connection", "断了")
	if ask[bool](other, `!!$(".lost-connection")`) {
		t.Error("a hidden page keeps a connection")
	}
	other.hidden(false)
	other.says(".lost-connection", "断了")
	other.click("#language") // the page has the other language, or says why not
	other.await(`document.documentElement.lang === "en" || $("header [role=alert]").innerText.includes("没有响应")`)
	tb.await(`getComputedStyle($("button.run")).filter === "grayscale(1)" &&
		$(".lost-connection").innerText.includes("make demo")`)
	tb.click("button.run")
	tb.says(".start [role=alert]", "实验室没有响应。它还在运行吗？")
	tb.goTo("trace/naive.processes")
	tb.says(".failed", "实验室没有响应")
	tb.speak("en")
	tb.says(".failed", "The lab does not answer. Is it still running?")
	tb.good("not loaded")
	tb.click(".failed button")
	f.falls(false)
	tb.says("h1", "naive sells")
	tb.await(`!$(".failed, .lost-connection")`)
	other.eval(`$(".failed button")?.click()`) // if the form has come by itself, there is no button
	other.shows("#strategies")
}

func TestLabWithToken(t *testing.T) {
	t.Parallel()
	f := startFakeWith(t, "s3cret")
	stranger := f.open("")
	stranger.forgive("status of 403")
	stranger.click(".guided li:first-child button")
	stranger.says(".start .wrong", "token")
	stranger.shows(".start #token")
	stranger.sale("strategies=naive")
	stranger.click("button.run")
	stranger.says("#token-wrong", "Enter the token")
	stranger.fill("#token", "s3cret")
	stranger.click("button.run")
	stranger.says(".banner.busy", "naive: selling")
	f.results <- fakeResult(judge.Held)
	stranger.says("[data-verdict] .word", "HELD")

	// The address that the lab prints has the token.
	owner := fresh(t, f.url+"/#token=s3cret")
	owner.await(`location.hash === ""`)
	owner.click(".guided li:first-child button")
	owner.says(".banner.busy", "naive: selling")
	f.results <- fakeResult(judge.Held)
	owner.says("[data-verdict] .word", "HELD")
}
