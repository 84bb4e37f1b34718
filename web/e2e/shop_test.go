package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// refusedInThePage is what browsers write into their console about answers
// that are no success, whatever the page makes of them.
const refusedInThePage = "the server responded with a status of 4"

// The shop of a real lab, with two service processes behind it.
func TestShop(t *testing.T) {
	u := sharedLab(t)
	shop := strings.TrimSuffix(u.page, "/") + "/shop"
	b := startBrowser(t)
	buyer, operator := b.open(shop, wide), b.open(shop+"/admin", wide)
	buyer.forgive(refusedInThePage)
	operator.forgive(refusedInThePage)

	t.Log("a whole purchase")
	buyer.says("h1", "demo")
	buyer.left("100")
	buyer.inEveryLook("shop open")
	buyer.click("button.buy")
	buyer.answer("sold")
	buyer.says(".answer", "It is yours")
	buyer.left("99")
	buyer.await(`document.querySelectorAll('.orders li[data-status="active"]').length === 1`)
	buyer.await(`document.querySelector(".answer code").innerText === document.querySelector(".orders li code").innerText`)
	buyer.inEveryLook("shop sold")

	t.Log("a duplicate")
	buyer.click("button.buy")
	buyer.answer("duplicate")
	buyer.says(".answer", "One per person")

	t.Log("cancel, and buy again")
	buyer.click("button.cancel")
	buyer.says(".orders", "for sale again")
	buyer.await(`document.querySelectorAll('.orders li[data-status="cancelled"]').length === 1`)
	buyer.left("100")
	buyer.click("button.buy")
	buyer.answer("sold")
	buyer.left("99")

	t.Log("wrong settings are said in place")
	operator.await(`document.querySelector("#strategy option:enabled") && document.querySelector("[data-strategy]")`)
	for field, c := range map[string][2]string{
		"name": {"   ", "1 to 255"}, "stock": {"many", "from 0 to 1,000,000,000"},
	} {
		before, good := c[0], map[string]string{"name": "demo", "stock": "100"}[field]
		operator.fill("#"+field, before)
		operator.click("button.run")
		operator.says("#"+field+"-wrong", c[1])
		operator.await(fmt.Sprintf(`document.activeElement.id === %q`, field))
		operator.fill("#"+field, good)
	}
	operator.set("#start", "at")
	operator.click("button.run")
	operator.says("#time-wrong", "date and a time")
	operator.inEveryLook("shop admin")

	t.Log("the countdown, and an early request by hand")
	operator.fill("#name", "Ein Fahrrad — 自行车 <b>")
	operator.fill("#stock", "1")
	operator.set("#start", "s10")
	operator.set("#strategy", "for-update")
	operator.await(`document.querySelector("[data-sold]").innerText === "1"`) // it has heard of the sale
	operator.click("button.run")
	operator.says(".settings > .wrong", "Buyers have taken 1 of this sale.")
	operator.click("button.run")
	operator.says(".done", "Done. Buyers see it")
	operator.says("[data-strategy]", "for-update")
	buyer.says("h1", "Ein Fahrrad — 自行车 <b>")
	buyer.says(".countdown", "The sale starts in")
	buyer.await(`document.querySelector("button.buy").ariaDisabled === "true" && !document.querySelector(".said")`)
	buyer.eval(`window.early = []; for (let user = 1; user <= 6; user++) fetch("/api/v1/seckill?strategy=for-update", {method: "POST",
		headers: {"Content-Type": "application/json"}, body: JSON.stringify({sku_id: 2, user_id: user})})
		.then(async (r) => early.push([r.status, (await r.json()).code, Number(r.headers.get("Retry-After")) > 0].join()))`)
	buyer.await(`early.length === 6`)
	buyer.await(`early.every((said) => said === "409,not_started,true")`)
	buyer.left("1")
	buyer.eval(`window.seen = new Set(); new MutationObserver(() => {
		const clock = document.querySelector("[data-seconds]"); if (clock) seen.add(clock.dataset.seconds);
	}).observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true})`)
	buyer.shot("shop-countdown")
	buyer.accessible("shop countdown")
	buyer.await(`!document.querySelector("button.buy").ariaDisabled`)
	buyer.await(`seen.has("2") && seen.has("1")`) // it counted, and not past the end
	buyer.click("button.buy")
	buyer.answer("sold")
	buyer.left("0")

	t.Log("another buyer comes too late")
	buyer.click(".buyer button")
	buyer.fill("#user", "nobody")
	buyer.click(".buyer form button")
	buyer.says("#user-wrong", "whole number")
	buyer.fill("#user", "4711")
	buyer.click(".buyer form button")
	buyer.says(".buyer", "4711")
	buyer.says(".orders", "None yet")
	buyer.click("button.buy")
	buyer.answer("sold_out")
	buyer.says(".shelf", "None left")
	buyer.await(`!document.querySelector("button.run")`) // buying is not what to do
	buyer.inEveryLook("shop sold out")

	t.Log("an answer that is lost is looked up")
	operator.fill("#stock", "50")
	operator.set("#start", "now")
	operator.click("button.run")
	operator.says("button.run", "End this sale")
	operator.click("button.run")
	buyer.left("50")
	buyer.eval(`window.sent = window.fetch; window.keys = []; window.fetch = async (path, init) => {
		const answer = sent(path, init);
		if (init?.method !== "POST") return answer;
		keys.push(init.headers["Idempotency-Key"]);
		await answer;
		throw new TypeError("the answer is lost");
	}`)
	buyer.click("button.buy")
	buyer.answer("sold")
	buyer.left("49")
	buyer.await(`keys.length === 1`)

	t.Log("a request that is lost is asked again with its key, also after a reload")
	buyer.click("button.cancel")
	buyer.left("50")
	buyer.eval(`window.fetch = async (path, init) => {
		if (init?.method !== "POST") return sent(path, init);
		keys.push(init.headers["Idempotency-Key"]);
		throw new TypeError("the request is lost");
	}`)
	buyer.click("button.buy")
	buyer.answer("looking")
	buyer.says(".answer", "Looking it up")
	buyer.answer("unknown")
	buyer.shot("shop-unknown")
	buyer.accessible("shop unknown")
	buyer.eval(`sessionStorage.setItem("key", keys[1])`)
	buyer.await(`keys.length === 2 && keys[0] !== keys[1]`) // a key for each wish
	buyer.do(chromedp.Reload())
	buyer.answer("looking")
	buyer.answer("unknown")
	buyer.click(".answer .offer")
	buyer.answer("sold")
	buyer.left("49")
	buyer.await(`(window.asked ??= (fetch("/api/v1/orders?user_id=4711&request_id=" + sessionStorage.getItem("key"))
		.then((r) => r.json()).then((r) => { window.mine = r.orders.length; }), true)) && window.mine === 1`)

	t.Log("Chinese, remembered")
	buyer.click("#language")
	buyer.says(".orders h2", "我的订单")
	buyer.await(`document.title === "限时秒杀" && document.documentElement.lang === "zh-CN"`)
	buyer.do(chromedp.Reload())
	buyer.says("button.buy", "抢一件")
	buyer.inEveryLook("shop zh")
	operator.do(chromedp.Reload())
	operator.says("button.run", "重置并上架")
	operator.inEveryLook("shop admin zh")
	buyer.click("#language")
	buyer.says("button.buy", "Buy one")
}

// With a token the operator needs it, and buyers do not.
func TestShopWithToken(t *testing.T) {
	u := startUp(t, buildProgram(t), "--addr", "127.0.0.1:0", "--embedded", "--token", "s3cret")
	shop, _, _ := strings.Cut(u.page, "#")
	shop = strings.TrimSuffix(shop, "/") + "/shop"
	b := startBrowser(t)
	operator := b.open(shop+"/admin", wide)
	operator.forgive(refusedInThePage)
	operator.await(`document.querySelector("#strategy option:enabled") && document.querySelector("#token") && document.querySelector("[data-strategy]")`)
	operator.fill("#stock", "7")
	operator.click("button.run")
	operator.says("#token-wrong", "Enter the token")
	operator.fill("#token", "wrong")
	operator.click("button.run")
	operator.says(".settings > .wrong", "Not set")
	operator.fill("#token", "s3cret")
	operator.click("button.run")
	operator.says(".done", "Done. Buyers see it")
	buyer := b.open(shop, wide)
	buyer.left("7")
	buyer.click("button.buy")
	buyer.answer("sold")
	buyer.left("6")
	operator.says("[data-sold]", "1")

	t.Log("so it is with rivals")
	buyer.forgive(refusedInThePage)
	buyer.fill("#rivals", "100")
	buyer.click(".send")
	buyer.says(".refused", "the lab’s token")
	operator.do(chromedp.Navigate(shop + "?split"))
	operator.left("6")
	operator.fill("#rivals", "100")
	operator.click(".send")
	operator.says(".coming", "100 rivals come in")
	buyer.says(".coming", "100 rivals")
	buyer.await(`document.querySelector(".story")?.dataset.verdict === "held"`)
	buyer.says(".story", "You got it, with the 1st order")
	buyer.says(".story", "7 of 7 units sold, each to one buyer")
	operator.says(".story", "You got it, with the 1st order") // it is the same buyer
	operator.await(`document.querySelectorAll(".stream tbody tr:not(.bad)").length === 7 && document.querySelector("[data-ledger-twice]").innerText === "0"`)
}

// The keyboard is enough to buy.
func TestShopByKeyboard(t *testing.T) {
	tb := startBrowser(t).open(strings.TrimSuffix(sharedLab(t).page, "/")+"/shop", wide)
	tb.await(`Number(document.querySelector(".shelf")?.dataset.left) > 0 && !document.querySelector("button.buy").ariaDisabled`)
	tb.eval(`document.querySelector(".places li:last-child a").focus()`)
	tb.do(chromedp.KeyEvent("\t"))
	tb.await(`document.activeElement.matches("button.buy")`)
	tb.do(chromedp.KeyEvent("\r"))
	tb.answer("sold")
	tb.do(chromedp.KeyEvent("\t"))
	tb.await(`document.activeElement.id === "rivals"`)
	tb.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	tb.await(`document.activeElement.id === "user"`)
	tb.do(chromedp.KeyEvent("77"), chromedp.KeyEvent("\r"))
	tb.says(".buyer", "77")
	tb.await(`document.activeElement.matches(".buyer button")`)
}

// left waits until the shelf shows so many.
func (tb *tab) left(n string) {
	tb.t.Helper()
	tb.await(fmt.Sprintf(`document.querySelector(".shelf")?.dataset.left === %q`, n))
}

// answer waits for what the shop says to a purchase.
func (tb *tab) answer(code string) {
	tb.t.Helper()
	tb.await(fmt.Sprintf(`document.querySelector(".answer")?.dataset.code === %q`, code))
}

// set chooses from a list.
func (tb *tab) set(selector, value string) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`{
		const list = document.querySelector(%q);
		list.value = %q;
		list.dispatchEvent(new Event("change", {bubbles: true}));
	}`, selector, value))
	tb.await(fmt.Sprintf(`document.querySelector(%q).value === %q`, selector, value))
}
