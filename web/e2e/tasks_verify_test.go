//go:build verify

package e2e

import (
	"fmt"
	"testing"
	"time"
)

// A walk counts the clicks of a newcomer.
type walk struct {
	*tab
	clicks int
}

func (w *walk) to(selector string) {
	w.t.Helper()
	w.clicks++
	w.click(selector)
}

// screen opens a screen by the navigation.
func (w *walk) screen(name string) {
	w.t.Helper()
	w.to(fmt.Sprintf(`nav a[href$="#/%s"]`, name))
}

// Five tasks of newcomers to a real lab, each from its first page and by clicks
// alone: no more clicks than these. It says how long each took, machine included.
func TestTasksOfNewcomers(t *testing.T) {
	u := startUp(t, buildProgram(t), "--addr", "127.0.0.1:0")
	b := startBrowser(t)
	for _, task := range []struct {
		name string
		most int
		do   func(*walk)
	}{
		{"understand an oversale, and see it held", 4, func(w *walk) {
			w.to(".idle .offer") // run naive
			w.await(`document.querySelector('[data-verdict="oversold"], [data-verdict="lost"]') !== null`)
			w.await(`document.querySelector(".why-it-broke svg") !== null`) // two of its orders, drawn
			w.to(".why-it-broke a.offer")                                   // play it
			w.await(`document.querySelector(".step") !== null`)
			w.to(`header a`) // back to the lab
			w.to(".why-it-broke button.offer")
			w.await(`document.querySelector('[data-verdict="held"]') !== null`)
		}},
		{"find a lock that survives a dead holder", 3, func(w *walk) {
			w.screen("guarantees")
			w.to(".presets button:nth-child(3)")
			w.await(`document.querySelectorAll(".matrix tbody th[scope=row]").length > 3 && document.querySelector('[data-row="redis-setnx"]') === null`)
			w.to(".matrix tbody tr:not(.family) th a")
			w.await(`document.querySelector(".lesson-text") !== null`)
		}},
		{"which is faster, conditional or for-update?", 5, func(w *walk) {
			w.screen("compare")
			w.to(".choice .search button:last-child") // none
			for _, name := range []string{"conditional", "for-update"} {
				w.clicks++
				w.eval(fmt.Sprintf(`[...document.querySelectorAll(".choice .boxes label")].find((l) => l.querySelector("code")?.innerText === %q).click()`, name))
			}
			w.to(".run")
			w.await(`/ × |cannot be told apart/.test(document.querySelector(".pairs .sentences li")?.innerText ?? "")`)
		}},
		{"break redis-lua", 3, func(w *walk) {
			w.screen("guarantees")
			w.to(`[data-row="redis-lua"][data-question="lease-end"]`)
			w.to("dialog a.offer")
			w.says(".title-of", "redis-lua · lease ends under a holder")
		}},
		{"send a colleague the proof", 4, func(w *walk) {
			w.screen("guarantees")
			w.to(`[data-row="redis-lua"][data-question="lease-end"]`)
			w.to("dialog a.offer")
			w.await(`document.querySelector(".step") !== null && location.hash.includes("redis-lua.lease-end")`)
			w.eval(`URL.createObjectURL = (file) => { file.text().then((text) => { window.saved = text; }); return "#saved"; };
				HTMLAnchorElement.prototype.click = function () {};`)
			w.to(`.downloads [data-file="svg"]`)
			w.await(`window.saved?.includes("<svg")`)
		}},
	} {
		w := &walk{tab: b.open(u.page, wide)}
		w.await(`document.querySelector(".run") !== null`)
		begun := time.Now()
		task.do(w)
		t.Logf("%s: %d clicks, %.1f s", task.name, w.clicks, time.Since(begun).Seconds())
		if w.clicks > task.most {
			t.Errorf("%s: %d clicks, want at most %d", task.name, w.clicks, task.most)
		}
	}
}
