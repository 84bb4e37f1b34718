//go:build verify

package e2e

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
)

// What befalls a real lab after TestRealLab: side by side with a fault, reloads,
// a process that dies, and the lab's own restart.
func TestRealLabToItsEnd(t *testing.T) {
	program := buildProgram(t)
	u := startUp(t, program, "--addr", "127.0.0.1:0")
	b := startBrowser(t)
	tb := b.open(u.page, wide)
	tb.await(`document.querySelector(".idle .offer") !== null`)

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
	if lanes := u.runs()[0].Lanes; len(lanes) != 2 || lanes[0].Result.Settings.Seed != lanes[1].Result.Settings.Seed {
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
		each.says(".rules", "Interrupted after")
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
