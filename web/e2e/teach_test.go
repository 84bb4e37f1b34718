package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"seckill/internal/ledger"
)

// onSlide waits until slide n is shown, and no other.
func (tb *tab) onSlide(n int) {
	tb.t.Helper()
	tb.await(fmt.Sprintf(`document.querySelector(".projector")?.dataset.at === "%d" && document.querySelectorAll(".slide:not([hidden])").length === 1`, n))
}

func (tb *tab) number(expression string) int {
	tb.t.Helper()
	n, err := chromedp.Run(tb.ctx, chromedp.Evaluate[int](expression))
	if err != nil {
		tb.fail(err.Error())
	}
	return n
}

var projector = look{"projector", 1280, 720, false}

func TestPresentation(t *testing.T) {
	g := startGames(t)
	tb := startBrowser(t).open(g.url+"/#/lessons/01-lost-update", projector)
	tb.click(`.to-teach a[href*="present"]`)
	tb.onSlide(1)
	tb.says(".slide-title h1", "The lost update")
	tb.await(`document.querySelector("header.top").inert`)

	t.Log("turned by keys")
	all := tb.number(`Number(document.querySelector(".projector").dataset.of)`)
	tb.do(chromedp.KeyEvent(kb.ArrowRight))
	tb.onSlide(2)
	tb.says(".slide:not([hidden]) h2", "What you will know")
	tb.await(`location.hash === "#/lessons/01-lost-update?present=2" && document.activeElement.matches(".slide:not([hidden])")`)
	tb.press("n")
	tb.says(".slide-notes", "Most learners blame the missing transaction")
	tb.press("n")
	tb.await(`!document.querySelector(".slide-notes")`)
	tb.do(chromedp.KeyEvent(kb.End))
	tb.onSlide(all)
	tb.says(".slide:not([hidden]) h2", "Sources")
	tb.do(chromedp.KeyEvent(kb.ArrowRight))
	tb.do(chromedp.KeyEvent(kb.ArrowLeft))
	tb.onSlide(all - 1)
	tb.says(".slide:not([hidden])", "counters and balances")
	tb.do(chromedp.KeyEvent(kb.Home))
	tb.onSlide(1)
	tb.do(chromedp.KeyEvent(kb.ArrowLeft))
	tb.onSlide(1)

	t.Log("on a projector every slide of text is whole, in both languages")
	for _, language := range []string{"en", "zh-CN"} {
		tb.do(chromedp.KeyEvent(kb.Escape))
		tb.await(`!document.querySelector(".projector")`)
		tb.speak(language)
		for _, chapter := range []string{"01-lost-update", "11-fencing"} {
			tb.eval(`location.hash = "#/lessons/` + chapter + `?present=1"`)
			tb.onSlide(1)
			for n := range tb.number(`Number(document.querySelector(".projector").dataset.of)`) {
				tb.eval(fmt.Sprintf(`location.hash = "#/lessons/%s?present=%d"`, chapter, n+1))
				tb.onSlide(n + 1)
				tb.await(`document.querySelector(".slide:not([hidden])").matches(".slide-live, .slide-sources") ||
					[document.querySelector(".slide:not([hidden])")].every((s) => s.scrollHeight <= s.clientHeight + 1 && s.scrollWidth <= s.clientWidth + 1)`)
			}
			if language == "zh-CN" {
				tb.eval(`location.hash = "#/lessons/` + chapter + `?present=2"`)
				tb.onSlide(2)
				tb.noEnglish("slides")
			}
		}
		tb.do(chromedp.KeyEvent(kb.Escape))
		tb.await(`!document.querySelector(".projector")`)
	}
	tb.speak("en")

	t.Log("broken live, with a prediction, by mouse and by keys")
	f := g.fake
	tb.eval(`location.hash = "#/lessons/01-lost-update?present=1"`)
	tb.onSlide(1)
	live := tb.number(`[...document.querySelectorAll(".slide")].findIndex((s) => s.matches(".slide-live")) + 1`)
	tb.eval(fmt.Sprintf(`location.hash = "#/lessons/01-lost-update?present=%d"`, live))
	tb.onSlide(live)
	tb.says(".slide-live .predict", "How many does naive sell?")
	tb.inEveryLook("slide live")
	tb.do(projector.set())
	tb.click(`.slide-live .predict [value="more"]`)
	tb.do(chromedp.KeyEvent(kb.ArrowRight)) // chooses another answer, and turns nothing
	tb.onSlide(live)
	tb.click(`.slide-live .predict [value="more"]`)
	tb.click(".slide-live .run")
	tb.says(".slide-live .banner", "naive: selling")
	tb.do(chromedp.KeyEvent(kb.ArrowRight))
	tb.onSlide(live + 1) // the run goes on
	tb.says(".slide:not([hidden])", "The first lost update")
	tb.inEveryLook("slide levels")
	tb.do(projector.set())
	tb.do(chromedp.KeyEvent(kb.ArrowLeft))
	f.results <- fakeResult(ledger.Oversold, ledger.Violation{Rule: ledger.RuleOversold, Verdict: ledger.Oversold, Message: "31 too many", Count: 1})
	tb.says(".slide-live .banner", "OVERSOLD")
	tb.says(".slide-live .predict [role=status]", "You were right")

	t.Log("left by Esc")
	tb.do(chromedp.KeyEvent(kb.Escape))
	tb.await(`location.hash === "#/lessons/01-lost-update" && !document.querySelector(".projector") && !document.querySelector("header.top").inert`)

	t.Log("on paper each slide is a page")
	tb.eval(`location.hash = "#/lessons/02-one-statement?present"`)
	tb.onSlide(1)
	if slides, pages := tb.number(`Number(document.querySelector(".projector").dataset.of)`), tb.pages(); pages != slides {
		t.Errorf("%d slides are %d pages", slides, pages)
	}
}

// pages are those that the tab is printed on.
func (tb *tab) pages() (n int) {
	tb.t.Helper()
	landscape := true
	tb.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		out, err := cdp.Call(ctx, target, page.PrintToPDF, page.PrintToPDFParams{Landscape: &landscape})
		if err != nil {
			return err
		}
		pdf := []byte(out.Data)
		if raw, err := base64.StdEncoding.DecodeString(string(out.Data)); err == nil {
			pdf = raw
		}
		n = len(regexp.MustCompile(`/Type\s*/Page\b[^s]`).FindAll(pdf, -1))
		return nil
	}))
	return n
}

func TestTeachersPack(t *testing.T) {
	g := startGames(t)
	tb := startBrowser(t).open(g.url+"/#/lessons/01-lost-update", wide)
	tb.click(`.to-teach a[href*="teach"]`)
	tb.says("h1", "The plan: The lost update")
	tb.says(".teach-plan .lesson", "Most learners blame the missing transaction")
	tb.says("[data-part=play]", "The first lost update and Locked from the read on")

	t.Log("a plan has no gap, and is as long as it says")
	for _, minutes := range []string{"45", "90"} {
		tb.click(`[data-minutes="` + minutes + `"]`)
		tb.await(`document.querySelector("[data-minutes='` + minutes + `']").ariaPressed === "true"`)
		tb.await(`(() => {
			const steps = [...document.querySelectorAll(".teach-steps tbody tr")].map((r) => [Number(r.dataset.from), Number(r.dataset.to)]);
			return steps.length > 5 && steps[0][0] === 0 && steps.at(-1)[1] === ` + minutes + ` && steps.every(([from, to], i) => from < to && (i === 0 || steps[i - 1][1] === from));
		})()`)
	}
	tb.await(`document.querySelector("[data-part=source]") !== null`) // in 90 minutes only
	tb.inEveryLook("teach plan")
	tb.wellLaidOut("teach plan")

	t.Log("a sheet without answers, and with them")
	tb.click(`.teach-ways a[href$="sheet=questions"]`)
	tb.says(".sheet", "How many does naive sell?")
	tb.says(".sheet", "Where does your own code read a value")
	tb.await(`document.querySelector("[data-task=proof] td").innerText === "" && document.querySelectorAll("[data-task=level]").length === 2`)
	tb.await(`!document.querySelector(".sheet").innerText.includes("counters and balances") && !document.querySelector(".sheet-answer")`)
	tb.inEveryLook("teach sheet")
	tb.wellLaidOut("teach sheet")
	tb.click(`.sheet-tools a`)
	tb.says("[data-task=think] .sheet-answer", "counters and balances")
	tb.says("[data-task=predict] .sheet-answer", "seckill load --strategy naive --stock 100 --buyers 2000")
	tb.await(`document.querySelector("[data-task=proof] td").innerText.includes("✗")`)
	tb.says("[data-task=level] .sheet-answer", "Both read 2")
	tb.inEveryLook("teach solutions")

	t.Log("without a chapter it leads to the chapters")
	tb.eval(`location.hash = "#/teach"`)
	tb.await(`location.hash.startsWith("#/lessons") && document.querySelector(".to-teach a") !== null`)
	tb.eval(`location.hash = "#/teach/nothing"`)
	tb.says("main [role=alert]", "There is no chapter “nothing”")
}
