package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/internal/chaos"
)

// The screen shows the committed run with the signs of the proof: what did not hold says
// what broke, and opens with its course, its figures and the command that runs it again.
func TestChaosScreen(t *testing.T) {
	var file struct{ Chaos chaos.Result }
	data, err := os.ReadFile("../static/chaos/results.json")
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	run := file.Chaos
	if err != nil || len(run.Rows) == 0 || run.Tally["held"] == 0 {
		t.Fatalf("the committed run: %v, %d rows, %v", err, len(run.Rows), run.Tally)
	}
	row, i := damaged(t, run)
	cell := row.Cells[i]
	address := row.Strategy + "." + string(run.Faults[i])

	f := startFake(t)
	tb := startBrowser(t).open(f.url+"/#/guarantees", wide)
	tb.click(`.tabs a[href="#/chaos"]`)
	tb.await(fmt.Sprintf(`document.querySelectorAll(".matrix tbody tr:not(.family)").length === %d`, len(run.Rows)))
	tb.await(`document.querySelector(".top nav [aria-current=page]").hash === "#/choose" && document.title.startsWith("Faults under load")`)
	tb.inEveryLook("chaos")

	t.Log("a cell opens by the keyboard, and has an address")
	tb.await(`(document.querySelector('.matrix a[href$="cell=` + address + `"]')?.focus(), document.activeElement.hash?.endsWith("` + address + `"))`)
	tb.do(chromedp.KeyEvent("\r"))
	tb.says("dialog[open]", row.Strategy)
	tb.says("dialog", fmt.Sprintf("Seed of its buyers\n%s", cell.Seed))
	tb.says("dialog .command", strings.NewReplacer("STRATEGY", row.Strategy, "FAULT", string(run.Faults[i])).Replace(run.Repeat))
	tb.await(fmt.Sprintf(`document.querySelector("dialog polyline.sold").getAttribute("points").split(" ").length === %d`, len(cell.Course)))
	tb.accessible("a cell of the faults")
	tb.do(chromedp.Reload())
	tb.says("dialog[open]", row.Strategy)
	tb.do(chromedp.KeyEvent("\x1b"))
	tb.await(`!document.querySelector("dialog") && location.hash === "#/chaos"`)

	t.Log("only what did not hold, then on a phone, in Chinese")
	tb.click(".presets button:nth-of-type(2)")
	tb.await(`[...document.querySelectorAll(".matrix tbody tr:not(.family)")].every((tr) => tr.querySelector(".mark.bad") !== null)`)
	tb.click("#language")
	tb.do(look{"", 390, 844, false}.set())
	tb.await(`document.querySelectorAll(".cards .mark.bad").length > 0 && document.querySelector("#all") !== null`)
	tb.accessible("chaos, cards, Chinese")
	tb.eval(`location.hash = "#/chaos?cell=` + address + `"`)
	tb.says("dialog[open]", "买家的种子")
	tb.accessible("a cell of the faults, phone, Chinese")
}

// damaged finds a cell that did not hold, with a course.
func damaged(t *testing.T, run chaos.Result) (chaos.Row, int) {
	for _, row := range run.Rows {
		for i, c := range row.Cells {
			if c != nil && slices.Contains([]string{"oversold", "lost", "blocked", "stopped"}, c.Word) && len(c.Course) > 5 {
				return row, i
			}
		}
	}
	t.Fatal("every cell held")
	return chaos.Row{}, 0
}
