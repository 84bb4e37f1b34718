package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// What people come for, on a real lab: each answer is judged, and every click counts.
func TestTasks(t *testing.T) {
	u := sharedLab(t)
	b := startBrowser(t)
	clicks, begun := 0, time.Now()
	var tb *tab
	begin := func(address string) {
		tb = b.open(u.page+address, wide)
		clicks, begun = 0, time.Now()
	}
	click := func(selector string) { clicks++; tb.click(selector) }
	done := func(task string) { t.Logf("%s: %d clicks, %.1f s", task, clicks, time.Since(begun).Seconds()) }

	begin("")
	click(".guided li:first-child button")
	tb.await(`document.querySelector('[data-verdict="oversold"]') !== null && Number(document.querySelector("[data-sold]").dataset.sold) > 100`)
	tb.says(".because-of", "is sold twice")
	done("see a sale break, and why")
	click("button.next")
	tb.await(`document.querySelector('[data-verdict="held"]') !== null && document.querySelector("[data-sold]").dataset.sold === "100"`)
	done("and one that holds")

	begin("")
	click(`.top nav a[href="#/choose"]`)
	click(`.questions [name=need][value=lock]`)
	click(`.questions [name=fails][value="dead-holder"]`)
	tb.await(`document.querySelector(".fit") !== null`)
	found, err := chromedp.Run(tb.ctx, chromedp.Evaluate[[]string](`[...document.querySelectorAll(".fit h2 code")].map((name) => name.innerText)`))
	done("find a lock that survives its holder’s death")
	var matrix struct {
		Rows []struct {
			Strategy string
			Cells    map[string]struct{ Answer string }
		}
	}
	u.get("/guarantees/matrix.json", &matrix)
	for _, r := range matrix.Rows {
		if slices.Contains(found, r.Strategy) && (r.Cells["waits"].Answer != "measured" || r.Cells["owner"].Answer != "holds" || r.Cells["dead-holder"].Answer != "holds") {
			t.Errorf("%s was offered: %+v", r.Strategy, r.Cells)
		}
	}
	if err != nil || len(found) == 0 {
		t.Errorf("no lock was offered: %v", err)
	}

	begin("")
	click(`.top nav a[href="#/lessons"]`)
	click(`.tabs a[href="#/play"]`)
	click(".first-level a")
	tb.says(`[data-buyer=A] .command-button`, "sends to MySQL")
	tb.press("abbbbb")
	tb.moves(6)
	tb.press("aaaa")
	tb.says(".play-ending .banner", "You sold 3 of 2")
	done("break it oneself")

	begin("shop")
	click("button.buy")
	tb.answer("sold")
	tb.await(`document.querySelector(".orders li code")?.innerText === document.querySelector(".answer code").innerText`)
	done("buy one")
	tb.click("button.cancel")

	begin("#/guarantees")
	click(`.matrix [data-cell="redis-lua.late-command"]`)
	tb.says("h1", "redis-lua")
	tb.eval(`URL.createObjectURL = (file) => { file.text().then((text) => { window.saved = text; }); return "#saved"; }; HTMLAnchorElement.prototype.click = () => {};`)
	click("[data-file=html]")
	tb.await(`window.saved !== undefined`)
	page, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](`window.saved`))
	file := filepath.Join(t.TempDir(), "proof.html")
	if err == nil {
		err = os.WriteFile(file, []byte(page), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	sent := b.open("file://"+file, wide)
	sent.says("h1", "redis-lua")
	sent.click(".controls button:nth-of-type(5)") // to its end
	sent.says(".ending", "Broken")
	done("send a proof that plays without a lab")
}

// One view has the answer: how long the screens are.
func TestHeights(t *testing.T) {
	u := sharedLab(t)
	tb := startBrowser(t).open(u.page+"#/lab?strategies=naive&stock=50&buyers=300", wide)
	tb.click("button.run")
	tb.await(`document.querySelector(".because-of") !== null && !document.querySelector(".banner.busy")`)
	tb.eval(`location.hash = "#/"`)
	for _, s := range []struct {
		name, address, ready string
		wide, phone          int
	}{
		{"a result", "", ".because-of .drawing svg", 1200, 2400},
		{"the chooser", "choose", ".fit", 1200, 3000},
		{"the proof", "guarantees", ".matrix, .cards", 1200, 3000},
		{"a level", "play/first-lost-update", ".buyer-column", 1200, 2400},
	} {
		tb.eval(fmt.Sprintf(`location.hash = "#/%s"`, s.address))
		for _, l := range []struct{ width, height, most int }{{1440, 900, s.wide}, {390, 844, s.phone}} {
			tb.do(look{"", int64(l.width), int64(l.height), false}.set())
			tb.await(fmt.Sprintf(`document.querySelector(%q) !== null && document.documentElement.scrollWidth <= innerWidth`, s.ready))
			if h := tb.number(`document.documentElement.scrollHeight`); h > l.most {
				t.Errorf("%s is %d px high at %d, want at most %d", s.name, h, l.width, l.most)
			} else {
				t.Logf("%s is %d px high at %d", s.name, h, l.width)
			}
		}
		tb.await(`document.querySelectorAll("main :is(a, button, input, select, summary)").length <= 300`)
		tb.do(wide.set())
	}
}
