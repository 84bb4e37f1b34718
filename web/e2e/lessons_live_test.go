package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// A chapter draws its counterexample, and runs it again when it is asked to.
func TestLessonsAreDrawnAndBreakLive(t *testing.T) {
	g := startGames(t)
	tb := startBrowser(t).open(g.url+"/#/lessons/09-redis-owner", wide)
	t.Log("where the text speaks of it, with the moment marked")
	tb.await(`document.querySelector('.chapter section .drawn-example[data-example="redis-token.owner"] svg .d-moment') !== null`)

	t.Log("the same in words")
	tb.eval(`document.querySelector('[data-example="redis-token.owner"] .in-words summary').focus()`)
	tb.do(chromedp.KeyEvent("\r"))
	tb.await(`[...document.querySelectorAll('[data-example="redis-token.owner"] .in-words li')].some((li) => li.innerText.includes("A to Redis: DEL"))`)

	t.Log("live")
	tb.click(".break-it .run")
	tb.says(".live-said", "Just now, on this lab’s servers, it broke")
	tb.await(`document.querySelector(".drawn-example.live svg .d-verdict") !== null`)
	tb.inEveryLook("lesson live")
	tb.shots("lesson-live")

	t.Log("a lab that cannot")
	g.mu.Lock()
	g.wrong = "too_many_games"
	g.mu.Unlock()
	tb.forgive("503 (Service Unavailable)")
	tb.click(".break-it .run")
	tb.await(`document.querySelector(".break-it [role=alert] .wrong") !== null && document.querySelector(".drawn-example.live") === null`)

	t.Log("every counterexample of a strategy, beside its lesson")
	tb.eval(`location.hash = "#/lessons/redis-lua"`)
	tb.await(`document.querySelector(".examples .drawn-example svg") !== null && document.querySelectorAll(".examples .choices button").length >= 3`)
	tb.click(`.examples .choices button:nth-child(2)`)
	tb.await(`document.querySelector('.examples .drawn-example[data-example="redis-lua.late-command"] svg') !== null`)
	tb.inEveryLook("lesson of a strategy")

	t.Log("what withstands has none")
	tb.eval(`location.hash = "#/lessons/conditional"`)
	tb.await(`document.querySelector(".choices [aria-pressed=true]")?.innerText === "conditional" && document.querySelector(".lesson-text") !== null && document.querySelector(".examples") === null`)

	t.Log("what the articles say, with ours computed in every row")
	tb.eval(`location.hash = "#/lessons/12-which"`)
	tb.await(`document.querySelectorAll(".articles table").length === 5 && document.querySelectorAll(".articles tbody tr").length === 22`)
	tb.await(`[...document.querySelectorAll(".articles tbody td:last-child")].every((td) => td.innerText.trim() && !/undefined|NaN/.test(td.innerText)) && document.querySelectorAll(".articles .mark").length > 30`)
	tb.await(`document.querySelector('[data-row="segments"] td:last-child').innerText.includes("times")`)
	tb.await(`document.querySelector('[data-row="long"] .mark.broken, [data-row="long"] a.mark') !== null`)
	tb.inEveryLook("articles")
	tb.shots("articles")
}
