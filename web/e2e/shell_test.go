package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// The first view offers few choices. The frame around every screen remembers people's theme and language.
func TestFrame(t *testing.T) {
	t.Parallel()
	tb := fresh(t, startFake(t).url)
	tb.says(".start", "See it break")
	tb.says("footer", "version test") // the page loads the version last
	tb.await(`document.readyState === "complete"`)
	tb.mu.Lock()
	if t.Logf("the first view: %d requests, %.0f bytes", tb.requests, tb.bytes); tb.requests > 25 ||
		tb.bytes > 150_000 || tb.bytes < 10_000 {
		t.Errorf("the first view takes %d requests and %.0f bytes, want at most 25 and 150,000", tb.requests, tb.bytes)
	}
	tb.mu.Unlock()
	tb.in(look{"", 390, 844, false})
	tb.await(`$(".guided button").getBoundingClientRect().bottom < innerHeight / 2`) // even on a phone
	tb.in(wide)

	t.Log("language and theme are remembered")
	tb.click("#language")
	tb.says(".start", "看它出错")
	tb.await(`document.documentElement.lang === "zh-CN" && document.title.startsWith("一场秒杀")`)
	tb.set("#theme", "dark")
	const dark = `$("#theme").value === "dark" && getComputedStyle(document.documentElement).backgroundColor === "rgb(15, 18, 22)"`
	tb.await(dark)
	tb.do(chromedp.Reload())
	tb.says(".start", "看它出错")
	tb.await(dark)
	tb.click("#language")
	tb.says(".start", "See it break")

	t.Log("the Tab key goes through the page as eyes do, and past the frame at a wish")
	tb.goTo("guarantees")
	tb.says("main", "5 strategies")
	tb.do(chromedp.Reload())
	tb.says("main", "5 strategies")
	for _, want := range []string{"Skip to the content", "seckill lab", "Run", "Which one?", "Learn", "Shop", "中文",
		"auto", "Five questions", "The proof", "Faults under load"} {
		tb.press("\t")
		tb.await(fmt.Sprintf(`document.activeElement.innerText.includes(%q)`, want))
		tb.await(`(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle === "solid" && parseFloat(s.outlineWidth) >= 2; })()`)
	}
	tb.press("\t")
	tb.await(`document.activeElement.matches(".presets button")`)
	tb.eval(`$(".skip").focus()`)
	tb.press("\r")
	tb.await(`document.activeElement.id === "content" && location.hash === "#/guarantees"`)

	t.Log("another screen takes the focus along")
	tb.eval(`$("nav a").focus()`)
	tb.press("\r")
	tb.says(".start", "See it break")
	tb.await(`document.activeElement.id === "content" && document.title.startsWith("One sale")`)

	t.Log("a screen that is none")
	tb.goTo("nowhere")
	tb.says("main", "There is no screen “nowhere”")
	tb.click("main a")
	tb.says(".start", "See it break")

	t.Log("an address that changes between a drawing and what follows it is seen")
	tb.eval(`Promise.all([import("/static/vendor/preact.mjs"), import("/static/route.js")]).then(([{ h, render }, { useRoute }]) => {
		window.box = document.createElement("div");
		render(h(() => useRoute().screen), box);
		history.replaceState(null, "", "#/guarantees");
		dispatchEvent(new Event("hashchange"));
	})`)
	tb.await(`window.box.textContent === "guarantees"`)

	t.Log("a new text is added twice")
	for _, folder := range []string{"", "lab/", "compare/", "shop/", "guarantees/", "choose/", "chaos/", "play/", "teach/",
		"lessons/", "trace/"} {
		tb.none(folder, ask[[]string](tb, `Promise.all(["text.js", "text/zh.js"].map((file) => import("/static/`+folder+`" + file))).then(([{ t, words }, { default: zh }]) => {
			const en = words?.() ?? t; // the page speaks English
			const walk = (value, at) => Array.isArray(value) ? [] : typeof value === "object" && value !== null
				? Object.keys(value).flatMap((key) => walk(value[key], at + "." + key))
				: [at + ": " + typeof value + (typeof value === "function" ? " of " + value.length : "")];
			const [here, there] = [walk(en, "t"), walk(zh, "t")];
			window.words = here.length + (window.words ?? 0);
			return [...here.filter((k) => !there.includes(k)).map((k) => "only en: " + k),
				...there.filter((k) => !here.includes(k)).map((k) => "only zh: " + k)];
		})`))
	}
	tb.await(`window.words > 400`)
}

// A screen that loads does not move what is being read: its layout shift stays below 0.1, which counts as good.
func TestScreensStandStill(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("nowhere")
	for place, whole := range map[string]string{
		"": ".guided", "compare": ".compare-form", "choose": ".questions", "guarantees": ".matrix", "chaos": ".matrix",
		"lessons/09-redis-owner": ".drawn-example svg",
		"play":                   ".level", "trace/naive.oversell": ".trace svg", "teach/01-lost-update": ".teach-steps",
	} {
		tb.goTo(place)
		tb.do(chromedp.Reload())
		tb.shows(whole)
		tb.drawn()
		shift := ask[float64](tb, `new Promise((done) => {
			let sum = 0;
			new PerformanceObserver((list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value; }).observe({ type: "layout-shift", buffered: true });
			setTimeout(() => done(sum), 50);
		})`)
		if t.Logf("%s: %.3f", place, shift); shift >= 0.1 {
			t.Errorf("the screen %q shifts by %.3f while it loads", place, shift)
		}
	}
}
