package e2e

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/internal/ledger"
	"seckill/web"
	"seckill/web/course"
)

func TestLessons(t *testing.T) {
	chapters, err := course.Chapters()
	if err != nil {
		t.Fatal(err)
	}
	last := chapters[len(chapters)-1]
	g := startGames(t)
	f := g.fake
	tb := startBrowser(t).open(g.url+"/#/lessons", wide)
	tb.says(".chapter h1", "The lost update")
	tb.await(`location.hash === "#/lessons/01-lost-update"`)
	tb.await(fmt.Sprintf(`document.querySelectorAll(".chapters li").length === %d`, len(chapters)))

	t.Log("the very source, highlighted, and its lesson")
	tb.says(".sources pre", "package sqlrow // <b>")
	tb.await(`document.querySelector(".sources .hl-word")?.innerText === "package" && document.querySelector(".sources .hl-comment").innerText === "// <b>"`)
	tb.says(".lesson-text", "Two read 2, see conditional.")
	tb.await(`document.querySelector(".lesson-text .hl-word")?.innerText === "SELECT"`)
	tb.inEveryLook("lesson")

	t.Log("a model answer is folded, opens by key, and is printed")
	const answer = `document.querySelector(".think details.answer")`
	tb.await(answer + `?.open === false`)
	tb.eval(answer + `.querySelector("summary").focus()`)
	tb.do(chromedp.KeyEvent("\r"))
	tb.await(answer + `.open && ` + answer + `.innerText.includes("counters and balances")`)
	tb.do(chromedp.KeyEvent("\r"))
	tb.await(answer + `.open === false`)
	tb.eval(`dispatchEvent(new Event("beforeprint"))`)
	tb.await(`[...document.querySelectorAll("details.answer")].every((d) => d.open)`)
	tb.eval(`dispatchEvent(new Event("afterprint"))`)
	tb.await(answer + `.open === false`)

	t.Log("a prediction, then broken before one's eyes, then what was right")
	tb.says(".predict", "2,000 buyers want one unit each, and there are 100. How many does naive sell?")
	tb.click(`.predict [value="all"]`)
	tb.click(".break-it .run")
	tb.says(".banner.busy", "naive: selling")
	f.progress <- fakeProgress(30, 10, 90)
	tb.says("[data-left]", "10")
	f.results <- fakeResult(ledger.Oversold, ledger.Violation{Rule: ledger.RuleOversold, Verdict: ledger.Oversold, Message: "31 too many", Count: 1})
	tb.says(".break-it .banner", "OVERSOLD")
	tb.says(".predict [role=status]", "You expected something else. It sold 131 of 100.")
	tb.await(`document.querySelector(".predict .right").innerText.includes("More than 100")`)

	t.Log("pages are turned, and remembered")
	tb.click(".turn [rel=next]")
	tb.says(".chapter h1", "One statement")
	tb.await(`scrollY === 0 && document.activeElement === document.querySelector(".chapter h1")`)
	tb.await(`document.querySelector(".chapters li:first-child .tick") !== null`)
	tb.click("#language")
	tb.says(".chapters", "丢失更新")
	tb.do(chromedp.Reload())
	tb.await(`document.querySelector(".chapters li:nth-child(2) a")?.ariaCurrent === "page"`)
	tb.says(".chapters", fmt.Sprintf("%d 章中已读", len(chapters)))
	tb.eval(`location.hash = "#/lessons"`)
	tb.await(`location.hash === "#/lessons/02-one-statement"`)
	tb.click("#language")

	t.Log("a strategy has a chapter")
	tb.eval(`location.hash = "#/lessons/naive"`)
	tb.says(".chapter h1", "The lost update")
	tb.await(`document.querySelector(".choices [aria-pressed=true]")?.innerText === "naive"`)

	t.Log("a chapter that opens its counterexample")
	tb.eval(`location.hash = "#/lessons/09-redis-owner"`)
	tb.says(".break-it", "redis-token")
	tb.click(".break-it .play")
	tb.says("h1", "redis-token")
	tb.eval(`history.back()`)

	t.Log("the same with a strategy that withstands, beside it")
	tb.eval(`location.hash = "#/lessons/11-fencing"`)
	tb.says(".break-it .beside", "zk-fenced")
	tb.click(".break-it .beside")
	tb.says("h1", "zk-fenced stays right")
	tb.await(`[...document.querySelectorAll("code")].some((c) => c.innerText.includes("SET fence"))`)
	tb.eval(`history.back()`)

	t.Log("a chapter has the proofs, and says how to measure")
	tb.eval(`location.hash = "#/lessons/12-which"`)
	tb.says(".proven", "redis-lua")
	tb.says(".figures-place", "seckill compare --strategies")
	if figures, err := fs.ReadFile(web.Files(), "figures.json"); err != nil {
		t.Error(err)
	} else if strings.Contains(string(figures), "conditional") { // make figures was run
		tb.says(".measured", "conditional")
		tb.says(".measured figcaption", "Measured on 2")
	}

	t.Log("a chapter names what is not measured yet")
	tb.click(".turn [rel=next]")
	tb.says(".figures-place", "seckill compare --strategies conditional,order-first,one-trip,queued,merged")
	if figures, err := fs.ReadFile(web.Files(), "figures.json"); err == nil && !strings.Contains(string(figures), "order-first") {
		tb.says(".measured", "not measured yet")
	}
	tb.eval(fmt.Sprintf(`location.hash = "#/lessons/%s"`, last.Name))
	tb.says(".chapter h1", last.Title["en"])
	tb.await(`!document.querySelector(".turn [rel=next]")`)
	tb.inEveryLook("lesson last")
	tb.shots("lesson-last")

	t.Log("no such chapter")
	tb.eval(`location.hash = "#/lessons/13-nothing"`)
	tb.says(`.chapter [role="alert"]`, "There is no chapter and no strategy “13-nothing”")
}
