package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"seckill/internal/lab/labtest"
	"seckill/web/course"
)

// An up is a running `seckill up`, the same program that people run.
type up struct {
	command *exec.Cmd
	page    string
	table   string
	said    bytes.Buffer
}

// shared is the lab of all tests that need a real one. It ends with the test program.
var (
	shared *up
	starts sync.Mutex
)

func sharedLab(t *testing.T) *up {
	t.Helper()
	starts.Lock()
	defer starts.Unlock()
	if shared == nil {
		shared = startUp(t)
	}
	return shared
}

// startUp starts a lab. The caller must end it.
func startUp(t *testing.T) *up {
	t.Helper()
	const program = "../../bin/seckill" // is up to date after make build, which compiles it with the same flags
	if said, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program,
		"seckill/cmd/seckill").CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, said)
	}
	u := &up{command: exec.Command(program, "up", "--addr", "127.0.0.1:0")}
	u.command.Env = append(os.Environ(), "SECKILL_HISTORY="+filepath.Join(folder, "history"))
	u.command.Stderr = &u.said
	u.command.SysProcAttr = labtest.DieTogether()
	out, err := u.command.StdoutPipe()
	if err == nil {
		err = u.command.Start()
	}
	labtest.Must(t, err)
	lines := bufio.NewScanner(out)
	for u.page == "" && lines.Scan() {
		u.table += lines.Text() + "\n"
		if page, ok := strings.CutPrefix(lines.Text(), "Page: "); ok {
			u.page = strings.Fields(page)[0]
		}
	}
	if u.page == "" {
		t.Fatalf("seckill up named no page:\n%s%v", u.table, u.end())
	}
	return u
}

// end stops the lab as Ctrl-C does, and checks that it ends without an error.
func (u *up) end() error {
	u.command.Process.Signal(syscall.SIGINT)
	giveUp := time.AfterFunc(patience, func() { u.command.Process.Kill() })
	defer giveUp.Stop()
	if err := u.command.Wait(); err != nil || !strings.Contains(u.said.String(), "nothing is left behind") {
		return fmt.Errorf("seckill up ended with %w and said:\n%s", err, u.said.String())
	}
	return nil
}

// The fourth button pauses the holder of a lock for longer than its lease. It restarts and stops the service processes
// of the lab that other tests share, so it is not parallel: it ends before parallel tests begin.
func TestHolderIsFrozen(t *testing.T) {
	tb := fresh(t, sharedLab(t).page)
	tb.click(`.guided [data-step="4"]`)
	tb.await(`$('[data-verdict="oversold"]') !== null && $(".outcome").innerText.includes("redis-lua")`)
	tb.says("[data-cause=pause_holder]", "held the lock seckill:lock:stock:1 for buyer", "was frozen for",
		"was sold twice")
	tb.good("a frozen holder")
	tb.click(".because-of a.offer") // opens a drawing; NavigateBack then returns to this place
	tb.says("h1", "redis-lua")
	tb.do(chromedp.NavigateBack())
	tb.shows("[data-cause=pause_holder]")
}

// These tests need a real lab. They run one after the other, because a lab has one run at a time.
func TestRealLab(t *testing.T) {
	t.Parallel()
	u := sharedLab(t)
	t.Run("answers", func(t *testing.T) { realAnswers(t, u) })
	t.Run("screens", func(t *testing.T) { realScreens(t, u) })
}

// The page is mainly used like this: after a run, one view shows the verdict.
func realAnswers(t *testing.T, u *up) {
	for _, name := range []string{"mysql", "redis", "zookeeper"} {
		if !strings.Contains(u.table, name+" ") || strings.Contains(u.table, "embedded") {
			t.Fatalf("this test needs real servers; run: deploy/deps.sh\n%s", u.table)
		}
	}
	tb := fresh(t, u.page)
	clicks, begun := 0, time.Now()
	click := func(selector string) { clicks++; tb.click(selector) }
	begin := func() { tb.goTo(""); clicks, begun = 0, time.Now() }
	done := func(task string) { t.Logf("%s: clicks: %d, seconds: %.1f", task, clicks, time.Since(begun).Seconds()) }

	tb.says(".machines", "MariaDB")
	click(".guided li:first-child button")
	tb.await(`$('[data-verdict="oversold"]') !== null && Number($("[data-sold]").dataset.sold) > 100`)
	tb.says(".because-of", "is sold twice")
	tb.await(`$$(".because-of .drawing .d-life").length === 3 && $$(".because-of .drawing .d-command").length === 4`)
	done("see a sale break, and why")
	tb.high("a result", "", ".because-of .drawing svg", ".because-of .drawing svg", 1200, 2400)
	tb.evidence()
	tb.says(".rules", "lost_update")
	tb.shows(`[data-sign=right][data-answer=no]`)
	tb.good("a sale that broke, with its orders")
	tb.click(".because-of a.offer")
	tb.says("h1", "naive sells 3 of 2")
	tb.do(chromedp.NavigateBack())
	tb.says("button.next", "Run one that holds: conditional")
	tb.eval(`window.lefts = []; new MutationObserver(() => { // what is said to be left while it is sold
		const left = $("[data-left]");
		if (left && $(".banner.busy")) lefts.push(Number(left.dataset.left));
	}).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })`)
	tb.click("button.next")
	tb.await(`$('[data-verdict="held"]') !== null && $("[data-sold]").dataset.sold === "100" &&
		$("[data-left]").dataset.left === "0"`)
	tb.await(`lefts.length > 0 && lefts.every((left, i) => i === 0 || left <= lefts[i - 1])`)
	tb.evidence()
	tb.says(".ran-on", "MariaDB", "private")
	tb.says("[data-sign=right][data-answer=yes]", "Nothing was oversold, lost or invented.")
	tb.shows(`[data-sign=served]`) // yes or no, because a busy machine may be late

	begin()
	click(`.top nav a[href="#/choose"]`)
	click(`.questions [name=need][value=lock]`)
	click(`.questions [name=fails][value="dead-holder"]`)
	tb.says(".fit", "dead holder")
	done("find a lock that survives its holder’s death")
	if found := ask[[]string](tb, `fetch("/guarantees/matrix.json").then((r) => r.json()).then(({ rows }) =>
		$$(".fit h2 code").map((name) => rows.find((r) => r.strategy === name.innerText))
			.map(({ strategy, cells }) => [strategy, cells.waits.answer, cells.owner.answer, cells["dead-holder"].answer].join(" ")))`); len(found) == 0 ||
		slices.ContainsFunc(found, func(lock string) bool { return !strings.HasSuffix(lock, " measured holds holds") }) {
		t.Errorf("the locks offered, and how each waits, releases and survives: %q", found)
	}
	tb.high("the chooser", "choose", ".fit", ".fit", 1200, 3000)

	begin()
	click(`.tabs a[href="#/compare"]`)
	click(".compare-form .run")
	tb.says("[data-outcome] .answers", "conditional", "redis-counter-mysql")
	done("which of two is faster")
	if wrong := ask[string](tb, `fetch("/api/lab/v1/comparisons/" + /compare\/(\w+)/.exec(location.hash)[1]).then((r) => r.json()).then(({ result }) => {
		const { strategy, factor: { times, low, high } } = result.entries.find((e) => e.factor);
		const [more, by, less] = times >= 1 ? [strategy, times, result.relative_to] : [result.relative_to, 1 / times, strategy];
		const want = low <= 1 && high >= 1 ? "cannot be told apart" : more + " answers " + by.toFixed(2) + " × as many buyers as " + less;
		const said = $("[data-outcome]").innerText;
		return said.includes(want) && (said.match(/right/g) ?? []).length === 2 ? "" : said + ", want " + want;
	})`); wrong != "" {
		t.Errorf("the comparison says %s", wrong)
	}

	begin()
	click(`.top nav a[href="#/lessons"]`)
	click(`.tabs a[href="#/play"]`)
	click(".first-level a")
	tb.says(`[data-buyer=A] .command-button`, "sends to MySQL")
	tb.plays("abbbbbaaaa")
	tb.says(".play-ending [data-broken=true]", "You sold 3 of 2")
	done("break a sale oneself")
	tb.high("a level", "play/first-lost-update", "main:not(:has(.play-ending *)) .buyer-column", ".buyer-column", 1200,
		2400) // the moves are taken back by the server
	tb.high("the proof", "guarantees", ".cards", ".matrix", 1200, 3000)
	tb.await(`$(".matrix tbody td").getBoundingClientRect().bottom < innerHeight / 2`) // shows without scrolling

	begin()
	click(`.top nav a[href="#/choose"]`)
	click(`.tabs a[href="#/guarantees"]`)
	click(`.matrix [data-cell="redis-lua.late-command"]`)
	tb.says("h1", "redis-lua")
	tb.saves()
	click("[data-file=html]")
	file := filepath.Join(t.TempDir(), "proof.html")
	labtest.Must(t, os.WriteFile(file, []byte(tb.saved("redis-lua.late-command.html")), 0o644))
	sent := fresh(t, "file://"+file)
	sent.says("h1", "redis-lua")
	sent.click(".controls button:nth-of-type(5)") // moves to the last step
	sent.says(".ending", "Broken")
	done("send a proof that plays without a lab")
}

// high fails if a screen is higher than allowed, in a wide window or on a phone, or has too many things to click.
func (tb *tab) high(name, place, phone, wideReady string, wideMost, phoneMost int) {
	tb.t.Helper()
	tb.goTo(place)
	at := func(width, height int64, ready string, most int) {
		tb.in(look{"", width, height, false})
		tb.await(fmt.Sprintf(`$(%q) !== null && document.documentElement.scrollWidth <= innerWidth`, ready))
		tb.settled()
		h := ask[int](tb, `document.documentElement.scrollHeight`)
		if tb.t.Logf("%s is %d px high at %d", name, h, width); h > most {
			tb.t.Errorf("want at most %d", most)
		}
	}
	at(390, 844, phone, phoneMost)
	at(1440, 900, wideReady, wideMost)
	tb.await(`$$("main :is(a, button, input, select, summary)").length <= 300`)
	tb.in(wide)
}

// The test opens the other screens with the data of a real lab.
func realScreens(t *testing.T, u *up) {
	tb := fresh(t, u.page)
	type place struct{ where, ready string }
	// These screens need all strategies, or the waits of real servers, which a fake does not have.
	screens := []place{
		{"guarantees", `.matrix tbody tr, .cards li`},
		{"trace/etcd.lease-end?step=4", `.chosen`},
		{"trace/redis-stream.node-loss", `.drawing svg`},
		{"play?strategy=redis-lua&buyers=3&stock=2&s=aLb", `.buyer-column .badge.bad`},
	}
	if labtest.Verify {
		screens = append(screens, place{"compare", `.compare-form .run`}, place{"choose", `.fit`},
			place{"play?strategy=for-update&buyers=2&stock=2&s=abab", `[data-state=waits]`},
			place{"play/first-lost-update?s=abbbbbaaaa", `.graded.won`},
			place{"trace/lock-insert-by-name.late-command", `.drawing svg`},
			place{"trace/merged-early.dead-holder?step=4", `.chosen`},
			place{"trace/redis-stream-two-calls.dead-holder?step=5", `.chosen`},
			place{"lessons/nothing", `main .wrong`}, place{"trace/nothing", `main .wrong`})
		chapters := course.Chapters()
		for _, c := range chapters {
			screens = append(screens, place{"lessons/" + c.Name, `.chapter h1`})
		}
	}
	tb.forgive("404")
	for _, s := range screens {
		tb.goTo(s.where)
		tb.await(fmt.Sprintf(`$(%q) !== null`, s.ready))
		tb.good(s.where)
	}

	t.Log("a sale that broke beside one that held")
	tb.sale("strategies=naive,conditional&stock=50&buyers=300")
	tb.click(".run")
	tb.await(`$$("[data-verdict]").length === 2 && !$(".banner.busy")`)
	tb.good("two lanes")
}
