//go:build verify

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Comparisons of a real lab, which are there again after a restart.
func TestComparisonsOfRealLab(t *testing.T) {
	program, folder := buildProgram(t), t.TempDir()
	u := startUp(t, program, "--addr", "127.0.0.1:0", "--history", folder)
	b := startBrowser(t)
	const tiny = "strategies=naive,conditional&stock=60&buyers=90&concurrency=16&repeats=2&turn_ms=0&few=0"
	tb := b.open(u.page+"#/compare?"+tiny, wide)
	tb.says(".compare-form", "2 of ")
	tb.click(".compare-form .run")
	tb.says(".standings", "conditional")
	tb.says("[data-outcome]", "1 held")
	tb.says("[data-outcome]", "1 broken one caught")
	tb.await(`document.querySelectorAll(".sales-bars li").length === 3`) // and the baseline
	tb.says(".results", "of transaction")
	tb.says(".results", "CPU service")
	tb.await(`document.querySelectorAll(".latency-rows li").length === 2 && document.querySelectorAll(".sentences li").length === 1`)
	tb.says("#stage", "innodb_flush_log_at_trx_commit=1")
	tb.eval(`scrollTo(0, 0)`)
	tb.shots("compare-real")

	t.Log("once more, and both side by side")
	tb.click(".compare-form .run")
	tb.await(`document.querySelectorAll(".history .pick").length === 2`)
	tb.says("[data-outcome]", "1 held")
	tb.click(".history tbody tr:nth-child(1) .pick")
	tb.click(".history tbody tr:nth-child(2) .pick")
	tb.click(".list-head .offer")
	tb.await(`document.querySelector('[data-comparable="yes"]') !== null && document.querySelectorAll(".changes tbody tr").length === 2`)
	tb.says(".changes", "transaction")
	tb.accessible("side by side")
	tb.shots("compare-side")

	t.Log("another lab knows them, and what cannot be compared is said")
	tb.forgive("ERR_CONNECTION_REFUSED") // this tab asks for the lab that is gone
	u.stop()
	if err := os.WriteFile(filepath.Join(folder, "comparison-cut.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := startUp(t, program, "--addr", "127.0.0.1:0", "--history", folder)
	tb = b.open(again.page+"#/compare", wide)
	tb.await(`document.querySelectorAll(".history tbody tr").length === 2`)
	tb.says("main", "1 file in the history folder could not be read")
	tb.click(".history tbody tr:last-child a")
	tb.says("[data-outcome]", "1 held")
	tb.says(".results", "naive")
	tb.eval(`location.hash = "#/compare?` + strings.Replace(tiny, "stock=60", "stock=61", 1) + `"`)
	tb.says(".command", "--stock 61")
	tb.click(".compare-form .run")
	tb.await(`document.querySelectorAll(".history .pick").length === 3`)
	tb.click(".history tbody tr:nth-child(1) .pick")
	tb.click(".history tbody tr:nth-child(3) .pick")
	tb.click(".list-head .offer")
	tb.says(`[data-comparable="no"]`, "Stock: 60, then 61")
	tb.click("#language")
	tb.says(`[data-comparable="no"]`, "库存：先是 60，后是 61")
	tb.shot("compare-not-comparable-zh")
}
