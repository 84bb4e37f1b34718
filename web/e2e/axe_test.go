package e2e

import (
	_ "embed"
	"fmt"
	"os"
	"strings"

	"github.com/chromedp/chromedp"

	"seckill/internal/lab/labtest"
)

// axe-core finds what keeps people out. Vendored, as the tests need no network.
//
//go:embed axe/axe.min.js
var axe string

// accessible fails if axe finds a serious violation on the page as it is now.
func (tb *tab) accessible(where string) {
	tb.t.Helper()
	if there, err := chromedp.Run(tb.ctx, chromedp.Evaluate[bool](`!!window.axe`)); err != nil || !there { // it is half a megabyte
		tb.eval(axe + `; undefined`)
	}
	// A drawing is made anew a moment after its place got narrower; one that
	// stays wider than its place must be in reach of the keyboard.
	tb.await(`[...document.querySelectorAll(".drawing")].every((d) => d.scrollWidth <= d.clientWidth + 1 || d.tabIndex === 0)`)
	found, err := chromedp.Run(tb.ctx, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ["violations"]}).then((r) => {
		window.axeChecked = r.passes.length;
		return r.violations.filter((v) => ["serious", "critical"].includes(v.impact))
			.map((v) => v.id + " (" + v.help + "): " + v.nodes.slice(0, 4).map((n) => n.html.slice(0, 200) + " " + n.any.map((c) => c.message).join(" ")).join("\n    "));
	})`, chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Errorf("%s: axe-core: %v", where, err)
		return
	}
	if len(found) > 0 {
		tb.t.Errorf("%s: axe-core finds %d serious violations:\n  %s", where, len(found), strings.Join(found, "\n  "))
	}
	tb.await(`window.axeChecked > 10`) // it did look
}

// inEveryLook looks for serious violations in light and dark, wide and narrow;
// make test takes the wide page in light and the narrow one in dark.
func (tb *tab) inEveryLook(where string) {
	tb.t.Helper()
	for i, l := range looks {
		if !labtest.Verify && i != 0 && i != len(looks)-1 && os.Getenv("SECKILL_SCREENSHOTS") == "" {
			continue
		}
		tb.do(l.set())
		tb.await(`document.getAnimations().length === 0`)
		tb.accessible(fmt.Sprintf("%s, %s", where, l.name))
		tb.await(`document.documentElement.scrollWidth <= innerWidth`) // nothing sticks out
		tb.shot(strings.ReplaceAll(where, " ", "-") + "-" + l.name)
	}
	tb.do(wide.set())
}
