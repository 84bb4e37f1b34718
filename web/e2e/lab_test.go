//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

func startUp(t *testing.T, program string, args ...string) *up {
	t.Helper()
	u := &up{t: t, command: exec.Command(program, append([]string{"up"}, args...)...)}
	u.command.Env = append(os.Environ(), "SECKILL_STATE="+t.TempDir(), "SECKILL_HISTORY="+t.TempDir())
	u.command.Stderr = &u.said
	u.command.SysProcAttr = labtest.Together()
	out, err := u.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := u.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.stop)
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

// stop ends it as Ctrl-C does, and makes sure that it ends well.
func (u *up) stop() {
	if u.command.ProcessState != nil {
		return
	}
	u.command.Process.Signal(syscall.SIGINT)
	giveUp := time.AfterFunc(patience, func() { u.command.Process.Kill() })
	defer giveUp.Stop()
	if err := u.command.Wait(); err != nil || !strings.Contains(u.said.String(), "nothing is left behind") {
		u.t.Errorf("seckill up ended with %v and said:\n%s", err, u.said.String())
	}
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

// killService kills the first service process as a crash does.
func (u *up) killService() {
	u.t.Helper()
	var status struct{ Services []struct{ URL string } }
	u.get("/api/lab/v1/status", &status)
	out, err := exec.Command("pgrep", "-f", "serve --addr "+strings.TrimPrefix(status.Services[0].URL, "http://")).Output()
	pid, bad := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil || bad != nil {
		u.t.Fatalf("find the service process: %v %q", err, out)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
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
	program := buildProgram(t)
	u := startUp(t, program, "--addr", "127.0.0.1:0")
	for _, name := range []string{"mysql", "redis", "zookeeper"} {
		if !strings.Contains(u.table, name+" ") || strings.Contains(u.table, "embedded") {
			t.Fatalf("this test needs real servers; run: seckill deps\n%s", u.table)
		}
	}
	b := startBrowser(t)
	tb := b.open(u.page, wide)
	tb.await(`document.querySelector(".idle .offer") !== null`)
	tb.says(".machines", "MariaDB")
	tb.shots("before")

	t.Log("conditional holds")
	tb.run("conditional", "100", "2000")
	tb.await(`document.querySelector('[data-verdict="held"]') !== null`)
	tb.says(".banner", "HELD")
	tb.says(".banner", "100 of 100 units sold")
	tb.says(".ran-on", "MariaDB")
	tb.says(".ran-on", "private")
	tb.await(`document.querySelector("[data-left]").dataset.left === "0"`)
	tb.shots("held")

	t.Log("naive does not")
	tb.run("naive", "100", "2000")
	tb.await(`document.querySelector('[data-verdict="oversold"], [data-verdict="lost"]') !== null`)
	tb.says(".rules", "lost_update")
	tb.shots("oversold")
	var all struct {
		Runs []struct {
			Lanes []struct{ Result *loadtest.Result }
		}
	}
	u.get("/api/lab/v1/runs", &all)
	if len(all.Runs) != 2 || all.Runs[0].Lanes[0].Result.ExitStatus() == loadtest.ExitHeld {
		t.Errorf("the lab has %d runs; the page says otherwise", len(all.Runs))
	}

	t.Log("atomic goes below zero")
	tb.run("atomic", "100", "2000")
	tb.await(`document.querySelector('[data-verdict="oversold"]') !== null`)
	tb.says(".left", "below zero")
	tb.says(".rules", "negative_stock")
	tb.shots("below-zero")
	tb.do(look{"", 1180, 800, false}.set())
	tb.await(`document.getAnimations().length === 0`)
	tb.shot("page")
	tb.do(wide.set())

	t.Log("side by side, with a fault, and both keep what they promise")
	tb.eval(`location.hash = "#/lab?strategies=redis-lua,naive&stock=50&buyers=1000&lease_ms=500&faults=pause_service.1.200."`)
	tb.await(`document.querySelectorAll(".picker .chosen .title").length === 2`)
	tb.click("button.run")
	tb.await(`document.querySelector(".happened li.on") !== null`)
	tb.shots("fault")
	tb.await(`document.querySelectorAll(".lane-card [data-verdict]").length === 2`)
	tb.says(".happened", "Service process 1 paused")
	tb.await(`document.querySelector(".happened li.over") !== null`)
	tb.await(`["oversold", "lost"].includes(document.querySelector(".lane-card:nth-child(2) [data-verdict]").dataset.verdict)`)
	tb.says(".about-run", "lease 500 ms")
	tb.shots("side-by-side")
	var last struct {
		Runs []struct {
			Lanes []struct{ Result *loadtest.Result }
		}
	}
	u.get("/api/lab/v1/runs", &last)
	if lanes := last.Runs[0].Lanes; len(lanes) != 2 || lanes[0].Result.Settings.Seed != lanes[1].Result.Settings.Seed {
		t.Errorf("the two did not have the same buyers: %+v", lanes)
	}

	t.Log("reload and second tab in mid-run")
	tb.run("conditional", "1000", "200000")
	tb.says(".banner.busy", "conditional: selling")
	second := b.open(u.page, wide)
	tb.do(chromedp.Reload())
	for _, each := range []*tab{tb, second} {
		each.says(".banner.busy", "200,000 buyers answered")
		each.await(`Number(document.querySelector("progress").value) > 100`)
	}
	tb.shots("during")
	second.click("button.stop")
	for _, each := range []*tab{tb, second} {
		each.says(".banner .word", "NOT VALID") // interrupted, and audited all the same
		each.says(".rules", "interrupted")
	}

	t.Log("a service that dies is shown")
	u.killService()
	tb.says(".machines", "down")
	tb.says(".machines", "its log is")
	tb.run("conditional", "100", "2000")
	tb.says(".banner .word", "HELD")

	t.Log("the lab is restarted under the page")
	for _, each := range []*tab{tb, second} {
		each.forgive("net::ERR_")
	}
	address := strings.TrimSuffix(strings.TrimPrefix(u.page, "http://"), "/")
	u.stop()
	tb.says(".lost-connection", "lost")
	startUp(t, program, "--addr", address)
	tb.await(`!document.querySelector(".lost-connection")`)
	tb.run("conditional", "100", "2000")
	tb.says(".banner .word", "HELD")
}

// A fault at the holder, set up in the form: the page says that it took effect,
// on what, and how many units were left, and what became of the sale.
func TestFaultAtTheHolder(t *testing.T) {
	u := startUp(t, buildProgram(t), "--addr", "127.0.0.1:0")
	tb := startBrowser(t).open(u.page, wide)
	tb.plan("pause_holder", map[string]string{"lease_ms": "1000", "wait_ms": "2000", "faults[0].at_ms": "100", "faults[0].for_ms": "2500"})
	tb.run("redis-lua", "300", "800")
	tb.await(`document.querySelector('.happened [data-effect="bit"]') !== null`)
	tb.says(".happened .effect", "It took effect: it caught the purchase of user ")
	tb.says(".happened .effect", "holding seckill:lock:stock:1")
	tb.says(".happened .effect", "units left just before")
	tb.await(`["oversold", "lost", "held"].includes(document.querySelector("[data-verdict]")?.dataset.verdict)`)
	tb.await(`document.querySelector("[data-verdict]").dataset.verdict !== "held"
		|| document.querySelector(".known a")?.hash === "#/trace/redis-lua.lease-end"`) // on a busy machine the next may come too late
	tb.await(`/it stood still for [2-9]\.\d s/.test(document.querySelector(".happened .effect").innerText)`)
	tb.says(".happened", "Holder paused, in service process ")
	tb.says(".about-run", "lease 1,000 ms")
}

// plan adds a fault in the form, and fills in these of its further fields.
func (tb *tab) plan(kind string, numbers map[string]string) {
	tb.t.Helper()
	tb.await(`document.querySelector("#strategies") !== null`)
	tb.eval(`document.querySelector(".more").open = true`)
	tb.click(".planned .offer")
	tb.await(`document.getElementById("faults[0].kind") !== null`)
	tb.eval(fmt.Sprintf(`{ const s = document.getElementById("faults[0].kind"); s.value = %q; s.dispatchEvent(new Event("change", {bubbles: true})); }`, kind))
	for name, number := range numbers {
		tb.await(fmt.Sprintf(`document.getElementById(%q) !== null`, name))
		tb.fill(fmt.Sprintf(`[id=%q]`, name), number)
	}
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

func TestUpWithoutServers(t *testing.T) {
	u := startUp(t, buildProgram(t), "--addr", "127.0.0.1:0", "--embedded")
	tb := startBrowser(t).open(u.page, wide)
	tb.says(".machines", "SQLite")
	tb.says(".machines", "embedded")
	tb.fill("#strategies", "zk")
	tb.says("#option-zk", "not available")
	tb.run("conditional", "20", "200")
	tb.says(".banner .word", "HELD")
	tb.says(".ran-on", "embedded")
}

func TestUpWhereItCannot(t *testing.T) {
	program := buildProgram(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--addr", taken.Addr().String()}, "--addr 127.0.0.1:0"},
		{[]string{"--addr", "0.0.0.0:0"}, "--token"},
		{[]string{"--addr", "nonsense"}, "host:port"},
		{[]string{"--services", "0"}, "--services"},
		{[]string{"--addr", "127.0.0.1:0", "--folder", "/proc/none"}, "/proc/none"},
		{[]string{"--addr", "127.0.0.1:0", "--embedded", "--strategy", "nope"}, "nope"},
		{[]string{"--addr", "127.0.0.1:0", "--redis-addrs", "127.0.0.1:1"}, "127.0.0.1:1"},
	} {
		said, err := exec.Command(program, append([]string{"up"}, c.args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(said), c.says) || strings.Contains(string(said), "goroutine") {
			t.Errorf("seckill up %v: %v\n%s\nwant an error that says %q", c.args, err, said, c.says)
		}
	}
}
