package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// tick clicks an answer of the chooser: "have value=redis".
func (tb *tab) tick(answer string) {
	tb.t.Helper()
	name, value, _ := strings.Cut(answer, " value=")
	box := fmt.Sprintf(`.questions input[name=%q][value=%q]`, name, value)
	tb.click(box)
	tb.await(fmt.Sprintf(`document.querySelector(%q).checked`, box))
}

func TestChooserOffersWhatFits(t *testing.T) {
	tb := startBrowser(t).open(startFake(t).url+"/#/choose", wide)
	tb.await(`document.querySelector(".fit h3 code")?.innerText === "conditional" && document.querySelectorAll(".fit").length === 1`)
	tb.says(".results [role=status]", "1 of 3 strategies fits.")
	tb.says(".fit", "holds in all schedules: no oversell, no lost update, and across processes")
	tb.says(".fit", "It breaks in no question.")
	tb.says(".fit", "On MySQL 9.7.0 it breaks: lost reply.")
	tb.says(".excluded", "1: breaks without any fault")
	tb.says(".excluded", "1: the matrix has no row for it")
	tb.await(`document.querySelector("nav [aria-current]").innerText === "Guarantees" && document.title.startsWith("Choose a strategy")`)
	tb.inEveryLook("choose fake")

	t.Log("a failure, and an order that no lock was seen to keep")
	tb.tick("fails value=clocks")
	tb.says(".fit", "clocks disagree does not apply: it asks no clock of its own")
	tb.tick("order value=true")
	tb.says(".results [role=status]", "None of the 3 strategies fits.")
	tb.says(".ways", "Changing one of these is enough:")
	tb.await(`location.hash === "#/choose?stock=1000&have=mysql%2Cprocesses&fails=clocks&order=yes"`)
	tb.click(".ways a")
	tb.says(".fit", "conditional")
	tb.await(`!location.hash.includes("order") && location.hash.includes("fails=clocks")`)
	tb.click(".questions .offer")
	tb.await(`location.hash === "#/choose"`)
}
