package e2e

import (
	"fmt"
	"testing"
)

// tick gives an answer of the chooser.
func (tb *tab) tick(question, answer string) {
	tb.t.Helper()
	box := fmt.Sprintf(`.questions input[name=%q][value=%q]`, question, answer)
	tb.click(box)
	tb.await(fmt.Sprintf(`document.querySelector(%q).checked`, box))
}

func TestChooserOffersWhatFits(t *testing.T) {
	tb := startBrowser(t).open(startFake(t).url+"/#/choose", wide)
	tb.await(`document.querySelector(".fit h2 code")?.innerText === "conditional" && document.querySelectorAll(".fit").length === 1`)
	tb.says(".results [role=status]", "1 fits.")
	tb.says(".fit", "holds in all schedules: no oversell")
	tb.await(`document.querySelector(".top nav [aria-current]").innerText === "Which one?" && document.title.startsWith("Five questions")`)
	tb.inEveryLook("choose fake")

	t.Log("a failure that does not apply does no harm; a load that nothing was seen to meet does")
	tb.tick("fails", "clocks")
	tb.says(".fit", "conditional")
	tb.tick("rate", "3000")
	tb.says(".results [role=status]", "Nothing fits.")
	tb.await(`location.hash === "#/choose?rate=3000&have=mysql&fails=clocks"`)
	tb.click(".ways a")
	tb.says(".fit", "conditional")
	tb.await(`!location.hash.includes("rate") && location.hash.includes("fails=clocks")`)

	t.Log("what is no lock is not offered as one")
	tb.tick("need", "lock")
	tb.says(".results [role=status]", "Nothing fits.")
}
