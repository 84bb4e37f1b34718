package e2e

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/internal/lab/labtest"
)

//go:embed layout.js
var layout string

var widths = []int64{1920, 1440, 1280, 1024, 768, 600, 390}

// wellLaidOut fails if the screen is laid out wrongly at any width, in either
// language and type size. make test takes the corners.
func (tb *tab) wellLaidOut(where string) {
	tb.t.Helper()
	for _, language := range []string{"en", "zh-CN"} {
		tb.speak(language)
		if language == "zh-CN" {
			tb.noEnglish(where)
		}
		for _, size := range []string{"normal", "large"} {
			tb.eval(fmt.Sprintf(`document.documentElement.dataset.type = %q`, size))
			for _, width := range widths {
				corner := int64(390)
				if (language == "en") == (size == "normal") {
					corner = 1024
				}
				if !labtest.Verify && width != corner {
					continue
				}
				tb.do(look{"", width, 1000, false}.set())
				tb.await(`document.getAnimations().every((a) => { a.finish(); return true; })`)
				found, err := chromedp.Run(tb.ctx, chromedp.Evaluate[[]string](layout))
				if err != nil {
					tb.t.Fatal(err)
				}
				if len(found) > 0 {
					tb.t.Errorf("%s, %s, %s type, %d px wide:\n  %s", where, language, size, width, strings.Join(found[:min(len(found), 8)], "\n  "))
					tb.shot(fmt.Sprintf("layout-%s-%s-%s-%d", strings.ReplaceAll(where, "/", "-"), language, size, width))
				}
			}
		}
	}
	tb.eval(`document.documentElement.dataset.type = "normal"`)
	tb.speak("en")
	tb.do(wide.set())
}

//go:embed latin.js
var latin string

// noEnglish fails if the screen, in Chinese, has an English sentence.
func (tb *tab) noEnglish(where string) {
	tb.t.Helper()
	tb.await(`document.getAnimations().every((a) => { a.finish(); return true; })`)
	found, err := chromedp.Run(tb.ctx, chromedp.Evaluate[[]string](latin))
	if err != nil {
		tb.t.Fatal(err)
	}
	if len(found) > 0 {
		tb.t.Errorf("%s says in English on the Chinese page:\n  %s", where, strings.Join(found, "\n  "))
	}
}

// speak has the page in a language.
func (tb *tab) speak(language string) {
	tb.t.Helper()
	if tb.is(fmt.Sprintf(`document.documentElement.lang === %q`, language)) {
		return
	}
	tb.click("#language")
	tb.await(fmt.Sprintf(`document.documentElement.lang === %q`, language))
}

// Every screen of a real lab, at every width.
func TestLayout(t *testing.T) {
	u := sharedLab(t)
	tb := startBrowser(t).open(u.page, wide)
	type place struct{ where, ready string }
	screens := []place{
		{"lab", `.run`},
		{"compare", `.run`},
		{"guarantees", `.matrix tbody tr`},
		{"choose", `.fit`},
		{"chaos", `.matrix tbody tr`},
		{"trace/etcd.lease-end", `.step`},
		{"trace/etcd.lease-end?view=diagram", `.drawing svg`},
		{"lessons/01-lost-update", `.sources pre`},
		{"play", `.level`},
		{"play?strategy=redis-lua&buyers=3&stock=2&s=aLb", `.buyer-column .badge.bad`},
	}
	if labtest.Verify {
		screens = append(screens, place{"play?strategy=for-update&buyers=2&stock=2&s=abab", `[data-state=waits]`}, place{"play/first-lost-update?s=abbbbbaaaa&view=diagram", `.graded.won`},
			place{"trace/lock-insert-by-name.late-command", `.step`}, place{"lessons/06-lock-table", `.sources pre`},
			place{"trace/merged-early.dead-holder?step=4", `.step`}, place{"trace/redis-stream-two-calls.dead-holder?step=5", `.step`},
			place{"lessons/14-splitting-the-stock", `.sources pre`}, place{"lessons/15-accept-first", `.sources pre`}, place{"lessons/08-redis-first", `.sources pre`},
			place{"lessons/16-in-your-language", `.sources pre`},
			place{"lessons/11-fencing", `.sources pre`}, place{"lessons/12-which", `.chapter h1`}, place{"lessons/13-hot-sku", `.sources pre`},
			place{"lessons/naive", `.sources pre`},
			place{"lessons/nothing", `main .wrong`}, place{"trace/nothing", `main .wrong`})
	}
	for _, screen := range screens {
		tb.eval(fmt.Sprintf(`location.hash = "#/%s"`, screen.where))
		tb.await(fmt.Sprintf(`document.querySelector(%q) !== null`, screen.ready))
		tb.wellLaidOut(screen.where)
	}

	t.Log("a sale that broke beside one that held")
	tb.eval(`location.hash = "#/lab?strategies=naive,conditional&stock=50&buyers=300"`)
	tb.await(`document.querySelectorAll(".picker .chosen li").length === 2`)
	tb.click(".run")
	tb.await(`document.querySelectorAll("[data-verdict]").length === 2`)
	tb.wellLaidOut("lab, two lanes")

	t.Log("a sale alone")
	tb.eval(`location.hash = "#/lab?strategies=naive&stock=50&buyers=300"`)
	tb.await(`document.querySelectorAll(".picker .chosen li").length === 1`)
	tb.click(".run")
	tb.await(`document.querySelectorAll("[data-verdict]").length === 1 && document.querySelector(".drawing svg") !== null`)
	tb.wellLaidOut("lab, one lane")

	t.Log("the orders that broke its rules, open")
	tb.evidence()
	tb.eval(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`)
	tb.await(`document.querySelector(".rules .examples li") !== null`)
	tb.speak("zh-CN")
	tb.noEnglish("lab, orders")
	tb.speak("en")

	t.Log("the shop")
	shop := startBrowser(t).open(strings.TrimSuffix(u.page, "/")+"/shop", wide)
	shop.await(`document.querySelector(".product") !== null`)
	shop.await(`document.querySelector(".ledger .figures") !== null`)
	shop.wellLaidOut("shop")
}
