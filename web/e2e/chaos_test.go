package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/internal/chaos"
)

// The screen shows the committed run: every cell says in words what it came to,
// and opens with its course, its figures and the command that runs it again.
func TestChaosScreen(t *testing.T) {
	var run chaos.Page
	data, err := os.ReadFile("../static/chaos/results.json")
	if err == nil {
		err = json.Unmarshal(data, &run)
	}
	if err != nil || len(run.Rows) == 0 || run.Tally["held"] == 0 {
		t.Fatalf("the committed run: %v, %d rows, %v", err, len(run.Rows), run.Tally)
	}
	row, i := sold(t, run)
	cell := row.Cells[i]
	address := row.Strategy + "." + string(run.Faults[i])

	f := startFake(t)
	tb := startBrowser(t).open(f.url+"/#/guarantees", wide)
	tb.click(`a[href="#/chaos"]`)
	tb.await(`document.querySelectorAll(".matrix tbody tr").length === ` + fmt.Sprint(len(run.Rows)))
	tb.await(`document.querySelector("nav [aria-current=page]").hash === "#/guarantees" && document.title.startsWith("Faults under load")`)
	tb.inEveryLook("chaos")

	t.Log("a cell opens by the keyboard, and has an address")
	// The table comes back when the window is wide again.
	tb.await(`(document.querySelector('.matrix [data-cell="` + address + `"]')?.focus(), document.activeElement.dataset.cell === "` + address + `")`)
	tb.do(chromedp.KeyEvent("\r"))
	tb.says("dialog[open]", row.Strategy)
	tb.says("dialog", fmt.Sprintf("Seed of its buyers\n%s", cell.Seed))
	tb.says("dialog .command", strings.NewReplacer("STRATEGY", row.Strategy, "FAULT", string(run.Faults[i])).Replace(run.Repeat))
	tb.await(fmt.Sprintf(`document.querySelector("dialog polyline.sold").getAttribute("points").split(" ").length === %d`, len(cell.Course)))
	tb.await(`Boolean(document.querySelector("dialog .band"))`)
	tb.await(`location.hash === "#/chaos?cell=` + address + `"`)
	tb.accessible("a cell of the faults")
	tb.shot("chaos-cell")
	tb.do(chromedp.Reload())
	tb.says("dialog[open]", row.Strategy)
	tb.do(chromedp.KeyEvent("\x1b"))
	tb.await(`!document.querySelector("dialog") && location.hash === "#/chaos"`)

	t.Log("the filter is in the address")
	tb.fill("#name", row.Strategy)
	tb.await(`[...document.querySelectorAll(".matrix tbody th")].every((th) => th.innerText.includes("` + row.Strategy + `")) && location.hash.includes("name=")`)
	tb.fill("#name", "nothing like it")
	tb.says("[role=status]", "No strategy matches.")
	tb.eval(`location.hash = "#/chaos"`)
	tb.eval(`{ const s = document.querySelector("#show"); s.value = "broke"; s.dispatchEvent(new Event("change", {bubbles: true})); }`)
	tb.await(fmt.Sprintf(`document.querySelectorAll(".matrix tbody tr").length === %d`, damaged(run)))

	t.Log("on a phone, in Chinese")
	tb.eval(`location.hash = "#/chaos?name=` + row.Strategy + `"`)
	tb.click("#language")
	tb.do(look{"", 390, 844, false}.set())
	tb.says(".cards", "守住了")
	tb.accessible("chaos, cards, Chinese")
	tb.click(`.cards [data-cell="` + address + `"]`)
	tb.says("dialog[open]", "买家的种子")
	tb.accessible("a cell of the faults, phone, Chinese")
	tb.shot("chaos-cell-zh-phone")
}

// sold finds a cell that held, with a fault that shows.
func sold(t *testing.T, run chaos.Page) (chaos.PageRow, int) {
	for _, row := range run.Rows {
		for i, c := range row.Cells {
			if c != nil && c.Word == "held" && len(c.Course) > 5 && c.Fault != nil && c.Fault[0] < c.Course[len(c.Course)-1][0] {
				return row, i
			}
		}
	}
	t.Fatal("no cell held with a fault")
	return chaos.PageRow{}, 0
}

// damaged counts the strategies with a cell that did not hold.
func damaged(run chaos.Page) (n int) {
	for _, row := range run.Rows {
		for _, c := range row.Cells {
			if c != nil && strings.Contains("oversold lost blocked stopped", c.Word) && c.Word != "" {
				n++
				break
			}
		}
	}
	return n
}
