package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

// buildProgram makes the very program that people run, once for all tests.
func buildProgram(t *testing.T) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "seckill")
	if said, err := exec.Command("go", "build", "-o", path, "seckill/cmd/seckill").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w\n%s", err, said)
	}
	return path, nil
})

// An up is `seckill up`, running.
type up struct {
	t       *testing.T
	command *exec.Cmd
	page    string
	table   string
	said    bytes.Buffer
}

// shared is the lab of the tests that leave one as others can use it.
var shared *up

// sharedLab is a real lab with the usual settings, which ends with the test
// program. A test that failed in it may have left anything: the next one gets
// another.
func sharedLab(t *testing.T) *up {
	t.Helper()
	if shared != nil && shared.t.Failed() {
		shared.stop()
		shared = nil
	}
	if shared == nil {
		own, err := os.MkdirTemp(folder, "lab-")
		if err != nil {
			t.Fatal(err)
		}
		shared = begin(t, buildProgram(t), own, "--addr", "127.0.0.1:0")
	}
	shared.t = t
	return shared
}

func begin(t *testing.T, program, own string, args ...string) *up {
	t.Helper()
	u := &up{t: t, command: exec.Command(program, append([]string{"up"}, args...)...)}
	u.command.Env = append(os.Environ(), "SECKILL_STATE="+filepath.Join(own, "state"), "SECKILL_HISTORY="+filepath.Join(own, "history"))
	u.command.Stderr = &u.said
	u.command.SysProcAttr = labtest.Together()
	out, err := u.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := u.command.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for u.page == "" && lines.Scan() {
		u.table += lines.Text() + "\n"
		if page, ok := strings.CutPrefix(lines.Text(), "Page: "); ok {
			u.page = strings.Fields(page)[0]
		}
	}
	if u.page == "" {
		u.stop()
		t.Fatalf("seckill up named no page:\n%s%s", u.table, u.said.String())
	}
	return u
}

// stop is end, and fails the test that it belongs to.
func (u *up) stop() {
	if err := u.end(); err != nil {
		u.t.Error(err)
	}
}

// end ends it as Ctrl-C does, and makes sure that it ends well.
func (u *up) end() error {
	if u.command.ProcessState != nil {
		return nil
	}
	u.command.Process.Signal(syscall.SIGINT)
	giveUp := time.AfterFunc(patience, func() { u.command.Process.Kill() })
	defer giveUp.Stop()
	if err := u.command.Wait(); err != nil || !strings.Contains(u.said.String(), "nothing is left behind") {
		return fmt.Errorf("seckill up ended with %w and said:\n%s", err, u.said.String())
	}
	return nil
}

type aRun struct {
	Lanes []struct{ Result *loadtest.Result }
}

// runs are those that the lab knows, the last one first.
func (u *up) runs() []aRun {
	u.t.Helper()
	var all struct{ Runs []aRun }
	u.get("/api/lab/v1/runs", &all)
	return all.Runs
}

// get asks the lab itself.
func (u *up) get(path string, into any) {
	u.t.Helper()
	answer, err := http.Get(strings.TrimSuffix(u.page, "/") + path)
	if err != nil {
		u.t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		u.t.Fatal(err)
	}
}

var looks = []look{
	{"wide-light", 1440, 1200, false}, {"wide-dark", 1440, 1200, true},
	{"narrow-light", 390, 2400, false}, {"narrow-dark", 390, 2400, true},
}

func (tb *tab) shots(moment string) {
	if os.Getenv("SECKILL_SCREENSHOTS") == "" {
		return
	}
	for _, l := range looks {
		tb.do(l.set())
		tb.await(`document.getAnimations().length === 0`)
		tb.shot(moment + "-" + l.name)
	}
	tb.do(wide.set())
}

// The page of a real lab, as a newcomer uses it.
func TestRealLab(t *testing.T) {
	u := sharedLab(t)
	for _, name := range []string{"mysql", "redis", "zookeeper"} {
		if !strings.Contains(u.table, name+" ") || strings.Contains(u.table, "embedded") {
			t.Fatalf("this test needs real servers; run: deploy/deps.sh\n%s", u.table)
		}
	}
	before := u.runs()
	tb := startBrowser(t).open(u.page, wide)
	tb.says(".machines", "MariaDB")
	tb.shots("before")

	t.Log("conditional holds")
	tb.run("conditional", "100", "2000")
	tb.await(`document.querySelector('[data-verdict="held"]') !== null`)
	tb.says(".banner", "HELD")
	tb.await(`document.querySelector("[data-sold]").dataset.sold === "100"`)
	tb.evidence()
	tb.says(".ran-on", "MariaDB")
	tb.says(".ran-on", "private")
	tb.says("[data-sign=right][data-answer=yes]", "Nothing was oversold, lost or invented.")
	tb.await(`document.querySelector("[data-sign=served]") !== null`) // a busy machine may be late
	tb.await(`document.querySelector("[data-left]").dataset.left === "0"`)
	tb.shots("held")

	t.Log("naive does not")
	tb.run("naive", "100", "2000")
	tb.await(`document.querySelector('[data-verdict="oversold"], [data-verdict="lost"]') !== null`)
	tb.evidence()
	tb.says(".rules", "lost_update")
	tb.await(`document.querySelector("[data-sign=right][data-answer=no]") !== null`)
	tb.shots("oversold")
	if all := u.runs(); len(all) != len(before)+2 || all[0].Lanes[0].Result.ExitStatus() == loadtest.ExitHeld {
		t.Errorf("the lab has %d runs after %d; the page says otherwise", len(all), len(before))
	}

	t.Log("why: two of its buyers, the counterexample, and what holds, in three clicks from the verdict")
	tb.says(".because-of", "is sold twice")
	tb.await(`document.querySelectorAll(".because-of .drawing .d-life").length === 3 && document.querySelectorAll(".because-of .drawing .d-command").length === 4`)
	tb.inEveryLook("why it broke")
	tb.click(".because-of a.offer")
	tb.says("h1", "naive sells 3 of 2")
	tb.do(chromedp.NavigateBack())
	tb.says("button.next", "Run one that holds: conditional")
	tb.click("button.next")
	tb.await(`document.querySelector('[data-verdict="held"]') !== null && document.querySelector('.because-of[data-explains="held"]') !== null`)
}

// run fills in the form and starts it.
func (tb *tab) run(strategy, stock, buyers string) {
	tb.t.Helper()
	tb.await(`!document.querySelector("button.stop")`)
	tb.choose(strategy)
	tb.click(".segments label:first-child")
	tb.fill("#stock", stock)
	tb.fill("#buyers", buyers)
	tb.eval(`window.rows = document.querySelectorAll(".history tbody").length`)
	tb.click("button.run")
	tb.await(`document.querySelectorAll(".history tbody").length === window.rows + 1`)
}
