package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// sells puts a sale on, as Shop admin does.
func (tb *tab) sells(strategy string, stock int) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`window.set = false;
		(async () => {
			const put = (path, body) => fetch(path, {method: "PUT", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
			const answers = [await put("/api/lab/v1/shop", {strategy: %q}), await put("/api/v1/skus/2", {name: "demo", stock: %d})];
			window.set = answers.every((a) => a.ok);
		})()`, strategy, stock))
	tb.await(`window.set`)
	tb.left(fmt.Sprint(stock))
}

// held waits until the shop shows a reservation in a state; "" is none.
func (tb *tab) held(state string) {
	tb.t.Helper()
	tb.await(fmt.Sprintf(`(document.querySelector(".reservation")?.dataset.state ?? "") === %q`, state))
}

// ledgerSays waits for a figure of the ledger beside the shop.
func (tb *tab) ledgerSays(figure, n string) {
	tb.t.Helper()
	tb.await(fmt.Sprintf(`document.querySelector("[data-ledger-%s]")?.innerText === %q`, figure, n))
}

// become has the page used by another buyer.
func (tb *tab) become(user string) {
	tb.t.Helper()
	tb.click(".buyer button")
	tb.fill("#user", user)
	tb.click(".buyer form button")
	tb.says(".buyer", user)
}

// countingPosts counts calls that change something, and lets a test lose some:
// window.loses(path) says which requests never arrive, forgets(path) which answers.
const countingPosts = `window.sent = window.fetch; window.posts = []; window.loses = window.forgets = () => false;
	window.fetch = async (path, init) => {
		if (!init?.method || init.method === "GET") return sent(path, init);
		posts.push(init.method + " " + path);
		if (loses(path)) throw new TypeError("the request is lost");
		const answer = await sent(path, init);
		if (forgets(path)) throw new TypeError("the answer is lost");
		return answer;
	}`

// A reservation in the shop of a real lab: paid, cancelled, expired, over a reload,
// a double click and lost answers.
func TestShopReserves(t *testing.T) {
	u := sharedLab(t)
	shop := strings.TrimSuffix(u.page, "/") + "/shop"
	b := startBrowser(t)
	tb := b.open(shop+"?split", wide)
	tb.forgive(refusedInThePage)
	tb.await(`document.querySelector(".shelf")`)
	tb.sells("reserve", 20)
	tb.await(`document.querySelector("button.reserve") && !document.querySelector("button.reserve").ariaDisabled`)
	tb.inEveryLook("shop reserve")

	t.Log("reserve, by a double click")
	tb.become("801")
	tb.set("#term", "60")
	tb.eval(countingPosts)
	tb.eval(`document.querySelector("button.reserve").focus(); document.querySelector("button.reserve").click(); document.querySelector("button.reserve").click()`)
	tb.held("reserved")
	tb.await(`posts.length === 1`)
	tb.await(`document.activeElement.matches(".reservation")`) // the button is gone, and no other one gets its keys
	tb.left("19")
	tb.ledgerSays("reserved", "1")
	tb.ledgerSays("sold", "0")
	tb.says(".orders li", "reserved")
	tb.await(`(() => { const s = Number(document.querySelector(".until [data-seconds]").dataset.seconds); return s > 30 && s < 60; })()`)
	tb.await(`document.querySelector(".reservation > [aria-live]").innerText === "At most 60 seconds left to pay."`) // and not each second
	tb.inEveryLook("shop reserved")

	t.Log("in Chinese")
	tb.speak("zh-CN")
	tb.says(".reservation", "已为你预留")
	tb.inEveryLook("shop reserved zh")
	tb.noEnglish("a reservation")
	tb.speak("en")

	t.Log("a reload keeps it, and a clock that is an hour off does not matter")
	tb.do(chromedp.Reload())
	tb.held("reserved")
	other := b.open(shop, wide)
	other.eval(`Date.now = () => 0`)
	other.held("reserved") // another page of the same buyer finds it
	other.await(`Number(document.querySelector(".until [data-seconds]").dataset.seconds) < 60`)

	t.Log("a payment whose answer is lost is looked up; a double click pays once")
	tb.eval(countingPosts + `; window.forgets = () => true`)
	tb.eval(`document.querySelector(".pay").click(); document.querySelector(".pay").click()`)
	tb.held("paid")
	tb.says(".reservation", "Paid: it is yours")
	tb.await(`posts.length === 1 && posts[0].endsWith("/pay")`)
	tb.ledgerSays("reserved", "0")
	tb.ledgerSays("sold", "1")
	tb.says(".orders li", "bought")
	other.held("paid") // the other page hears of it
	tb.inEveryLook("shop paid")
	tb.do(chromedp.Navigate(shop + "/admin"))
	tb.await(`document.querySelector("[data-reserved]")?.innerText === "0" && document.querySelector("[data-sold]").innerText === "1"`)
	tb.eval(`history.back()`)
	tb.held("paid") // the back button pays nothing
	tb.left("19")
	tb.do(chromedp.Navigate(shop + "?split")) // chromedp loses a page that comes back from the cache
	tb.held("paid")                           // or it moves what comes below it

	t.Log("a payment that is lost may be sent again")
	tb.become("802")
	tb.eval(countingPosts)
	tb.click("button.reserve")
	tb.held("reserved")
	tb.eval(`window.loses = (path) => path.endsWith("/pay")`)
	tb.click(".pay")
	tb.says(".reservation", "The answer was lost")
	tb.says(".reservation", "It is not known whether it is paid")
	tb.accessible("an unknown payment")
	tb.eval(`window.loses = () => false`)
	tb.click(".pay")
	tb.held("paid")
	tb.left("18")

	t.Log("cancelled: the stock is back")
	tb.become("803")
	tb.click("button.reserve")
	tb.held("reserved")
	tb.left("17")
	tb.click(".give-back")
	tb.held("cancelled")
	tb.left("18")
	tb.says(".orders li", "cancelled")
	tb.ledgerSays("reserved", "0")
	tb.click("button.reserve")
	tb.held("reserved")
	tb.click(".orders .cancel") // there, too
	tb.held("cancelled")
	tb.left("18")

	t.Log("not paid in time: it expires, and the stock is back")
	tb.become("804")
	tb.set("#term", "10")
	tb.click("button.reserve")
	tb.held("reserved")
	tb.eval(`window.seen = new Set(); new MutationObserver(() => {
		const clock = document.querySelector(".until [data-seconds]"); if (clock) seen.add(clock.dataset.seconds);
	}).observe(document.body, {subtree: true, childList: true, attributes: true, characterData: true})`)
	tb.held("expired")
	tb.await(`seen.size > 3`) // a busy machine may miss a second
	tb.says(".reservation", "It was not paid in time")
	tb.says(".orders li", "expired")
	tb.left("18")
	tb.inEveryLook("shop expired")

	t.Log("paid after the deadline: refused, in plain words")
	tb.eval(`window.plain = window.fetch`)
	tb.click("button.reserve")
	tb.held("reserved")
	tb.eval(`window.fetch = async (path, init) => {
		if (!String(path).includes("/reservations/") || init.method !== "POST") return plain(path, init);
		await new Promise((done) => { // the request is on its way until the sweeper has been there
			const look = async () => ((await (await plain(path.replace("/pay", ""))).json()).state === "expired" ? done() : setTimeout(look, 300));
			look();
		});
		return plain(path, init);
	}`)
	tb.click(".pay")
	tb.says(".reservation", "Paying …")
	tb.held("expired")
	tb.says(".reservation", "Your payment came after the deadline and was refused")
	tb.left("18")

	t.Log("a new sale ends it")
	tb.eval(`window.fetch = sent`)
	tb.set("#term", "300")
	tb.click("button.reserve")
	tb.held("reserved")
	tb.sells("reserve", 5)
	tb.says(".reservation", "your reservation ended with the old one")
	tb.accessible("a reservation that is gone")
	tb.sells("conditional", 100)
	tb.await(`!document.querySelector("button.reserve") && document.querySelector("button.buy")`)
}

// An answer in two steps: accepted, and then the order, also after a reload.
func TestShopAnswersWhenAccepted(t *testing.T) {
	u := sharedLab(t)
	tb := startBrowser(t).open(strings.TrimSuffix(u.page, "/")+"/shop", wide)
	tb.await(`document.querySelector(".shelf")`)
	tb.sells("redis-stream", 10)
	tb.await(`document.querySelector("#early")`)
	tb.become("811")
	tb.click("#early")
	tb.eval(`window.sent = window.fetch; window.prefers = [];
		window.fetch = (path, init) => { if (init?.method === "POST") prefers.push(init.headers.Prefer); return sent(path, init); }`)
	tb.click("button.buy")
	tb.answer("sold")
	tb.await(`prefers.join() === "respond-async"`)
	tb.says(".answer", "in the ledger after")
	tb.says(".orders li", "bought")
	tb.inEveryLook("shop two steps")
	tb.speak("zh-CN")
	tb.says(".answer", "后订单写入账本")
	tb.noEnglish("an answer in two steps")
	tb.speak("en")

	t.Log("while the order is not there yet")
	tb.become("812")
	tb.eval(`window.fetch = (path, init) => (String(path).includes("request_id=")
			? Promise.resolve(new Response(JSON.stringify({orders: [], request: {status: "pending"}}), {headers: {"Content-Type": "application/json"}}))
			: sent(path, init))`)
	tb.click("button.buy")
	tb.answer("accepted")
	tb.says(".answer", "the order is being written")
	tb.accessible("accepted")
	tb.do(chromedp.Reload())
	tb.answer("sold")
	tb.left("8")

	t.Log("a refusal that comes later")
	tb.become("813")
	tb.eval(`window.sent = window.fetch;
		window.fetch = (path, init) => {
			if (window.refusal && String(path).includes("request_id=")) {
				return Promise.resolve(new Response(JSON.stringify({orders: [], request: refusal}), {headers: {"Content-Type": "application/json"}}));
			}
			if (init?.method !== "POST") return sent(path, init);
			window.refusal = window.forgets ? undefined : {status: "refused", code: "sold_out"};
			window.key = init.headers["Idempotency-Key"];
			return Promise.resolve(new Response(JSON.stringify({request_id: key, status: "accepted", ask: ""}), {status: 202, headers: {"Content-Type": "application/json"}}));
		}`)
	tb.click("button.buy")
	tb.answer("sold_out")

	t.Log("accepted, and forgotten")
	tb.eval(`window.forgets = true`)
	tb.click("button.buy")
	tb.answer("accepted")
	tb.answer("forgotten")
	tb.says(".answer", "the service knows nothing of it")
	tb.eval(`window.fetch = sent`)
	tb.click(".answer .offer")
	tb.answer("sold")
	tb.left("7")
	tb.sells("conditional", 100)
}
