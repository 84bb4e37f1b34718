//go:build verify

package e2e

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// A series of a real lab; one of its runs by its address after the lab was started
// anew; and that run as a file.
func TestRunsOutliveTheLab(t *testing.T) {
	program, folder := buildProgram(t), t.TempDir()
	u := startUp(t, program, "--addr", "127.0.0.1:0", "--embedded", "--history", folder)
	b := startBrowser(t)
	tb := b.open(u.page+"#/lab?strategies=naive,conditional&stock=20&buyers=300&repeats=5", wide)
	tb.await(formHasAddress)
	tb.click("button.run")
	tb.await(`document.querySelectorAll(".strip:first-of-type a").length === 10`)
	tb.says(".of-lane:nth-of-type(2) .shares", "5 of 5 held (57–100 %)")
	tb.await(`document.querySelectorAll(".series + * [data-verdict], .lane-card [data-verdict]").length >= 2`)
	tb.says(".stage", "shared this machine")
	tb.everyLook("series")
	tb.click(".strip a")
	tb.await(`location.hash.includes("run=") && document.querySelectorAll(".lane-card [data-verdict]").length === 2`)
	tb.wellLaidOut("series")
	address, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](`"#/lab?run=" + new URLSearchParams(location.hash.split("?")[1]).get("run")`))
	if err != nil {
		t.Fatal(err)
	}
	tb.eval(`location.href = "about:blank"`)
	u.stop()

	again := startUp(t, program, "--addr", "127.0.0.1:0", "--embedded", "--history", folder)
	tb = b.open(again.page+address, wide)
	tb.await(`document.querySelectorAll(".lane-card [data-verdict]").length === 2`)
	tb.says(".of-lane:nth-of-type(2) .shares", "5 of 5 held")
	tb.speak("zh-CN")
	tb.eval(`URL.createObjectURL = (file) => { file.text().then((text) => { window.saved = text; }); return "#saved"; };
		HTMLAnchorElement.prototype.click = () => {};`)
	tb.click(".about-run button")
	tb.await(`window.saved?.includes("重复这次运行") && window.saved.includes("--sku 3") && window.saved.includes("SQLite")`)
	tb.await(`!/<(script|link|button|a) |src="(?!data:)/.test(window.saved)`)
	tb.saveFile("saved-zh")
}
