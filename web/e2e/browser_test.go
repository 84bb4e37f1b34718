// Package e2e tests the page in a real browser. Most tests use a fake lab, the others a real one.
package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"seckill/internal/lab/labtest"
)

func findBrowser(t *testing.T) string {
	// The headless shell is preferred: it draws no windows, and takes half the processor time.
	for _, name := range []string{"chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser",
		"google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no Chromium was found; run: deploy/deps.sh --tests")
	return ""
}

// All tests share one Chromium, because starting one costs more than most tests do.
var chromium struct {
	once sync.Once
	ctx  context.Context
	stop func() error
}

func startChromium(t *testing.T) (_ context.Context, stop func() error) {
	t.Helper()
	profile := labtest.Value(os.MkdirTemp("", "seckill-browser-")).Must(t)
	var process *exec.Cmd
	allocator, cancelAllocator := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(findBrowser(t)), chromedp.UserDataDir(profile),
		chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("hide-scrollbars", true),
		// Test pages live too short for optimized code to be worth compiling.
		chromedp.Flag("js-flags", "--no-opt,--no-maglev"),
		chromedp.ModifyCmdFunc(func(cmd *exec.Cmd) {
			process = cmd
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		}),
	)
	ctx, _ := chromedp.NewContext(allocator)
	stop = func() error {
		err := chromedp.Cancel(ctx) // returns when the browser's process has ended
		cancelAllocator()
		if process != nil {
			_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL) // its child processes end a little later
		}
		return errors.Join(err, os.RemoveAll(profile))
	}
	if err := chromedp.Do(ctx); err != nil {
		_ = stop()
		t.Fatalf("start the browser: %v", err)
	}
	return ctx, stop
}

// A tab is one page in the browser. Every error that the page reports fails the test.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	requests int
	bytes    float64 // number of bytes that the page has received
	problems []string
	forgiven func(problem string) bool
}

// A look is the size of the window and the theme of the page.
type look struct {
	name          string
	width, height int64
	dark          bool
}

var wide = look{"wide", 1440, 1000, false}

// fresh opens an address in an empty browser profile, as a newcomer sees it.
func fresh(t *testing.T, address string) *tab {
	t.Helper()
	return openTab(t, running(t), address, chromedp.WithNewBrowserContext())
}

// open shows an address of a fake's page in the common profile. The browser separates stored data by address, and each
// fake has an address of its own.
func (f *fake) open(place string) *tab {
	f.t.Helper()
	return openTab(f.t, running(f.t), f.url+"/#/"+place)
}

func running(t *testing.T) context.Context {
	t.Helper()
	chromium.once.Do(func() { chromium.ctx, chromium.stop = startChromium(t) })
	if chromium.ctx == nil {
		t.Fatal("Chromium did not start, as an earlier test says")
	}
	return chromium.ctx
}

func openTab(t *testing.T, parent context.Context, address string, options ...chromedp.ContextOption) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(parent, options...)
	t.Cleanup(cancel)
	tb := &tab{t: t, ctx: ctx, forgiven: func(string) bool { return false }}
	home := labtest.Value(url.Parse(address)).Must(t)
	labtest.Must(t, chromedp.Listen(ctx, tb.listen(home.Host)))
	t.Cleanup(func() {
		tb.mu.Lock()
		defer tb.mu.Unlock()
		for _, p := range tb.problems {
			t.Errorf("the page at %s: %s", address, p)
		}
	})
	tb.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err1 := cdp.Call(ctx, t, log.Enable, cdp.Empty{})
		_, err2 := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		// Tests run in parallel, and only one window can have the focus. So each tab pretends to.
		_, err3 := cdp.Call(ctx, t, emulation.SetFocusEmulationEnabled,
			emulation.SetFocusEmulationEnabledParams{Enabled: true})
		return errors.Join(err1, err2, err3)
	}), loadsFirst(selectors), wide.set(), chromedp.Navigate(address))
	return tb
}

// selectors are short names for tests: $ finds the first element of a selector, and $$ lists all.
const selectors = `window.$ = (selector) => document.querySelector(selector);
	window.$$ = (selector) => [...document.querySelectorAll(selector)];`

// loadsFirst makes every page of a tab run this script before its own scripts.
func loadsFirst(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		first := page.AddScriptToEvaluateOnNewDocumentParams{Source: script}
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, first)
		return err
	})
}

// listen collects the errors of the page, and its requests to any other host.
func (tb *tab) listen(host string) func(any) {
	return func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				text += " " + e.ExceptionDetails.Exception.Description
			}
			tb.complain("exception: %s", text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
				tb.complain("console %s: %s", e.Type, e.Args[0].Value)
			}
		case *log.EventEntryAdded: // includes violations of the Content-Security-Policy
			if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
				tb.complain("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
			}
		case *network.EventLoadingFinished:
			tb.mu.Lock()
			tb.bytes += e.EncodedDataLength
			tb.mu.Unlock()
		case *network.EventRequestWillBeSent:
			tb.mu.Lock()
			tb.requests++
			tb.mu.Unlock()
			if u, err := url.Parse(e.Request.URL); err != nil || u.Host != host && u.Scheme != "data" {
				tb.complain("a request to %s", e.Request.URL)
			}
		}
	}
}

func (tb *tab) complain(format string, args ...any) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if p := fmt.Sprintf(format, args...); !tb.forgiven(p) {
		tb.problems = append(tb.problems, p)
	}
}

// forgive ignores errors that a test causes on purpose.
func (tb *tab) forgive(containing string) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	before := tb.forgiven
	tb.forgiven = func(p string) bool { return before(p) || strings.Contains(p, containing) }
}

func (l look) set() chromedp.Action[chromedp.Void] {
	theme := "light"
	if l.dark {
		theme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
		Value: theme}}}
	return chromedp.Steps(
		chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
			return err
		}),
		chromedp.EmulateViewport(l.width, l.height),
	)
}

// in changes the look of the page.
func (tb *tab) in(l look) {
	tb.t.Helper()
	tb.do(l.set())
	tb.drawn()
}

// patience limits how long a step in the browser may take.
const patience = 2 * time.Minute

func (tb *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		tb.fail(err.Error())
	}
}

func (tb *tab) fail(why string) {
	tb.t.Helper()
	tb.shot("failed-" + tb.t.Name())
	said, err := chromedp.Run(tb.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	tb.t.Fatalf("%s\nthe page says:\n%s (%v)", why, said, err)
}

// drawn waits for two frames and for the tasks after them. Then the page shows its current address in its current
// window. Without this wait a test could read the previous content. Content that the page must load may still be
// missing.
func (tb *tab) drawn() {
	tb.t.Helper()
	ask[bool](tb, `new Promise((done) => {
		const frame = (then) => requestAnimationFrame(() => setTimeout(then));
		frame(() => frame(() => done(true)));
	})`)
}

// await waits until an expression is true in the page. The function of chromedp for this purpose compiles code in the
// page, which the page's Content-Security-Policy forbids.
func (tb *tab) await(expression string) {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	until := fmt.Sprintf(`new Promise((done, fail) => {
		const look = () => {
			try {
				if (%s) return done(true);
			} catch (error) { // what it reads may not be drawn yet
				if (!/of (null|undefined) \(reading/.test(error)) return fail(error);
			}
			setTimeout(look, 20);
		};
		look();
	})`, expression)
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](until, chromedp.EvalAwaitPromise))
		switch {
		case err == nil:
			return
		case ctx.Err() != nil:
			tb.fail("never true: " + expression)
		case !strings.Contains(err.Error(), "context") && !strings.Contains(err.Error(), "navigated"):
			tb.fail(err.Error()) // otherwise the page was left: look again
		}
	}
}

// says waits until an element shows each text.
func (tb *tab) says(selector string, texts ...string) {
	tb.t.Helper()
	for _, text := range texts {
		tb.await(fmt.Sprintf(`$(%q)?.innerText.includes(%q)`, selector, text))
	}
}

// shows waits until an element exists.
func (tb *tab) shows(selector string) {
	tb.t.Helper()
	tb.await(fmt.Sprintf(`$(%q) !== null`, selector))
}

// eval runs a script as soon as the elements that it uses exist. A screen is drawn a moment after the window or the
// address has changed.
func (tb *tab) eval(script string) {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	for {
		_, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](script))
		switch {
		case err == nil:
			return
		case ctx.Err() != nil || !strings.Contains(err.Error(), "of null (reading") &&
			!strings.Contains(err.Error(), "of undefined (reading"):
			tb.fail(script + ": " + err.Error())
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// fill replaces the content of an input by typing.
func (tb *tab) fill(selector, text string) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`$(%q).select()`, selector))
	tb.do(chromedp.SendKeys(chromedp.CSS(selector), text))
}

// settings opens the form with the settings of a sale.
func (tb *tab) settings() {
	tb.t.Helper()
	tb.shows(`#settings, #strategies`)
	tb.eval(`$("#settings")?.click()`)
	tb.shows(`#strategies input`)
	tb.eval(`$("details.settings").open = true`)
}

// chosen waits until these strategies are chosen, in the lab's order or theirs.
func (tb *tab) chosen(strategies ...string) {
	tb.t.Helper()
	quoted, _ := json.Marshal(slices.Sorted(slices.Values(strategies)))
	tb.await(fmt.Sprintf(`JSON.stringify($$("#strategies input[value]:checked").map((box) => box.value).filter((name) => name !== "on").sort()) === %q`,
		strings.ReplaceAll(string(quoted), "null", "[]")))
}

// click clicks an element with the mouse as soon as the element stands still, because the page may still be drawing
// and moving it. If the element has moved before the click, click tries again.
func (tb *tab) click(selector string) {
	tb.t.Helper()
	for range 10 {
		tb.await(fmt.Sprintf(`(() => {
			const box = JSON.stringify($(%q)?.getBoundingClientRect());
			const still = box && box === globalThis.lastBox;
			globalThis.lastBox = box;
			return still;
		})()`, selector))
		tb.eval(fmt.Sprintf(`lastBox = ""; missed = true;
			addEventListener("click", (e) => { missed = !e.target.closest(%q); }, {capture: true, once: true})`, selector))
		tb.do(chromedp.Click(chromedp.CSS(selector)))
		if !ask[bool](tb, `globalThis.missed === true`) { // undefined after the click led to another page
			tb.drawn()
			return
		}
	}
	tb.fail("the pointer does not reach " + selector)
}

// shot saves a picture of the page in the folder SECKILL_SCREENSHOTS, for people to look at.
func (tb *tab) shot(name string) {
	dir := os.Getenv("SECKILL_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(tb.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644)
	}
	if err != nil {
		tb.t.Error(err)
	}
}

// hidden moves the page to the background, or to the foreground again.
func (tb *tab) hidden(is bool) {
	tb.eval(fmt.Sprintf(`Object.defineProperty(document, "hidden", {value: %v, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`, is))
}

// evidence opens the evidence of a verdict.
func (tb *tab) evidence() {
	tb.t.Helper()
	tb.shows(`.evidence`) // a page loads the evidence when it first draws it
	tb.eval(`$(".evidence").open = true`)
	tb.shows(`.about-run`)
}

// ask returns the value of an expression in the page. It waits for a promise.
func ask[T any](tb *tab, expression string) T {
	tb.t.Helper()
	ctx, cancel := context.WithTimeout(tb.ctx, patience)
	defer cancel()
	for {
		value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
		switch {
		case err == nil:
			return value
		case ctx.Err() != nil || !strings.Contains(err.Error(), "context"): // otherwise ask again
			tb.fail(err.Error())
		}
	}
}

// goTo shows another screen, or another state of the screen.
func (tb *tab) goTo(place string) {
	tb.t.Helper()
	tb.eval(fmt.Sprintf(`location.hash = "#/%s"`, place))
	tb.drawn()
}

// press presses keys one after the other.
func (tb *tab) press(keys ...string) {
	tb.t.Helper()
	for _, key := range keys {
		tb.do(chromedp.KeyEvent(key))
	}
	tb.drawn()
}

// reach presses Tab until the element of a selector has the focus.
func (tb *tab) reach(selector string) {
	tb.t.Helper()
	for range 100 {
		if ask[bool](tb, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			return
		}
		tb.do(chromedp.KeyEvent("\t"))
	}
	tb.fail("Tab does not reach " + selector)
}

// saves makes the page keep the files that it saves in window.saved, by name.
func (tb *tab) saves() {
	tb.t.Helper()
	tb.eval(`{
		window.saved = {};
		const click = HTMLAnchorElement.prototype.click;
		let file;
		URL.createObjectURL = (blob) => { file = blob; return "#saved"; };
		HTMLAnchorElement.prototype.click = function () {
			if (!this.download) click.call(this);
			else file.text().then((text) => { window.saved[this.download] = text; });
		};
	}`)
}

// saved returns the text of the saved file whose name has this beginning.
func (tb *tab) saved(begins string) string {
	tb.t.Helper()
	of := fmt.Sprintf(`Object.entries(window.saved).find(([name]) => name.startsWith(%q))?.[1]`, begins)
	tb.await(of + " !== undefined")
	return ask[string](tb, of)
}

// folder contains the files that all tests share. It is removed at the end of the test program.
var folder string

func TestMain(m *testing.M) {
	labtest.HearSignals()
	os.Exit(run(m))
}

func run(m *testing.M) (status int) {
	var err error
	if folder, err = os.MkdirTemp("", "seckill-e2e-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	status = m.Run()
	if shared != nil {
		if err := shared.end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	if chromium.stop != nil {
		if err := chromium.stop(); err != nil {
			fmt.Fprintln(os.Stderr, "close the browser:", err)
			return 1
		}
	}
	return status
}
