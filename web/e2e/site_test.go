package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"seckill/internal/lab/labtest"
	"seckill/internal/site"
	"seckill/strategies"
	"seckill/web"
)

var phone = look{"phone", 390, 844, false}

const maxFirstView = 400_000 // bytes that a visitor may load for a first view

// serveSite serves a site as GitHub Pages does, below a path and without a lab, and returns its address.
func serveSite(t *testing.T) (address string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	s := site.Site{Page: web.Files(), Guarantees: web.Guarantees(), Recordings: web.Recordings(),
		Checkout:   os.DirFS("../.."),
		Strategies: strategies.All(), Version: "test"}
	labtest.Must(t, s.Write(dir))
	files := http.FileServer(http.Dir(dir))
	unknown := labtest.Value(os.ReadFile(filepath.Join(dir, "404.html"))).Must(t)
	server := httptest.NewServer(http.StripPrefix("/below/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(r.URL.Path))); err == nil {
			files.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write(unknown)
	})))
	t.Cleanup(server.Close)
	return server.URL + "/below/"
}

// firstView opens a place as a newcomer, and measures what it loads until it shows a text.
func firstView(t *testing.T, address, selector, text string) *tab {
	t.Helper()
	tb := fresh(t, address)
	tb.says(selector, text)
	tb.drawn()
	tb.mu.Lock()
	loaded := tb.bytes
	tb.mu.Unlock()
	t.Logf("%s loads %.0f bytes", address, loaded)
	if loaded > maxFirstView {
		t.Errorf("the first view of %s loads %.0f bytes, more than %d", address, loaded, maxFirstView)
	}
	return tb
}

// predicts chooses an answer and goes on, by the keyboard. A step that nobody could predict is only shown.
func (tb *tab) predicts() {
	tb.t.Helper()
	tb.shows(`.guess`)
	if ask[bool](tb, `document.querySelector("[data-answer]") !== null`) {
		tb.reach(`[data-answer]`)
		tb.press("\r")
		tb.shows(`.guess [data-right]`)
	}
	now := ask[string](tb, `document.querySelector(".where").innerText`)
	tb.reach(`[data-do=reveal]`)
	tb.press("\r")
	tb.await(fmt.Sprintf(`document.querySelector(".where").innerText !== %q`, now))
}

// prints shows the page as on paper while an expression becomes true.
func (tb *tab) prints(expression string) {
	tb.t.Helper()
	media := func(name string) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name})
			return err
		})
	}
	tb.do(media("print"))
	tb.await(expression)
	tb.await(`document.documentElement.scrollWidth <= innerWidth`)
	tb.do(media(""))
}

// Without a lab: the story, a chapter to its end, its slides, three levels and a counterexample from a link.
func TestSitePlaysWithoutALab(t *testing.T) {
	t.Parallel()
	home := serveSite(t)

	t.Log("README comes first; what needs a lab says so")
	tb := firstView(t, home, ".document h1", "seckill")
	tb.click(`a[href="#/faq"]`)
	tb.says(".document h1", "Questions that users ask")
	tb.goTo("lab")
	tb.says(".needs-lab", "make demo")

	t.Log("an unknown address at any depth leads to the start")
	tb = fresh(t, "about:blank")
	tb.forgive("404")
	tb.forgive(home)
	tb.do(chromedp.Navigate(home + "no/such/page"))
	tb.await(fmt.Sprintf(`$("a").href === %q`, home))
	tb.none("the page for unknown addresses is laid out wrongly", ask[[]string](tb, layout))
	tb.click(`[lang=zh-CN] a`)
	tb.says(".document h1", "seckill")
	tb.speak("zh-CN")
	tb.goTo("story/docs%2Fcli.md")
	tb.says(".document", "这份文档只有英文。")
	tb.goTo("faq")
	tb.click(`.document a[href*=original]`)
	tb.says(".document h1", "Questions that users ask")

	t.Log("chapter 1 is read to its end, with its drawing")
	tb = firstView(t, home+"#/lessons/01-lost-update", ".chapter h1", "The lost update")
	tb.shows(`.drawn-example[data-example="naive.oversell"] svg, .drawn-example svg`)
	// Drawings that arrive move the end of the chapter down, so the test scrolls again and again.
	tb.await(`$(".turn").scrollIntoView(), $(".chapters [aria-current] .tick") !== null`)
	tb.says(".break-it", "make demo")

	t.Log("on a phone, each reply is predicted by the keyboard before it is shown")
	tb.in(phone)
	tb.reach(`.break-it a.run`)
	tb.press("\r")
	tb.says(".guess", "What does the server answer?")
	tb.in(wide)
	tb.none("the prediction is laid out wrongly", ask[[]string](tb, layout))
	tb.in(phone)
	// Before the prediction, nothing of the answer shows.
	tb.await(`document.querySelectorAll(".drawing [data-step]").length === 0 && !document.querySelector(".ending")`)
	tb.predicts()
	tb.none("the prediction on a phone is laid out wrongly", ask[[]string](tb, layout))
	tb.await(`/[?&]guess=1/.test(location.hash) && /[?&]step=1/.test(location.hash)`)
	for !ask[bool](tb, `document.querySelector(".ending") !== null`) {
		tb.predicts()
	}
	tb.says(".ending", "Sold more than there were")
	tb.reach(`.guesses input`)
	tb.press(" ")
	tb.await(`!location.hash.includes("guess")`)
	tb.in(wide)

	t.Log("on paper a chapter has its answers and no buttons, and every slide is a page")
	tb.goTo("lessons/08-redis-first")
	tb.shows(`.answer`)
	tb.prints(`[...document.querySelectorAll(".answer p, .primer li")].every((e) => e.checkVisibility()) &&
		[...document.querySelectorAll(".chapters, .turn, button")].every((e) => !e.checkVisibility())`)
	tb.goTo("lessons/08-redis-first?present=1")
	tb.says(".slide:not([hidden])", "Redis: eight attempts")
	tb.click(`[data-do=next]`)
	tb.says(".slide-tools [role=status]", "2")
	tb.await(`location.hash = location.hash.replace(/\d+$/, $$(".slide").findIndex((s) => s.matches(".slide-live")) + 1)`)
	tb.says(".slide-live:not([hidden])", "make demo", "step by step")
	tb.shows(`.slide-live .drawn-example svg`)
	tb.none("the live slide is laid out wrongly", ask[[]string](tb, layout))
	tb.press(kb.End)
	tb.await(`document.querySelector(".slide:not([hidden])").matches(".slide:last-of-type")`)
	tb.prints(`[...document.querySelectorAll(".slide")].every((e) => e.checkVisibility()) && !document.querySelector(".slide-tools").checkVisibility()`)
	tb.press(kb.Escape)
	tb.says(".chapter h1", "Redis: eight attempts")

	t.Log("levels are solved, the first on a phone")
	tb = fresh(t, home+"#/play/first-lost-update")
	tb.in(phone)
	tb.says(`[data-buyer=A] .command-button`, "sends to MySQL")
	tb.says(".recorded", "Every move was recorded")
	tb.plays("abu")
	tb.shows(`.play [data-moves="1"]`)
	tb.plays("bbbbbaaaa")
	tb.says(".graded", "Solved", "★★★")
	tb.says(".play-ending [data-broken=true]", "You sold 3 of 2")
	tb.await(`location.hash === "#/play/first-lost-update?s=abbbbbaaaa"`)
	tb = fresh(t, home+"#/play/row-lock")
	tb.says(".play-budget", "1 of 1 fault left")
	tb.click(`[data-do=impossible]`)
	tb.says(".graded", "132")
	tb = fresh(t, home+"#/play/paused-holder?s=aaLbbbbbbbaaaa")
	tb.shows(`.play [data-moves="14"]`)
	tb.plays("a")
	tb.says(".graded", "Solved")

	t.Log("a counterexample has an address of its own")
	tb = firstView(t, home+"x/redis-lua.late-command/", ".title-of h1", "redis-lua")
	tb.press(kb.ArrowRight)
	tb.await(`location.pathname.endsWith("/x/redis-lua.late-command/")`)
	tb.click(`.title-of a[href*="lessons"]`)
	tb.says(".chapter h1", "Redis")
}
