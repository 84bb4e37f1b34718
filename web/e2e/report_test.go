package e2e

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/internal/prove"
	"seckill/web"
)

var update = flag.Bool("update", false, "write the drawing of the README anew")

// proved is the page of `seckill prove --html` for the matrix of this program,
// as a file.
func proved(t *testing.T) string {
	t.Helper()
	f, err := web.Guarantees().Open("matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := prove.ReadMatrix(f)
	if err != nil {
		t.Fatal(err)
	}
	script, err := web.Drawing()
	if err != nil {
		t.Fatal(err)
	}
	var page bytes.Buffer
	if err := m.WriteHTML(&page, prove.Drawings{Script: script, Example: func(file string) ([]byte, error) {
		return fs.ReadFile(web.Guarantees(), path.Base(file))
	}}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "matrix.html")
	if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// The proof's report draws a counterexample when its cell is chosen, from a file
// and without a server.
func TestReportOfTheProofDraws(t *testing.T) {
	tb := startBrowser(t).open("file://"+proved(t), wide)
	tb.await(`document.querySelectorAll("details.example").length > 100`)
	tb.await(`document.querySelector(".drawing svg") === null`)
	tb.click(`a[href="#redis-lua.late-command"]`)
	tb.await(`document.querySelector("[id='redis-lua.late-command'] .drawing svg[role=img] .d-command") !== null`)
	tb.shot("report-of-proof")

	t.Log("every one can be drawn, and none is wider than the page")
	tb.eval(`for (const one of document.querySelectorAll("details.example")) one.open = true`)
	tb.await(`document.querySelectorAll(".drawing svg").length === document.querySelectorAll("details.example").length`)
	tb.await(`document.querySelector(".undrawn") === null && document.documentElement.scrollWidth <= innerWidth`)

	t.Log("paper is light")
	tb.do(look{"", 390, 844, true}.set())
	tb.await(`document.querySelector(".drawing svg rect").getAttribute("fill") !== "#ffffff" && document.documentElement.scrollWidth <= innerWidth`)
	tb.eval(`dispatchEvent(new Event("beforeprint"))`)
	tb.await(`document.querySelector(".drawing svg rect").getAttribute("fill") === "#ffffff"`)
}

// The README shows a counterexample as the page draws it now.
func TestDrawingOfTheReadme(t *testing.T) {
	const name, file = "redis-lua.late-command", "../../docs/screens/redis-lua.late-command.svg"
	text, err := fs.ReadFile(web.Guarantees(), name+".json")
	if err != nil {
		t.Fatal(err)
	}
	tb := startBrowser(t).open("file://"+proved(t), wide)
	tb.await(`document.querySelector("details.example") !== null`)
	quoted, _ := json.Marshal(string(text))
	svg, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](fmt.Sprintf(`Promise.all([import("seckill/trace/diagram.js"), import("seckill/trace/read.js")]).then(
		([{ diagram }, { readExample }]) => diagram(readExample(%s), { width: 900, heading: true }))`, quoted), chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	tb.standsAlone(name, svg)
	if *update {
		if err := os.WriteFile(file, []byte(svg+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(kept)) != svg {
		t.Errorf("%s is not what the page draws now (%v): go test ./web/e2e -run TestDrawingOfTheReadme -update", file, err)
	}
}
