package e2e

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"seckill/internal/judge"
	"seckill/web/course"
)

func TestLessons(t *testing.T) {
	t.Parallel()
	chapters := course.Chapters()
	last := chapters[len(chapters)-1]
	tb := startFake(t).open("lessons")
	tb.says(".chapter h1", "The lost update")
	tb.await(`location.hash === "#/lessons/01-lost-update"`)
	tb.await(fmt.Sprintf(`$$(".chapters li").length === %d`, len(chapters)))

	t.Log("the very source, highlighted, and its lesson")
	tb.says(".sources pre", "package sqlrow // <b>")
	tb.await(`$(".sources .hl-word")?.innerText === "package" && $(".sources .hl-comment").innerText === "// <b>"`)
	tb.says(".lesson-text", "Two read 2, see conditional.")
	tb.await(`$(".lesson-text .hl-word")?.innerText === "SELECT"`)
	tb.good("lesson")

	t.Log("the question stands before its answer, and again at the run, with what was said")
	tb.await(`$(".chapter section .predict").compareDocumentPosition($(".chapter .drawn-example")) === Node.DOCUMENT_POSITION_FOLLOWING`)
	tb.click(`.predict [name="predict-first"][value="more"]`)
	tb.await(`$('.break-it .predict [value="more"]').checked`)

	t.Log("a chapter whose end was seen is read; pages are turned, and remembered")
	tb.await(`$(".turn [rel=next]").scrollIntoView(), $(".chapters li:first-child .tick") !== null`)
	tb.click(".turn [rel=next]")
	tb.says(".chapter h1", "One statement")
	tb.await(`scrollY === 0 && document.activeElement === $(".chapter h1")`)
	tb.speak("zh-CN")
	tb.says(".chapters", "丢失更新")
	tb.do(chromedp.Reload())
	tb.await(`$(".chapters li:nth-child(2) a")?.ariaCurrent === "page"`)
	tb.says(".chapters", fmt.Sprintf("%d 章中已读", len(chapters)))
	tb.goTo("lessons")
	tb.await(`location.hash === "#/lessons/02-one-statement"`)
	tb.speak("en")

	t.Log("a strategy has a chapter")
	tb.goTo("lessons/naive")
	tb.says(".chapter h1", "The lost update")
	tb.await(`$(".choices [aria-pressed=true]")?.innerText === "naive"`)

	t.Log("a chapter that opens its counterexample")
	tb.goTo("lessons/09-redis-owner")
	tb.says(".break-it", "redis-token")
	tb.eval(`$(".break-it .play").scrollIntoView({ block: "center" })`)
	tb.drawn()
	place := ask[int](tb, `Math.round(scrollY)`)
	tb.click(".break-it .play")
	tb.says("h1", "redis-token")
	tb.do(chromedp.NavigateBack())
	tb.await(fmt.Sprintf(`$(".break-it .play") !== null && Math.abs(scrollY - %d) < 3 &&
		scrollY > 300`, place)) // where it was left

	t.Log("the same with a strategy that withstands, beside it")
	tb.goTo("lessons/11-fencing")
	tb.says(".break-it .beside", "zk-fenced")
	tb.click(".break-it .beside")
	tb.says("h1", "zk-fenced stays right")
	tb.await(`$(".drawing desc")?.textContent.includes("UPDATE fence")`)

	t.Log("a chapter has the proofs, and says how to measure")
	tb.goTo("lessons/12-which")
	tb.says(".proven", "redis-lua")
	tb.says(".figures-place", "seckill compare --strategies")
	tb.await(`/--(turn|rounds|buyers) /.test($(".figures-place").innerText)`) // the command as it was measured
	tb.says(".measured", "conditional")
	tb.says(".measured figcaption", "Measured on 2")
	tb.goTo("lessons/" + last.Name)
	tb.says(".chapter h1", last.Title["en"])
	tb.await(`!$(".turn [rel=next]")`)
	tb.await(`$(".chapters [aria-current]").getBoundingClientRect().bottom <= $(".chapters").getBoundingClientRect().bottom`)

	t.Log("no such chapter")
	tb.goTo("lessons/13-nothing")
	tb.says(`.chapter [role="alert"]`, "There is no chapter and no strategy “13-nothing”")
}

// A chapter draws its counterexample, and replays it after a click.
func TestLessonsAreDrawnAndBreakLive(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("lessons/09-redis-owner")
	t.Log("where the text speaks of it, with the moment marked")
	tb.shows(`.chapter section .drawn-example[data-example="redis-token.owner"] svg .d-moment`)

	t.Log("the same in words")
	tb.eval(`$('[data-example="redis-token.owner"] .in-words summary').focus()`)
	tb.press("\r")
	tb.await(`$$('[data-example="redis-token.owner"] .in-words li').some((li) => li.innerText.includes("A to Redis: DEL"))`)

	t.Log("live")
	tb.click(".break-it .run")
	tb.says(".live-said", "Just now, on this lab’s servers, it broke")
	tb.shows(`.drawn-example.live svg .d-verdict`)
	tb.good("lesson live")

	t.Log("every counterexample of a strategy, beside its lesson")
	tb.goTo("lessons/redis-lua")
	tb.await(`$(".examples .drawn-example svg") && $$(".examples .choices button").length >= 3`)
	tb.click(`.examples .choices button:nth-child(2)`)
	tb.shows(`.examples .drawn-example[data-example="redis-lua.late-command"] svg`)

	t.Log("what withstands has none")
	tb.goTo("lessons/conditional")
	tb.await(`$(".choices [aria-pressed=true]")?.innerText === "conditional" && $(".lesson-text") !== null && $(".examples") === null`)

	t.Log("what the articles say, with ours computed in every row")
	tb.goTo("lessons/12-which")
	tb.in(look{"", 1024, 1000, false})
	tb.await(`$$(".articles table").length === 5 && $$(".articles tbody tr").length === 22 && $(".articles").clientHeight < 2 * innerHeight`)
	tb.eval(`$$(".articles details").forEach((d) => { d.open = true; })`)
	tb.await(`$$(".articles tbody td:last-child").every((td) => td.innerText.trim() && !/undefined|NaN/.test(td.innerText)) && $$(".articles .mark").length > 30`)
	tb.says(`[data-row="segments"] td:last-child`, "times")
	tb.shows(`[data-row="long"] .mark.broken, [data-row="long"] a.mark`)
	tb.good("articles")
}

// onSlide waits until only slide n is shown.
func (tb *tab) onSlide(n int) {
	tb.t.Helper()
	tb.await(fmt.Sprintf(`$(".projector")?.dataset.at === "%d" && $$(".slide:not([hidden])").length === 1`, n))
}

func TestPresentation(t *testing.T) {
	t.Parallel()
	f := startFake(t)
	tb := f.open("lessons/01-lost-update")
	tb.in(look{"projector", 1280, 720, false})
	tb.click(`.to-teach a[href*="present"]`)
	tb.onSlide(1)
	tb.says(".slide-title h1", "The lost update")
	tb.await(`$("header.top").inert`)

	t.Log("turned by keys")
	all := ask[int](tb, `Number($(".projector").dataset.of)`)
	tb.press(kb.ArrowRight)
	tb.onSlide(2)
	tb.says(".slide:not([hidden]) h2", "What you will know")
	tb.await(`location.hash === "#/lessons/01-lost-update?present=2" && document.activeElement.matches(".slide:not([hidden])")`)
	tb.press("n")
	tb.says(".slide-notes", "Most learners blame the missing transaction")
	tb.press("n")
	tb.await(`!$(".slide-notes")`)
	tb.press(kb.End)
	tb.onSlide(all)
	tb.says(".slide:not([hidden]) h2", "Sources")
	tb.press(kb.ArrowRight)
	tb.press(kb.ArrowLeft)
	tb.onSlide(all - 1)
	tb.says(".slide:not([hidden])", "counters and balances")

	t.Log("no slide of any chapter is only its heading; drawings are on slides, and every slide has a note")
	chapters := course.Chapters()
	for _, c := range chapters {
		tb.goTo("lessons/" + c.Name + "?present=1")
		tb.says(".slide-title h1", c.Title["en"])
		tb.none(c.Name+" has slides with nothing but a heading", ask[[]string](tb, `$$(".slide:not(.slide-title, .slide-live)")
			.filter((s) => s.querySelector(".slide-inside").children.length < 2).map((s) => s.ariaLabel)`))
		tb.await(`$(".slide .drawn-example") !== null`)
	}
	tb.goTo("lessons/01-lost-update?present=1")
	tb.onSlide(1)
	tb.press("n")
	tb.says(".slide-notes", "The live slide needs it")
	tb.goTo(fmt.Sprintf("lessons/01-lost-update?present=%d",
		ask[int](tb, `$$(".slide").findIndex((s) => s.matches(".slide-live")) + 1`)))
	tb.says(".slide-notes", "how many naive sells of 100 to 2,000 buyers")
	tb.press("n")

	t.Log("on a projector every slide of text is whole, in both languages")
	for _, language := range []string{"en", "zh-CN"} {
		tb.press(kb.Escape)
		tb.await(`!$(".projector")`)
		tb.speak(language)
		for _, chapter := range []string{"01-lost-update", "11-fencing"} {
			tb.goTo("lessons/" + chapter + "?present=1")
			tb.onSlide(1)
			tb.none("slides show marks of Markdown", ask[[]string](tb, `$$(".slide").map((s) => s.textContent)
				.filter((said) => said.includes("**"))`))
			for n := range ask[int](tb, `Number($(".projector").dataset.of)`) {
				tb.goTo(fmt.Sprintf("lessons/%s?present=%d", chapter, n+1))
				tb.onSlide(n + 1)
				tb.await(`$(".slide:not([hidden])").matches(".slide-live, .slide-sources") ||
					[$(".slide:not([hidden])")].every((s) => s.scrollHeight <= s.clientHeight + 1 && s.scrollWidth <= s.clientWidth + 1)`)
			}
			if language == "zh-CN" {
				tb.goTo("lessons/" + chapter + "?present=2")
				tb.onSlide(2)
				tb.none("slides say in English", ask[[]string](tb, latin))
			}
		}
		tb.press(kb.Escape)
		tb.await(`!$(".projector")`)
	}
	tb.speak("en")

	t.Log("broken live, with a prediction, by mouse and by keys")
	tb.goTo("lessons/01-lost-update?present=1")
	tb.onSlide(1)
	t.Log("the question has a slide before the steps")
	tb.await(`(() => {
		const slides = $$(".slide").map((s) => s.className);
		return slides.findIndex((c) => c.includes("slide-predict")) === slides.findIndex((c) => c.includes("slide-steps")) - 1;
	})()`)
	live := ask[int](tb, `$$(".slide").findIndex((s) => s.matches(".slide-live")) + 1`)
	tb.goTo(fmt.Sprintf("lessons/01-lost-update?present=%d", live))
	tb.onSlide(live)
	tb.says(".slide-live .predict", "How many does naive sell?")
	tb.accessible("slide")
	tb.click(`.slide-live .predict [value="more"]`)
	tb.press(kb.ArrowRight) // the key chooses another answer, and does not turn the slide
	tb.onSlide(live)
	tb.click(`.slide-live .predict [value="more"]`)
	tb.click(".slide-live .run")
	tb.says(".slide-live .banner", "naive: selling")
	tb.press(kb.ArrowRight)
	tb.onSlide(live + 1) // the run goes on in the background
	tb.says(".slide:not([hidden])", "The first lost update")
	tb.press(kb.ArrowLeft)
	f.results <- fakeResult(judge.Oversold, judge.Violation{Rule: judge.RuleOversold, Verdict: judge.Oversold,
		Message: "31 too many", Count: 1})
	tb.says(".slide-live .banner", "OVERSOLD")
	tb.says(".slide-live .predict [role=status]", "You were right")

	t.Log("left by Esc")
	tb.press(kb.Escape)
	tb.await(`location.hash === "#/lessons/01-lost-update" && !$(".projector") && !$("header.top").inert`)
}

func TestTeachersPack(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("lessons/01-lost-update")
	tb.click(`.to-teach a[href*="teach"]`)
	tb.says("h1", "The plan: The lost update")
	tb.says(".teach-plan .lesson", "Most learners blame the missing transaction")
	tb.says("[data-part=play]", "The first lost update and Locked from the read on")

	t.Log("a plan has no gap, and is as long as it says")
	for _, minutes := range []string{"45", "90"} {
		tb.click(`[data-minutes="` + minutes + `"]`)
		tb.await(`$("[data-minutes='` + minutes + `']").ariaPressed === "true"`)
		tb.await(`(() => {
			const steps = $$(".teach-steps tbody tr").map((r) => [Number(r.dataset.from), Number(r.dataset.to)]);
			return steps.length > 5 && steps[0][0] === 0 && steps.at(-1)[1] === ` + minutes + ` && steps.every(([from, to], i) => from < to && (i === 0 || steps[i - 1][1] === from));
		})()`)
	}
	tb.shows(`[data-part=source]`) // only the plan for 90 minutes has this part
	tb.good("teach plan")

	t.Log("a sheet without answers, and with them")
	tb.click(`.teach-ways a[href$="sheet=questions"]`)
	tb.says(".sheet", "How many does naive sell?", "Where does your own code read a value")
	tb.await(`$("[data-task=proof] td").innerText === "" && $$("[data-task=level]").length === 2`)
	tb.await(`!$(".sheet").innerText.includes("counters and balances") && !$(".sheet-answer")`)
	tb.click(`.sheet-tools a`)
	tb.says("[data-task=think] .sheet-answer", "counters and balances")
	tb.says("[data-task=predict] .sheet-answer", "seckill load --strategy naive --stock 100 --buyers 2000")
	tb.await(`$("[data-task=proof] td").innerText.includes("✗")`)
	tb.says("[data-task=level] .sheet-answer", "Both read 2")
	tb.good("teach solutions")
}
