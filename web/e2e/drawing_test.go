package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/web"
)

var update = flag.Bool("update", false, "write the drawing of the README anew")

// The README shows a counterexample as the page draws it now.
func TestDrawingOfTheReadme(t *testing.T) {
	const name, file = "redis-lua.late-command", "../../docs/screens/redis-lua.late-command.svg"
	text, err := fs.ReadFile(web.Guarantees(), name+".json")
	if err != nil {
		t.Fatal(err)
	}
	tb := startBrowser(t).open(startFake(t).url, wide)
	quoted, _ := json.Marshal(string(text))
	svg, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](fmt.Sprintf(`Promise.all([import("/static/trace/diagram.js"), import("/static/trace/read.js")]).then(
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
