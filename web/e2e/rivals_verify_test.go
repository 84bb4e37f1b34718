//go:build verify

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// on puts the shop's next sale on, as the operator's screen does.
func (tb *tab) on(strategy string, stock int) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`window.isOn = ""; {
		const put = (path, body) => fetch(path, {method: "PUT", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)})
			.then(async (r) => { if (!r.ok) throw new Error(await r.text()); });
		put("/api/lab/v1/shop", {strategy: %q}).then(() => put("/api/v1/skus/2", {stock: %d, name: "Bicycle"}))
			.then(() => { isOn = "yes"; }, (e) => { isOn = e.message; });
	}`, strategy, stock))
	tb.await(`isOn !== ""`)
	if !tb.is(`isOn === "yes"`) {
		tb.fail(tb.text("body"))
	}
	tb.left(fmt.Sprint(stock))
}

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
	buyer, class := b.open(shop, wide), b.open(shop+"?split", wide)
	for _, tb := range []*tab{buyer, class} {
		tb.forgive(refusedInThePage)
		tb.forgive("the server responded with a status of 503")
	}
	buyer.await(`document.querySelector(".shelf") !== null`)
	buyer.on("naive", 100)

	t.Log("how many is said in place")
	for _, n := range []string{"99", "5001", "many", "-1"} {
		buyer.fill("#rivals", n)
		buyer.click(".send")
		buyer.says("#rivals-wrong", "from 100 to 5,000")
		buyer.await(`document.activeElement.id === "rivals"`)
	}
	buyer.wellLaidOut("shop, wrong number of rivals")

	t.Log("what the lab refuses is said")
	buyer.eval(`window.sent = window.fetch; window.fetch = (path, init) => path.endsWith("/rivals")
		? Promise.resolve(new Response(JSON.stringify({code: window.refusal, detail: "because"}), {status: 409})) : sent(path, init); undefined`)
	buyer.fill("#rivals", "2000")
	for code, says := range map[string]string{"run_in_progress": "busy with a run", "backend_unavailable": "servers do not answer",
		"forbidden": "the lab’s token", "not_found": "belongs to no lab", "not_started": "too early", "something": "because"} {
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
	class.await(`document.querySelectorAll(".stream tr.bad").length > 10 && document.querySelectorAll(".stream tbody tr").length <= 60`)
	class.shot("split-running")
	buyer.shot("rivals-here")
	buyer.await(`document.querySelector(".story")?.dataset.verdict === "oversold"`)
	buyer.told(`fetch("/api/lab/v1/shop/ledger?user_id=" + document.querySelector("[data-user]").dataset.user).then((r) => r.json())
		.then(({yours, sold, twice}) => [sold > 100, twice > 0, document.querySelector(".story").dataset.yours === (yours.holders > 1 ? "shared" : "got"),
			yours.holders === 1 || document.querySelector(".story .word").innerText.includes(`+"`${yours.holders - 1} others hold unit ${yours.remaining + 1}`"+`)])`,
		"true,true,true,true")
	buyer.await(`document.querySelector('.links a[href^="/#/trace/naive"]') && document.querySelector('.links a[href="/shop/admin?strategy=conditional"]')`)
	buyer.inEveryLook("story broken")
	buyer.wellLaidOut("shop, a story")
	class.await(`Number(document.querySelector("[data-ledger-twice]").innerText) > 0`)
	class.inEveryLook("split broken")
	class.wellLaidOut("shop and ledger")

	t.Log("the link puts the one that holds on")
	buyer.click(`.links a[href="/shop/admin?strategy=conditional"]`)
	buyer.await(`document.querySelector("#strategy")?.value === "conditional" && document.querySelector("[data-strategy]")`)
	buyer.click("button.run")
	buyer.says(".settings > .wrong", "Its orders end with it")
	buyer.click("button.run")
	buyer.says(".done", "Done")
	buyer.do(chromedp.Navigate(shop))
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
	class.speak("zh-CN")
	class.shot("split-held-zh")
	class.speak("en")

	t.Log("in time")
	buyer.on("conditional", 3000)
	buyer.speak("en")
	buyer.fill("#rivals", "500")
	buyer.click(".send")
	buyer.await(`document.querySelector('[data-rivals="here"]') !== null`)
	buyer.click("button.buy")
	buyer.answer("sold")
	buyer.await(`document.querySelector(".story")?.dataset.yours === "got"`)
	buyer.says(".story", "You got it, with the")
	buyer.told(`fetch("/api/lab/v1/shop/ledger").then((r) => r.json()).then(({sold, twice}) => [sold, twice])`, "501,0")
	buyer.shot("story-got")

	t.Log("an answer that is lost is no “sold out”")
	buyer.on("conditional", 100)
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
	buyer.on("naive", 100)
	buyer.click(".send")
	buyer.click(".coming button")
	buyer.told(rivalsOfShop+`.then((r) => r.stopped)`, "true")
	buyer.await(`document.querySelector(".send") !== null`)
	buyer.click(".send")
	buyer.await(`document.querySelector('[data-rivals="waiting"]') !== null`)
	buyer.do(chromedp.Navigate("about:blank"))
	class.await(`(window.now ??= { state: "" }, ` + rivalsOfShop + `.then((r) => { now = r; }), now.state === "done" && !now.stopped)`)
	class.await(`now.answered === 500`)
}
