package e2e

import (
	_ "embed"
	"fmt"
	"strings"

	"seckill/internal/lab/labtest"
)

// axe-core finds what keeps people out. Vendored, as the tests need no network.
//
//go:embed axe/axe.min.js
var axe string

//go:embed layout.js
var layout string

//go:embed latin.js
var latin string

// A dress is a look of the page in a language.
type dress struct {
	look
	language string
}

// dresses are those in which every screen is checked: both languages, both themes and
// the widest and the narrowest window; make verify has all of them.
var dresses = func() (all []dress) {
	if !labtest.Verify {
		return []dress{{look{"wide-light", 1440, 1000, false}, "en"}, {look{"narrow-dark", 390, 844, true}, "zh-CN"}}
	}
	for _, language := range []string{"en", "zh-CN"} {
		for _, width := range []int64{1920, 1440, 1280, 1024, 768, 600, 390} {
			for _, dark := range []bool{false, true} {
				all = append(all, dress{look{fmt.Sprintf("%d-dark-%v", width, dark), width, 1000, dark}, language})
			}
		}
	}
	return all
}()

// good fails if, in any dress, the page as it is now keeps people out or is laid out
// wrongly, on a narrow window also in type twice as large, or if the Chinese page has an English sentence.
func (tb *tab) good(where string) {
	tb.t.Helper()
	for _, d := range dresses {
		tb.in(d.look)
		tb.speak(d.language)
		at := fmt.Sprintf("%s, %s, %s", where, d.name, d.language)
		tb.settled()
		tb.none(at+" is laid out wrongly", ask[[]string](tb, layout))
		if d.language != "en" {
			tb.none(at+" says in English", ask[[]string](tb, latin))
		}
		tb.accessible(at)
		tb.shot(strings.NewReplacer(" ", "-", ",", "", "/", "-").Replace(at))
		if d.width > 800 { // larger, it is laid out as a window of half the width is
			continue
		}
		tb.eval(`document.documentElement.style.fontSize = "200%"`)
		for _, language := range []string{d.language, "en"} { // which has the longest words
			tb.speak(language)
			tb.settled()
			tb.none(at+", in large type, "+language+", is laid out wrongly", ask[[]string](tb, layout))
		}
		tb.eval(`document.documentElement.style.fontSize = ""`)
	}
	tb.in(wide)
	tb.speak("en")
}

// settled waits for what is still being drawn: a drawing is made anew a moment after its
// place got narrower; one that stays wider than its place is in reach of the keyboard.
func (tb *tab) settled() {
	tb.t.Helper()
	tb.drawn()
	tb.await(`document.getAnimations().every((a) => { a.finish(); return true; }) &&
		[...document.querySelectorAll(".drawing")].every((d) => d.scrollWidth <= d.clientWidth + 1 || d.tabIndex === 0)`)
}

// accessible fails if axe finds a serious violation: in the dialog alone where one is
// open, as the screen behind it was looked at before.
func (tb *tab) accessible(where string) {
	tb.t.Helper()
	if !ask[bool](tb, `!!window.axe`) { // it is half a megabyte
		// What a rule of a smaller impact finds is not serious: it need not look.
		tb.eval(axe + `; axe.configure({rules: axe._audit.rules.filter((rule) => !["serious", "critical"].includes(rule.impact))
			.map((rule) => ({id: rule.id, enabled: false}))})`)
	}
	tb.none(where+" keeps people out", ask[[]string](tb, `axe.run(document.querySelector("dialog[open]") ?? document, {resultTypes: ["violations"], selectors: false, preload: false}).then((r) => {
		window.axeChecked = r.passes.length;
		return r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => v.id + " (" + v.help + "): " + v.nodes.slice(0, 4).map((n) => n.html.slice(0, 200) + " " + n.any.map((c) => c.message).join(" ")).join("\n    "));
	})`))
	if !ask[bool](tb, `window.axeChecked > 10`) {
		tb.fail(where + ": axe-core did not look")
	}
}

// none fails if anything was found.
func (tb *tab) none(what string, found []string) {
	tb.t.Helper()
	if len(found) > 0 {
		tb.t.Errorf("%s:\n  %s", what, strings.Join(found[:min(len(found), 8)], "\n  "))
		tb.shot("wrong-" + strings.NewReplacer(" ", "-", ",", "", "/", "-").Replace(what))
	}
}

// speak has the page in a language, also where the frame is out of reach.
func (tb *tab) speak(language string) {
	tb.t.Helper()
	in := fmt.Sprintf(`document.documentElement.lang === %q`, language)
	if !ask[bool](tb, in) {
		tb.eval(`document.querySelector("#language").click()`)
		tb.await(in)
	}
}
