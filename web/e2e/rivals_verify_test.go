//go:build verify

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// told waits until what a promise came to, as text, has a part.
func (tb *tab) told(promise, part string) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`window.said = null; Promise.resolve(%s).then((s) => { said = String(s); }, (e) => { said = e.message; }); undefined`, promise))
	tb.await(`said !== null`)
	if !tb.is(fmt.Sprintf(`said.includes(%q)`, part)) {
		said, _ := chromedp.Run(tb.ctx, chromedp.Evaluate[string](`said`))
		tb.t.Errorf("%s came to %s, want %s", promise, said, part)
	}
}

const rivalsOfShop = `fetch("/api/lab/v1/shop").then((r) => r.json()).then(({rivals}) => rivals)`

// Thousands of rivals in the shop of a real lab, with a strategy that breaks and
// one that holds, and the ledger beside it.
func TestRivals(t *testing.T) {
	shop := strings.TrimSuffix(sharedLab(t).page, "/") + "/shop"
	b := startBrowser(t)
	buyer := b.open(shop, wide)
	buyer.forgive(refusedInThePage)
	buyer.forgive("the server responded with a status of 503")
	buyer.await(`document.querySelector(".shelf") !== null`)
	buyer.sells("naive", 100, 0)

	t.Log("what the lab refuses is said")
	buyer.eval(`window.sent = window.fetch; window.fetch = (path, init) => path.endsWith("/rivals")
		? Promise.resolve(new Response(JSON.stringify({code: window.refusal, detail: "because"}), {status: 409})) : sent(path, init); undefined`)
	for code, says := range map[string]string{"run_in_progress": "busy with a run", "backend_unavailable": "servers do not answer",
		"forbidden": "the lab’s token", "not_started": "too early", "something": "because"} {
		buyer.eval(fmt.Sprintf(`window.refusal = %q`, code))
		buyer.click(".send")
		buyer.says(".refused", says)
	}
	buyer.accessible("rivals refused")
	buyer.eval(`window.fetch = sent; undefined`)

	t.Log("a strategy that breaks")
	buyer.click(".send")
	buyer.await(`document.querySelector('[data-rivals="waiting"]') !== null`)
	buyer.shot("rivals-waiting")
	buyer.accessible("rivals waiting")
	buyer.told(`fetch("/api/lab/v1/shop/rivals", {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}).then((r) => r.text())`,
		"busy with 2,000 rivals")
	buyer.await(`document.querySelector('[data-rivals="here"]') !== null`)
	buyer.await(`Number(document.querySelector(".coming progress")?.value) > 100`)
	buyer.click("button.buy")
	buyer.answer("sold")
	buyer.await(`document.querySelectorAll(".stream tr.bad").length > 10 && document.querySelectorAll(".stream tbody tr").length <= 60`)
	buyer.shot("rivals-here")
	buyer.await(`document.querySelector(".story")?.dataset.verdict === "oversold"`)
	buyer.told(`fetch("/api/lab/v1/shop/ledger?user_id=" + document.querySelector("[data-user]").dataset.user).then((r) => r.json())
		.then(({yours, sold, twice}) => [sold > 100, twice > 0, document.querySelector(".story").dataset.yours === (yours.holders > 1 ? "shared" : "got"),
			yours.holders === 1 || document.querySelector(".story .word").innerText.includes(`+"`${yours.holders - 1} others hold unit ${yours.remaining + 1}`"+`)])`,
		"true,true,true,true")
	buyer.await(`document.querySelector('.links a[href^="/#/trace/naive"]') && document.querySelector('.links [data-next=conditional]')`)
	buyer.inEveryLook("story broken")
	buyer.wellLaidOut("shop, a story")
	buyer.await(`Number(document.querySelector("[data-ledger-twice]").innerText) > 0`)

	t.Log("a button puts the one that holds on")
	buyer.click(".links [data-next=conditional]")
	buyer.says("[data-strategy]", "conditional")
	buyer.left("100")
	buyer.await(`!document.querySelector(".story")`)
	buyer.click(".send")
	buyer.await(`document.querySelector(".story")?.dataset.verdict === "held"`)
	buyer.says(".story", "You have bought nothing")
	buyer.says(".story", "100 of 100 units sold, each to one buyer")

	t.Log("too late, and when")
	buyer.click("button.buy")
	buyer.answer("sold_out")
	buyer.says(".story", "Sold out: 2,000 rivals were here")
	buyer.says(".story", "You were told after")
	buyer.inEveryLook("story late")
	buyer.speak("zh-CN")
	buyer.says(".story", "已售罄：2,000 名对手来过")
	buyer.shot("story-late-zh")

	t.Log("in time")
	buyer.sells("conditional", 3000, 0)
	buyer.speak("en")
	buyer.set("#rivals", "500")
	buyer.click(".send")
	buyer.await(`document.querySelector('[data-rivals="here"]') !== null`)
	buyer.click("button.buy")
	buyer.answer("sold")
	buyer.await(`document.querySelector(".story")?.dataset.yours === "got"`)
	buyer.says(".story", "You got it, with the")
	buyer.told(`fetch("/api/lab/v1/shop/ledger").then((r) => r.json()).then(({sold, twice}) => [sold, twice])`, "501,0")
	buyer.shot("story-got")

	t.Log("an answer that is lost is no “sold out”")
	buyer.sells("conditional", 100, 0)
	buyer.eval(`window.sent = window.fetch; window.fetch = (path, init) => path.includes("/seckill")
		? Promise.reject(new TypeError("lost")) : sent(path, init); undefined`)
	buyer.click("button.buy")
	buyer.click(".send")
	buyer.await(`document.querySelector(".story")?.dataset.yours === "unknown"`)
	buyer.says(".story", "That is not “sold out”")
	buyer.eval(`window.fetch = sent; undefined`)

	t.Log("the run has its place in the Lab")
	buyer.click(`.links a[href^="/#/lab?run="]`)
	buyer.await(`document.querySelector("#stage [data-verdict], .stage [data-verdict]")?.dataset.verdict === "held"`)
	buyer.do(chromedp.Navigate(shop))

	t.Log("rivals end when they are stopped, and when their page is closed")
	buyer.sells("naive", 100, 0)
	buyer.click(".send")
	buyer.click(".coming button")
	buyer.told(rivalsOfShop+`.then((r) => r.stopped)`, "true")
	buyer.await(`document.querySelector(".send") !== null`)
	buyer.click(".send")
	buyer.await(`document.querySelector('[data-rivals="waiting"]') !== null`)
	buyer.do(chromedp.Navigate("about:blank"))
	buyer.do(chromedp.Navigate(shop))
	buyer.await(`(window.now ??= { state: "" }, ` + rivalsOfShop + `.then((r) => { now = r; }), now.state === "done" && !now.stopped)`)
	buyer.await(`now.lanes[0].result.requests === 2000`)
}
