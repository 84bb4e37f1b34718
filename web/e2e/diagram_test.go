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

	"seckill/internal/lab/labtest"
	"seckill/web"
)

// drawnWrong returns the errors of a drawing: it must be XML and must not refer to other files.
const drawnWrong = `((source) => {
	const drawn = new DOMParser().parseFromString(source, "image/svg+xml");
	return [...(drawn.querySelector("parsererror") || !drawn.querySelector("title")?.textContent ? ["it is not XML, or has no title"] : []),
		...[...drawn.querySelectorAll("*")].flatMap((el) => [...el.attributes])
			.filter((a) => a.name !== "xmlns" && (/^(href|style|src)$/.test(a.localName) || /url\(|:\/\//.test(a.value))).map((a) => "it refers to something: " + a.name + " " + a.value)];
})`

// drawKept draws every counterexample of the matrix in the page with these options, applies an expression to the
// drawing, and returns the errors that the expression finds.
func (tb *tab) drawKept(options, look string) {
	tb.t.Helper()
	files, err := fs.Glob(web.Guarantees(), "*.json")
	if err != nil || len(files) < 100 {
		tb.t.Fatalf("%d kept counterexamples: %v", len(files), err)
	}
	tb.eval(`window.drawing = Promise.all([import("/static/trace/diagram.js"), import("/static/trace/read.js"), import("/static/trace/model.js")])`)
	for _, name := range files {
		if name == "matrix.json" {
			continue
		}
		text := labtest.Value(fs.ReadFile(web.Guarantees(), name)).Must(tb.t)
		tb.none(name+" with "+options, ask[[]string](tb, fmt.Sprintf(`window.drawing.then(([{ diagram }, { readExample }, { servers }]) => {
			const trace = readExample(%s);
			const source = diagram(trace, %s);
			return (%s)({ trace, source, servers });
		})`, text, options, look)))
	}
}

func (tb *tab) standsAlone(svg string) {
	tb.t.Helper()
	quoted, _ := json.Marshal(svg)
	tb.none("a drawing", ask[[]string](tb, drawnWrong+"("+string(quoted)+")"))
}

var update = flag.Bool("update", false, "write the drawing and the picture of the README anew")

// Every counterexample can be drawn, with an arrow for each command and with every sentence of the judge.
func TestEveryCounterexampleIsDrawn(t *testing.T) {
	t.Parallel()
	tb := startFake(t).open("trace")
	tb.says(".title-of", "naive")
	tb.drawKept(`{ width: 900, heading: true }`, `({ trace, source, servers }) => {
		const wrong = `+drawnWrong+`(source);
		const drawn = new DOMParser().parseFromString(source, "image/svg+xml");
		const arrows = new Set([...drawn.querySelectorAll(".d-command")].flatMap((a) => a.getAttribute("data-steps").split(" ")));
		trace.steps.forEach((s, i) => {
			if (s.who && s.command && servers[s.backend] && s.fault !== "dies" && !arrows.has(String(i + 1))) wrong.push("step " + (i + 1) + " has no arrow");
		});
		const said = [...drawn.querySelectorAll(".d-verdict")].map((v) => v.textContent).join(" ").replace(/\s/g, "");
		for (const p of trace.problems) if (!said.includes(p.message.replace(/\s/g, ""))) wrong.push("it does not say: " + p.message);
		return wrong;
	}`)

	t.Log("what a trace says is text")
	hostile := ask[string](tb, `window.drawing.then(([{ diagram }]) => diagram({ strategy: "<script>", question: "", name: "</title><a href='x'>", stock: 1,
		buyers: [{ name: "<b>\u0000", process: 0 }], steps: [{ who: "<b>\u0000", fault: "", backend: "sql", command: "SELECT '<i>&\ud800", result: "", reply: "\"<", woke: [], values: [] }], told: [], problems: [] }, { heading: true }))`)
	if strings.Contains(hostile, "<i>") || strings.Contains(hostile, "<script") {
		t.Error(hostile)
	}
	tb.standsAlone(hostile)

	t.Log("the README shows one as the page draws it now")
	const name, file = "redis-lua.late-command", "../../docs/screens/redis-lua.late-command.svg"
	text := labtest.Value(fs.ReadFile(web.Guarantees(), name+".json")).Must(t)
	svg := ask[string](tb, fmt.Sprintf(`window.drawing.then(([{ diagram }, { readExample }]) => diagram(readExample(%s), { width: 900, heading: true }))`, text))
	if *update {
		labtest.Must(t, os.WriteFile(file, []byte(svg+"\n"), 0o644))
	}
	kept, err := os.ReadFile(file)
	if err != nil || strings.TrimSpace(string(kept)) != svg {
		t.Errorf("%s is not what the page draws now (%v): go test ./web/e2e -run %s -update", file, err, t.Name())
	}
	if !labtest.Verify {
		return
	}

	t.Log("no two texts of any drawing overlap, and none leaves it: the browser measures")
	tb.eval(`{ const place = document.createElement("div"); place.id = "place"; document.body.append(place); }`)
	for _, language := range []string{"en", "zh-CN"} {
		tb.speak(language)
		for _, width := range []string{"340", "640", "960"} {
			tb.drawKept(`{ width: `+width+`, heading: true }`, `({ source }) => {
				const place = $("#place");
				place.innerHTML = source;
				const [, , width] = place.firstChild.getAttribute("viewBox").split(" ").map(Number);
				const texts = [...place.querySelectorAll("text")].map((el) => ({ says: el.textContent, box: el.getBBox() }));
				const wrong = texts.filter(({ box }) => box.x < -0.5 || box.x + box.width > width + 0.5).map(({ says, box }) => says + " leaves the drawing: " + box.x + " + " + box.width + " of " + width);
				texts.sort((a, b) => a.box.y - b.box.y);
				texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
					const across = Math.min(a.box.x + a.box.width, b.box.x + b.box.width) - Math.max(a.box.x, b.box.x);
					const down = Math.min(a.box.y + a.box.height, b.box.y + b.box.height) - b.box.y;
					if (across > 1 && down > 0.35 * Math.min(a.box.height, b.box.height)) wrong.push(a.says + " and " + b.says + " overlap by " + Math.round(across) + " × " + Math.round(down));
				}));
				return wrong;
			}`)
		}
	}
}

// `make picture` takes the picture for the README, of a real sale that breaks. It also saves the
// menu that every screen has. If the menu changes, the picture is out of date.
func TestPictureOfTheReadme(t *testing.T) {
	t.Parallel()
	const picture, words = "../docs/page.png", "../docs/page.txt"
	const above = `$$(".top, .tabs").map((bar) => bar.innerText).join("\n")`
	if *update {
		tb := fresh(t, sharedLab(t).page)
		tb.in(look{"picture", 1180, 850, false})
		tb.says(".machines", "MariaDB")
		tb.click(".guided li:first-child button")
		tb.await(`$('[data-verdict="oversold"]') !== null`)
		tb.says(".because-of", "is sold twice")
		tb.shows(".because-of .drawing .d-command")
		tb.settled()
		png := labtest.Value(chromedp.Run(tb.ctx, chromedp.CaptureScreenshot())).Must(t)
		labtest.Must(t, os.WriteFile(picture, png, 0o644))
		labtest.Must(t, os.WriteFile(words, []byte(ask[string](tb, above)+"\n"), 0o644))
	}
	kept := labtest.Value(os.ReadFile(words)).Must(t)
	tb := startFake(t).open("")
	tb.shows(".tabs")
	if shows := ask[string](tb, above); strings.TrimSpace(string(kept)) != strings.TrimSpace(shows) {
		t.Errorf("the picture in the README has %q above its screen, the page now has %q; run make picture",
			kept, shows)
	}
}
