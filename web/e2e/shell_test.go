package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// A new text is added twice.
func TestDictionariesHaveTheSameKeys(t *testing.T) {
	t.Parallel()
	tb := startBrowser(t).open(startFake(t).url, wide)
	for _, folder := range []string{"text", "lab/text", "compare/text", "shop/text", "guarantees/text", "choose/text", "chaos/text", "play/text", "teach/text", "lessons/text"} {
		tb.sameKeys("/static/" + folder + "/")
	}
	tb.await(`window.words > 400`)
}

func (tb *tab) sameKeys(folder string) {
	tb.t.Helper()
	tb.none(folder, ask[[]string](tb, `Promise.all(["en", "zh"].map((language) => import("`+folder+`" + language + ".js"))).then(([{ default: en }, { default: zh }]) => {
		const walk = (value, at) => typeof value === "object" && value !== null
			? Object.keys(value).flatMap((key) => walk(value[key], at + "." + key))
			: [at + ": " + typeof value + (typeof value === "function" ? " of " + value.length : "")];
		const [here, there] = [walk(en, "t"), walk(zh, "t")];
		window.words = here.length + (window.words ?? 0);
		return [...here.filter((k) => !there.includes(k)).map((k) => "only en: " + k),
			...there.filter((k) => !here.includes(k)).map((k) => "only zh: " + k)];
	})`))
}

func TestPreferencesAreRemembered(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	b := startBrowser(t)
	tb := b.open(f.url, wide)
	tb.says(".start", "See it break")
	tb.click("#language")
	tb.says(".start", "看它出错")
	tb.await(`document.documentElement.lang === "zh-CN" && document.title.startsWith("一场秒杀")`)
	tb.eval(`{ const s = document.querySelector("#theme"); s.value = "dark"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
	tb.await(`getComputedStyle(document.documentElement).backgroundColor === "rgb(15, 18, 22)"`)
	tb.do(chromedp.Reload())
	tb.says(".start", "看它出错")
	tb.await(`getComputedStyle(document.documentElement).backgroundColor === "rgb(15, 18, 22)"`)
	tb.await(`document.querySelector("#theme").value === "dark"`)
	tb.click("#language")
	tb.says(".start", "See it break")
}

// The Tab key goes through the page as eyes do, and past the frame at a wish.
func TestFocusOrder(t *testing.T) {
	t.Parallel()
	tb := startBrowser(t).open(startFake(t).url+"/#/guarantees", wide)
	tb.says("main", "5 strategies")
	for _, want := range []string{"Skip to the content", "seckill lab", "Run", "Which one?", "Learn", "Shop", "中文", "auto", "Five questions", "The proof", "Faults under load"} {
		tb.press("\t")
		tb.await(fmt.Sprintf(`document.activeElement.innerText.includes(%q)`, want))
		tb.await(`(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle === "solid" && parseFloat(s.outlineWidth) >= 2; })()`)
	}
	tb.press("\t")
	tb.await(`document.activeElement.matches(".presets button")`)

	tb.eval(`document.querySelector(".skip").focus()`)
	tb.press("\r")
	tb.await(`document.activeElement.id === "content" && location.hash === "#/guarantees"`)

	t.Log("another screen takes the focus along")
	tb.eval(`document.querySelector("nav a").focus()`)
	tb.press("\r")
	tb.says(".start", "See it break")
	tb.await(`document.activeElement.id === "content" && document.title.startsWith("One sale")`)
}

// A screen that completes its address when its data comes does not bring back those
// who have left it: the address is another's from the click on, before the page hears
// of it.
func TestLeavingAScreen(t *testing.T) {
	t.Parallel()
	tb := startBrowser(t).open(startFake(t).url+"/#/lessons", wide)
	tb.says("main h1", "lost update")
	tb.await(`location.hash.startsWith("#/lessons/")`)
	tb.eval(`import("/static/route.js").then(({ stay }) => {
		location.hash = "#/guarantees";
		stay("lessons", "01-lost-update");
		window.left = location.hash;
	})`)
	tb.await(`window.left === "#/guarantees" && location.hash === window.left`)
	tb.await(`document.querySelector(".matrix") !== null`)

	t.Log("a screen that is none")
	tb.goTo("nowhere")
	tb.says("main", "There is no screen “nowhere”")
	tb.click("main a")
	tb.says(".start", "See it break")
}
