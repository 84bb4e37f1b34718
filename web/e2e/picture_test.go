package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/internal/lab/labtest"
)

// `make picture` takes the picture in the README, of a real sale that breaks. It also saves the menu above every screen.
// If the menu changes, the picture is out of date.
func TestPictureOfTheReadme(t *testing.T) {
	t.Parallel()
	const picture, words = "../docs/page.png", "../docs/page.txt"
	const above = `[...document.querySelectorAll(".top, .tabs")].map((bar) => bar.innerText).join("\n")`
	if *update {
		tb := fresh(t, sharedLab(t).page)
		tb.in(look{"picture", 1180, 850, false})
		tb.says(".machines", "MariaDB")
		tb.click(".guided li:first-child button")
		tb.await(`document.querySelector('[data-verdict="oversold"]') !== null`)
		tb.says(".because-of", "is sold twice")
		tb.shows(".because-of .drawing .d-command")
		tb.settled()
		png, err := chromedp.Run(tb.ctx, chromedp.CaptureScreenshot())
		labtest.Must(t, err)
		labtest.Must(t, os.WriteFile(picture, png, 0o644))
		labtest.Must(t, os.WriteFile(words, []byte(ask[string](tb, above)+"\n"), 0o644))
	}
	kept, err := os.ReadFile(words)
	labtest.Must(t, err)
	tb := startFake(t).open("")
	tb.shows(".tabs")
	if shows := ask[string](tb, above); strings.TrimSpace(string(kept)) != strings.TrimSpace(shows) {
		t.Errorf("the picture in the README has %q above its screen, the page now has %q; run make picture", kept, shows)
	}
}
