package e2e

import (
	_ "embed"
	"fmt"
	"strings"

	"seckill/internal/lab/labtest"
)

// axe-core finds accessibility errors. It is vendored, so the tests need no network.
//
//go:embed axe/axe.min.js
var axe string

//go:embed layout.js
var layout string

//go:embed latin.js
var latin string

// A dress is a look and a language of the page.
type dress struct {
	look
	language string
}

// dresses lists the combinations in which every screen is checked. They cover both languages, both themes, and the
// widest and the narrowest window. With the build tag verify, the list has all combinations.
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

// good checks the current page in every dress. It fails after an accessibility error, after a layout error (in a narrow
// window also with type twice as large), and if the Chinese page has an English sentence.
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
		if d.width > 800 { // a wide window with larger type has the layout of a narrow one
			continue
		}
		tb.eval(`document.documentElement.style.fontSize = "200%"`)
		for _, language := range []string{d.language, "en"} { // English has the longest words
			tb.speak(language)
			tb.settled()
			tb.none(at+", in large type, "+language+", is laid out wrongly", ask[[]string](tb, layout))
		}
		tb.eval(`document.documentElement.style.fontSize = ""`)
	}
	tb.in(wide)
	tb.speak("en")
}

// settled waits until the page shows something, and has redrawn its drawings for the width of the window. A drawing that
// remains wider than its element can be scrolled with the keyboard.
func (tb *tab) settled() {
	tb.t.Helper()
	tb.drawn()
	tb.await(`document.body.innerText.trim() !== "" && document.getAnimations().every((a) => { a.finish(); return true; }) &&
		$$(".drawing").every((d) => d.scrollWidth <= d.clientWidth + 1 || d.tabIndex === 0)`)
}

// accessible fails if axe finds a serious violation. If a dialog is open, only the dialog is checked, because the
// screen behind it was checked before.
func (tb *tab) accessible(where string) {
	tb.t.Helper()
	if !ask[bool](tb, `!!window.axe`) { // load it once only, because it is half a megabyte
		// Rules of smaller impact cannot find a serious violation, so axe need not check them.
		tb.eval(axe + `; axe.configure({rules: axe._audit.rules.filter((rule) => !["serious", "critical"].includes(rule.impact))
			.map((rule) => ({id: rule.id, enabled: false}))})`)
	}
	tb.none(where+" keeps people out", ask[[]string](tb, `axe.run($("dialog[open]") ?? document, {resultTypes: ["violations"], selectors: false, preload: false}).then((r) => {
		window.axeChecked = r.passes.length;
		return r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => v.id + " (" + v.help + "): " + v.nodes.slice(0, 4).map((n) => n.html.slice(0, 200) + " " + n.any.map((c) => c.message).join(" ")).join("\n    "));
	})`))
	if !ask[bool](tb, `window.axeChecked > 10`) {
		tb.fail(where + ": axe-core did not look")
	}
}

// none fails if the list of errors is not empty.
func (tb *tab) none(what string, found []string) {
	tb.t.Helper()
	if len(found) > 0 {
		tb.t.Errorf("%s:\n  %s", what, strings.Join(found[:min(len(found), 8)], "\n  "))
		tb.shot("wrong-" + strings.NewReplacer(" ", "-", ",", "", "/", "-").Replace(what))
	}
}

// speak changes the language of the page, even if a dialog covers the menu of languages.
func (tb *tab) speak(language string) {
	tb.t.Helper()
	in := fmt.Sprintf(`document.documentElement.lang === %q`, language)
	if !ask[bool](tb, in) {
		tb.eval(`$("#language").click()`)
		tb.await(in)
	}
}
