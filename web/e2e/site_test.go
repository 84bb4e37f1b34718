package e2e

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp/kb"

	documents "seckill"
	"seckill/internal/lab/labtest"
	"seckill/internal/site"
	"seckill/strategies"
	"seckill/web"
)

const maxFirstView = 400_000 // bytes that a visitor loads for the first view of anything

// serveSite serves a site as any web server does, below a path and without a lab, and returns its address.
func serveSite(t *testing.T) (address string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "site")
	s := site.Site{Page: web.Files(), Guarantees: web.Guarantees(), Recordings: web.Recordings(),
		Documents:  documents.Files,
		Strategies: strategies.All(), Version: "test"}
	labtest.Must(t, s.Write(dir))
	server := httptest.NewServer(http.StripPrefix("/below/", http.FileServer(http.Dir(dir))))
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

	t.Log("chapter 1 is read to its end, with its drawing")
	tb = firstView(t, home+"#/lessons/01-lost-update", ".chapter h1", "The lost update")
	tb.shows(`.drawn-example[data-example="naive.oversell"] svg, .drawn-example svg`)
	tb.eval(`$(".turn").scrollIntoView()`)
	tb.shows(`.chapters [aria-current] .tick`)
	tb.says(".break-it", "make demo")
	tb.goTo("lessons/08-redis-first?present=1")
	tb.says(".slide:not([hidden])", "Redis: eight attempts")
	tb.click(`[data-do=next]`)
	tb.says(".slide-tools [role=status]", "2")

	t.Log("levels are solved, the first on a phone")
	tb = fresh(t, home+"#/play/first-lost-update")
	tb.in(look{"phone", 390, 844, false})
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
