package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"seckill/web"
)

// The diagram is another view of a trace, with an address, and as files.
func TestDiagram(t *testing.T) {
	f := startFake(t)
	tb := startBrowser(t).open(f.url+"/#/trace/redis-lua.lease-end?step=3", wide)
	tb.click(`[data-view="diagram"]`)
	tb.await(`location.hash === "#/trace/redis-lua.lease-end?step=3&view=diagram" && document.querySelector(".drawing svg[role=img] rect.d-current") !== null`)
	tb.await(`[...document.querySelectorAll(".drawing .d-verdict")].some((v) => v.textContent.includes("3 units sold out of 2"))`)
	tb.await(`document.querySelector(".drawing .d-bar.d-stale") !== null && document.querySelectorAll(".drawing .d-chip").length >= 7`)
	tb.await(`[...document.querySelectorAll(".drawing .d-belief.d-wrong")].map((b) => b.textContent).join(" ").includes("no longer true")`)
	tb.await(`document.querySelector(".drawing desc").textContent.includes("9 B to MySQL: COMMIT")`)

	t.Log("a command is chosen with the mouse, the next with the keyboard")
	tb.click(`.drawing [data-step="9"]`)
	tb.says(".chosen", "B → MySQL")
	tb.says(".chosen pre", "COMMIT")
	tb.await(`location.hash.includes("step=9")`)
	tb.do(chromedp.KeyEvent(kb.ArrowRight))
	tb.says(".where", "Step 10 of 18")
	tb.inEveryLook("trace diagram")

	t.Log("on paper it is light")
	tb.do(look{"", 1440, 1000, true}.set())
	tb.await(`document.querySelector(".drawing svg > rect").getAttribute("fill") !== "#ffffff"`)
	tb.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print",
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
		return err
	}))
	tb.await(`document.querySelector(".drawing svg > rect").getAttribute("fill") === "#ffffff"`)
	tb.do(wide.set())

	t.Log("a reload keeps the view, and each language has its own")
	tb.do(chromedp.Reload())
	tb.await(`document.querySelector(".drawing rect.d-current") !== null`)
	tb.speak("zh-CN")
	tb.await(`document.querySelector(".drawing desc").textContent.includes("B 发给 MySQL：COMMIT")`)
	tb.shot("trace-diagram-zh")

	t.Log("as files")
	tb.eval(`{
		window.files = {};
		const click = HTMLAnchorElement.prototype.click;
		HTMLAnchorElement.prototype.click = function () { if (!this.download) { click.call(this); return; } window.files[this.download] = window.blob; };
		URL.createObjectURL = (blob) => { window.blob = new Promise((done) => { const r = new FileReader(); r.onload = () => done(r.result.split(",")[1]); r.readAsDataURL(blob); }); return "#"; };
		URL.revokeObjectURL = () => {};
	}`)
	tb.standsAlone("svg", string(tb.file("redis-lua.lease-end.svg")))
	tb.await(`document.querySelector(".downloads a").download === "redis-lua.lease-end.json"`)
}

// file is what a click on a download makes.
func (tb *tab) file(name string) []byte {
	tb.t.Helper()
	kind := name[strings.LastIndex(name, ".")+1:]
	tb.click(fmt.Sprintf(".downloads [data-file=%s]", kind))
	tb.await(fmt.Sprintf(`window.files[%q] !== undefined`, name))
	text, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](fmt.Sprintf(`window.files[%q]`, name), chromedp.EvalAwaitPromise))
	if err != nil {
		tb.t.Fatal(err)
	}
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		tb.t.Fatal(err)
	}
	return content
}

// standsAlone fails unless a text is XML that refers to nothing.
func (tb *tab) standsAlone(where, svg string) {
	tb.t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			tb.t.Errorf("%s is not XML: %v", where, err)
			return
		}
		start, is := token.(xml.StartElement)
		if !is {
			continue
		}
		for _, a := range start.Attr {
			if a.Name.Local != "xmlns" && (a.Name.Local == "href" || a.Name.Local == "style" || strings.Contains(a.Value, "url(") || strings.Contains(a.Value, "://")) {
				tb.t.Errorf("%s: <%s> refers to something: %s=%q", where, start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
}

// drawKept draws every kept counterexample in the page with these options, has
// an expression look at it, and returns what it finds wrong.
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
		text, err := fs.ReadFile(web.Guarantees(), name)
		if err != nil {
			tb.t.Fatal(err)
		}
		quoted, _ := json.Marshal(string(text))
		found, err := chromedp.Run(tb.ctx, chromedp.Evaluate[[]string](fmt.Sprintf(`window.drawing.then(([{ diagram }, { readExample }, { servers }]) => {
			const trace = readExample(%s);
			const source = diagram(trace, %s);
			return (%s)({ trace, source, servers });
		})`, quoted, options, look), chromedp.EvalAwaitPromise))
		if err != nil || len(found) > 0 {
			tb.t.Errorf("%s with %s: %v %s", name, options, err, strings.Join(found[:min(len(found), 5)], "\n  "))
		}
	}
}

// Every counterexample has a drawing, with an arrow for each command and every
// sentence of the judge.
func TestEveryCounterexampleIsDrawn(t *testing.T) {
	tb := startBrowser(t).open(startFake(t).url+"/#/trace", wide)
	tb.says(".title-of", "naive")
	tb.drawKept(`{ width: 900, heading: true }`, `({ trace, source, servers }) => {
		const wrong = [];
		const drawn = new DOMParser().parseFromString(source, "image/svg+xml");
		if (drawn.querySelector("parsererror") || !drawn.querySelector("title").textContent) wrong.push("it is not XML, or has no title");
		const arrows = new Set([...drawn.querySelectorAll(".d-command")].flatMap((a) => a.getAttribute("data-steps").split(" ")));
		trace.steps.forEach((s, i) => {
			if (s.who && s.command && servers[s.backend] && s.fault !== "dies" && !arrows.has(String(i + 1))) wrong.push("step " + (i + 1) + " has no arrow");
		});
		const said = [...drawn.querySelectorAll(".d-verdict")].map((v) => v.textContent).join(" ").replace(/\s/g, "");
		for (const p of trace.problems) if (!said.includes(p.message.replace(/\s/g, ""))) wrong.push("it does not say: " + p.message);
		if (/ (?:href|style|src)=|url\(|:\/\/(?!www\.w3\.org\/2000\/svg")/.test(source)) wrong.push("it refers to something");
		return wrong;
	}`)

	t.Log("what a trace says is text")
	hostile, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](`window.drawing.then(([{ diagram }]) => diagram({ strategy: "<script>", question: "", name: "</title><a href='x'>", stock: 1,
		buyers: [{ name: "<b>\u0000", process: 0 }], steps: [{ who: "<b>\u0000", fault: "", backend: "sql", command: "SELECT '<i>&\ud800", result: "", reply: "\"<", woke: [], values: [] }], told: [], problems: [] }, { heading: true }))`, chromedp.EvalAwaitPromise))
	if err != nil || strings.Contains(hostile, "<i>") || strings.Contains(hostile, "<script") {
		t.Errorf("%v %s", err, hostile)
	}
	tb.standsAlone("a hostile trace", hostile)

	t.Log("a very long trace ends with a note")
	long, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](`window.drawing.then(([{ diagram }]) => diagram({ strategy: "long", question: "", name: "", stock: 1, buyers: [{ name: "A", process: 0 }], told: [], problems: [{ rule: "oversold", message: "too many" }],
		steps: Array.from({ length: 2000 }, (_, i) => ({ who: "A", fault: "", backend: "sql", command: "SELECT " + i, result: "", reply: "", woke: [], values: [] })) }, {}))`, chromedp.EvalAwaitPromise))
	if err != nil || !strings.Contains(long, "1,850 more steps, under “Steps”") || !strings.Contains(long, "too many") {
		t.Errorf("a long trace: %v, %d bytes", err, len(long))
	}
}
