package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/internal/seckill"
)

// refusedInThePage matches the message that a browser writes to its console for every answer with an error status, even
// if the page handles the error.
const refusedInThePage = "the server responded with a status of 4"

// losing makes the page count the calls that change something, and lets a test lose some of them. window.loses(path)
// selects requests that never arrive, and window.forgets(path) answers that get lost.
const losing = `window.sent = window.fetch; window.keys = []; window.posts = []; window.loses = window.forgets = () => false;
	window.fetch = async (path, init) => {
		if (!init?.method || init.method === "GET") return sent(path, init);
		posts.push(init.method + " " + path);
		keys.push(init.headers["Idempotency-Key"]);
		if (loses(path)) throw new TypeError("the request is lost");
		const answer = await sent(path, init);
		if (forgets(path)) throw new TypeError("the answer is lost");
		return answer;
	}`

// hurried shortens the page's pauses of a second to a tenth of a second, except pauses that a test must observe.
const hurried = `{
	const wait = window.setTimeout;
	window.setTimeout = (then, ms, ...more) => wait(then, sessionStorage.slow ? ms : Math.min(ms, 100), ...more);
}`

// The shop of a real lab with two service processes. It has one sale at a time.
func TestShop(t *testing.T) {
	t.Parallel()
	shop := strings.TrimSuffix(sharedLab(t).page, "/") + "/#/shop" // leads to /shop
	for name, test := range map[string]func(t *testing.T, tb *tab){"sale": shopSells, "reservation": shopReserves} {
		t.Run(name, func(t *testing.T) {
			tb := fresh(t, shop)
			tb.forgive(refusedInThePage)
			tb.shows(`button.buy`)
			tb.do(loadsFirst(hurried), chromedp.Reload())
			test(t, tb)
		})
	}
}

func shopSells(t *testing.T, tb *tab) {
	t.Log("a whole purchase, by the keyboard")
	tb.says("h1", "Pocket power station")
	tb.shows(`.shelf[data-left="100"]`)
	tb.good("shop open")
	tb.reach("button.buy")
	tb.press("\r")
	tb.shows(`.answer[data-code=sold]`)
	tb.says(".answer", "It is yours")
	tb.shows(`.shelf[data-left="99"]`)
	tb.await(`$$('.orders li[data-status="active"]').length === 1`)
	tb.ledgerSays("sold", "1")
	tb.says(".stream tr.mine", "you")

	t.Log("a duplicate")
	tb.click("button.buy")
	tb.shows(`.answer[data-code=duplicate]`)
	tb.says(".answer", "One per person")

	t.Log("cancel, and buy again")
	tb.click("button.cancel")
	tb.says(".orders", "for sale again")
	tb.await(`$$('.orders li[data-status="cancelled"]').length === 1`)
	tb.shows(`.shelf[data-left="100"]`)
	tb.click("button.buy")
	tb.shows(`.answer[data-code=sold]`)
	tb.shows(`.shelf[data-left="99"]`)

	t.Log("the next sale, with another strategy")
	tb.await(`$$("#strategy option").length > 1`)
	tb.set("#strategy", "for-update")
	tb.fill("#stock", "1")
	tb.click(".next button")
	tb.shows(`.shelf[data-left="1"]`)
	tb.says("[data-strategy]", "for-update")
	tb.await(`!$(".said")`)
	tb.says(".orders", "None yet")
	tb.click("button.buy")
	tb.shows(`.answer[data-code=sold]`)
	tb.shows(`.shelf[data-left="0"]`)

	t.Log("another buyer comes too late")
	tb.reach(".buyer button")
	tb.press("\r")
	tb.await(`document.activeElement.id === "user"`)
	tb.fill("#user", "nobody\r")
	tb.says("#user-wrong", "whole number")
	tb.fill("#user", "4711\r")
	tb.says(".buyer", "4711")
	tb.await(`document.activeElement.matches(".buyer button")`)
	tb.says(".orders", "None yet")
	tb.click("button.buy")
	tb.shows(`.answer[data-code=sold_out]`)
	tb.says(".shelf", "None left")
	tb.await(`$("button.buy").matches(".offer")`) // when sold out, the button is not the main one
	tb.good("shop sold out")

	t.Log("an answer that is lost is looked up")
	tb.sells("conditional", 50, 0)
	tb.eval(losing + `; window.forgets = (path) => path.includes("/seckill")`)
	tb.click("button.buy")
	tb.shows(`.answer[data-code=sold]`)
	tb.shows(`.shelf[data-left="49"]`)
	tb.await(`posts.length === 1`)

	t.Log("a request that is lost is asked again with its key, also after a reload")
	tb.click("button.cancel")
	tb.shows(`.shelf[data-left="50"]`)
	tb.eval(`window.loses = (path) => path.includes("/seckill"); sessionStorage.slow = "yes"`)
	tb.click("button.buy")
	tb.shows(`.answer[data-code=looking]`)
	tb.says(".answer", "Looking it up")
	tb.eval(`delete sessionStorage.slow`)
	tb.shows(`.answer[data-code=unknown]`)
	tb.good("shop unknown")
	tb.eval(`sessionStorage.setItem("key", keys.at(-1))`)
	tb.await(`keys.length === 3 && keys[0] !== keys[2]`) // each new purchase has a new key
	tb.eval(`sessionStorage.slow = "yes"; window.fetch = async (path, init) => (path.includes("/seckill")
		? new Response(JSON.stringify({ code: "backend_unavailable" }), { status: 503 }) : sent(path, init))`)
	tb.click(".answer .offer")
	tb.shows(`.answer[data-code=looking]`) // this answer says nothing about the request before
	tb.do(chromedp.Reload())
	tb.shows(`.answer[data-code=looking]`)
	tb.eval(`delete sessionStorage.slow`)
	tb.shows(`.answer[data-code=unknown]`)
	tb.click(".answer .offer")
	tb.shows(`.answer[data-code=sold]`)
	tb.shows(`.shelf[data-left="49"]`)
	tb.await(`(window.asked ??= (fetch("/api/v1/orders?user_id=4711&request_id=" + sessionStorage.getItem("key"))
		.then((r) => r.json()).then((r) => { window.mine = r.orders.length; }), true)) && window.mine === 1`)

	t.Log("a sale that starts in a moment")
	tb.sells("for-update", 1, 3600)
	tb.says(".clock", "The sale starts in")
	tb.await(`$("button.buy").ariaDisabled === "true"`)
	tb.sells("for-update", 1, 1)
	tb.await(`!$("button.buy").ariaDisabled`)
	tb.click("button.buy")
	tb.shows(`.answer[data-code=sold]`)

	tb.sells("conditional", 100, 0)
}

// Reservations are paid, cancelled or expire, also after a double click and after lost answers.
func shopReserves(t *testing.T, tb *tab) {
	tb.await(`$(".shelf")`)
	tb.sells("reserve", 20, 0)
	tb.says("button.buy", "Reserve one")

	t.Log("reserve, by a double click; the orders, asked for before, come with it before the answer does")
	tb.eval(losing)
	tb.lasts(120)
	tb.eval(`window.hears = window.fetch;
		const bought = new Promise((done) => { window.buys = done; });
		window.fetch = async (path, init) => {
			if (path.includes("/orders?")) await bought;
			const answer = await hears(path, init);
			if (path.endsWith("/reservations?strategy=reserve")) buys();
			while (path.includes("/reservations") && !$(".reservation")) await new Promise(requestAnimationFrame);
			return answer;
		}; undefined`)
	tb.become("801")
	tb.eval(`$("button.buy").focus(); $("button.buy").click(); $("button.buy").click()`)
	tb.shows(`.reservation[data-state=reserved]`)
	tb.await(`posts.length === 1`)
	tb.await(`document.activeElement.matches(".reservation")`) // and no other button has the focus
	tb.eval(`window.fetch = hears`)
	tb.shows(`.shelf[data-left="19"]`)
	tb.ledgerSays("reserved", "1")
	tb.ledgerSays("sold", "0")
	tb.says(".orders li", "reserved")
	tb.await(`(() => { const s = Number($(".reservation [data-seconds]").dataset.seconds); return s > 5 && s <= 120; })()`)
	tb.good("shop reserved")

	t.Log("a payment whose answer is lost may be sent again, and a double click pays once")
	tb.eval(`window.loses = (path) => path.endsWith("/pay"); posts.length = 0`)
	tb.click(".pay")
	tb.says(".reservation", "It is not known whether it is paid")
	tb.eval(`window.loses = () => false; window.forgets = () => true; posts.length = 0;
		$(".pay").click(); $(".pay").click()`)
	tb.shows(`.reservation[data-state=paid]`)
	tb.says(".reservation", "Paid: it is yours")
	tb.await(`posts.length === 1 && posts[0].endsWith("/pay")`)
	tb.ledgerSays("reserved", "0")
	tb.ledgerSays("sold", "1")
	tb.says(".orders li", "bought")

	t.Log("cancelled: the stock is back")
	tb.eval(`window.forgets = () => false`)
	tb.become("803")
	tb.click("button.buy")
	tb.shows(`.reservation[data-state=reserved]`)
	tb.shows(`.shelf[data-left="18"]`)
	tb.click(".give-back")
	tb.shows(`.reservation[data-state=cancelled]`)
	tb.shows(`.shelf[data-left="19"]`)
	tb.says(".orders li", "cancelled")

	t.Log("not paid in time: it expires, and the stock is back")
	tb.lasts(1)
	tb.become("804")
	tb.eval(`window.told = []; window.hears = window.fetch;
		window.fetch = async (path, init) => {
			const answer = await hears(path, init);
			if (init?.method === "POST" && path.includes("/reservations")) told.push((await answer.clone().json()).state);
			return answer;
		}; undefined`)
	tb.click("button.buy")
	tb.await(`told.length === 1 && told[0] === "reserved"`) // the page may show this state for a moment only
	tb.shows(`.reservation[data-state=expired]`)
	tb.says(".reservation", "It was not paid in time")
	tb.says(".orders li", "expired")
	tb.shows(`.shelf[data-left="19"]`)

	tb.speak("zh-CN")
	tb.says(".reservation", "已过期")
	tb.none("a reservation says in English", ask[[]string](tb, latin))
	tb.speak("en")
	tb.sells("conditional", 100, 0)
	tb.says("button.buy", "Buy one")
}

// lasts sets the duration of reservations in seconds. The page itself asks for 20.
func (tb *tab) lasts(seconds int) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`window.asksFor ??= window.fetch;
		window.fetch = (path, init) => asksFor(path, init?.body ? { ...init, body: init.body.replace('"expires_in":20', '"expires_in":%d') } : init)`, seconds))
}

// sells creates a sale that starts after this number of seconds.
func (tb *tab) sells(strategy string, stock, seconds int) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`window.isOn = "";
		(async () => {
			const put = (path, body) => (window.sent ?? fetch)(path, {method: "PUT", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
			const starts = %d ? new Date(Date.now() + 1000 * %[1]d).toISOString() : undefined;
			for (const [path, body] of [["/api/lab/v1/shop", {strategy: %q}], ["/api/v1/skus/%d", {name: "demo", stock: %d, starts_at: starts}]]) {
				const answer = await put(path, body);
				if (!answer.ok) isOn = await answer.text();
			}
			isOn ||= "yes";
		})()`, seconds, strategy, seckill.ShopSKU, stock))
	tb.await(`isOn !== ""`)
	if !ask[bool](tb, `isOn === "yes"`) {
		tb.fail("the sale is not on")
	}
	tb.shows(fmt.Sprintf(`.shelf[data-left="%d"]`, stock))
}

// ledgerSays waits until the ledger beside the shop shows this value for a figure.
func (tb *tab) ledgerSays(figure, n string) {
	tb.t.Helper()
	tb.await(fmt.Sprintf(`$("[data-ledger-%s]")?.innerText === %q`, figure, n))
}

// become makes another buyer use the page.
func (tb *tab) become(user string) {
	tb.t.Helper()
	tb.click(".buyer button")
	tb.fill("#user", user)
	tb.click(".buyer form button")
	tb.says(".buyer", user)
}

// set chooses an entry of a list.
func (tb *tab) set(selector, value string) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`{
		const list = $(%q);
		list.value = %q;
		list.dispatchEvent(new Event("change", {bubbles: true}));
	}`, selector, value))
	tb.await(fmt.Sprintf(`$(%q).value === %q`, selector, value))
}
