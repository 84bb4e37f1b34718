//go:build unix

package e2e

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"seckill/internal/ledger"
)

func TestWrongInputIsSaidInPlace(t *testing.T) {
	f := startFake(t)
	tb := startBrowser(t).open(f.url, wide)
	tb.choose("conditional")
	tb.shot("fake-idle")
	for _, c := range []struct{ field, text, says string }{
		{"stock", "many", "whole number from 1 to 1,000,000"},
		{"stock", "1.5", "whole number"},
		{"stock", "0", "whole number"},
		{"buyers", "999999999999999999999", "from 1 to 200,000"},
		{"concurrency", "-1", "from 1 to 1,024"},
		{"buyers", "100", "more than 100"},
		{"quantity", "101", "the stock is 100"},
	} {
		for field, text := range map[string]string{"stock": "100", "buyers": "2000", "concurrency": "64", "quantity": "1"} {
			tb.fill("#"+field, text)
		}
		tb.fill("#"+c.field, c.text)
		tb.click("button.run")
		tb.says("#"+c.field+"-wrong", c.says)
		tb.await(`document.activeElement.id === "` + c.field + `" && document.activeElement.ariaInvalid === "true"`)
	}
	tb.shot("fake-wrong-input")
	tb.fill("#quantity", "1")
	tb.await(`document.querySelector("#quantity-wrong").innerText === ""`)
}

func TestRunAsTheLabTellsIt(t *testing.T) {
	f := startFake(t)
	tb := startBrowser(t).open(f.url, wide)
	tb.choose("naive")
	tb.click("button.run")
	tb.says(".banner.busy", "naive is selling")
	for i := range 60 {
		f.progress <- fakeProgress(i, 70-2*i, 30+i)
	}
	tb.says(".left .number", "−48")
	tb.says(".left", "below zero")
	tb.says(".outcomes", "1,091")
	tb.shot("fake-running")
	tb.click("button.stop")
	tb.says(".banner", "NOT VALID")

	for _, v := range []struct {
		verdict ledger.Verdict
		word    string
	}{
		{ledger.Held, "HELD"}, {ledger.Lost, "LOST"}, {ledger.Oversold, "OVERSOLD"},
	} {
		tb.click("button.run")
		tb.says(".banner.busy", "naive is selling")
		f.progress <- fakeProgress(99, 0, 100)
		var violations []ledger.Violation
		if v.verdict != ledger.Held {
			violations = []ledger.Violation{{Rule: ledger.RuleLostUpdate, Verdict: v.verdict, Message: "deductions were overwritten",
				Count: 31, Examples: []string{"order <i>ABC</i>", "user 7"}}}
		}
		f.results <- fakeResult(v.verdict, violations...)
		tb.says(".banner .word", v.word)
		tb.says(".ran-on", "MariaDB 10.11.14 (mysql, private)")
	}
	tb.says(".rules", "Lost updates lost_update")
	tb.says(".rules", "order <i>ABC</i>")
	tb.says(".rules", "and 29 more")
	tb.says(".history tbody tr:nth-child(4)", "NOT VALID")
	tb.click(".history tbody tr:nth-child(3) button")
	tb.says(".banner .word", "HELD")

	tb.click(".strategies button")
	tb.says(".source pre", "package sqlrow // <b>")
	tb.shot("fake-history")
	tb.do(look{"narrow", 390, 844, true}.set())
	tb.shot("fake-narrow-dark")
	tb.do(look{"wide", 1440, 1000, true}.set())
	tb.shot("fake-wide-dark")
}

func TestServiceThatDied(t *testing.T) {
	f := startFake(t)
	f.services = append(f.services, f.services[0])
	f.services[1].Up, f.services[1].Error = false, "it ended by itself (killed); its log is /tmp/x.log"
	tb := startBrowser(t).open(f.url, wide)
	tb.says(".machines", "down")
	tb.says(".machines", "/tmp/x.log")
}

func TestReloadAndSecondTabShowTheSameRun(t *testing.T) {
	f := startFake(t)
	b := startBrowser(t)
	first := b.open(f.url, wide)
	first.choose("naive")
	first.fill("#stock", "70")
	first.click("button.run")
	for i := range 9 {
		f.progress <- fakeProgress(i, 70-i, i)
	}
	first.says(".left .number", "62")
	second := b.open(f.url, wide)
	first.do(chromedp.Reload())
	for _, tb := range []*tab{first, second} {
		tb.says(".banner.busy", "naive is selling")
		tb.says(".left .number", "62")
		tb.await(`document.querySelector("#stock").value === "70" && document.querySelector("#strategy").value === "naive"`)
	}
	f.progress <- fakeProgress(10, 1, 69)
	for _, tb := range []*tab{first, second} {
		tb.says(".left .number", "1")
	}
	f.results <- fakeResult(ledger.Held)
	for _, tb := range []*tab{first, second} {
		tb.says(".banner .word", "HELD")
	}
}

func TestLabThatIsRestarted(t *testing.T) {
	f, stop := startFakeAt(t, "127.0.0.1:0", "")
	tb := startBrowser(t).open(f.url, wide)
	tb.forgive("net::ERR_")
	tb.choose("conditional")
	tb.click("button.run")
	f.results <- fakeResult(ledger.Held)
	tb.says(".banner .word", "HELD")
	stop()
	tb.says(".lost-connection", "lost")
	tb.shot("fake-lost-connection")
	startFakeAt(t, strings.TrimPrefix(f.url, "http://"), "")
	tb.await(`!document.querySelector(".lost-connection")`)
	tb.says(".stage", "Nothing has run yet")
}

// Nobody needs a mouse.
func TestKeyboardAlone(t *testing.T) {
	f := startFake(t)
	tb := startBrowser(t).open(f.url, wide)
	tb.choose("conditional")
	tb.eval(`document.querySelector("#quantity").focus()`)
	tb.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	tb.says(".banner.busy", "conditional is selling")
	tb.do(chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	tb.says(".banner .word", "NOT VALID")
}

func TestLabWithToken(t *testing.T) {
	f, _ := startFakeAt(t, "127.0.0.1:0", "s3cret")
	b := startBrowser(t)
	stranger := b.open(f.url, wide)
	stranger.forgive("status of 403")
	stranger.choose("naive")
	stranger.click("button.offer")
	stranger.says(".idle .wrong", "token")
	stranger.click("button.run")
	stranger.says("#token-wrong", "Give the token")
	stranger.fill("#token", "s3cret")
	stranger.click("button.run")
	stranger.says(".banner.busy", "naive is selling")
	f.results <- fakeResult(ledger.Held)
	stranger.says(".banner .word", "HELD")

	// The address that the lab prints has the token.
	owner := b.open(f.url+"/#token=s3cret", wide)
	owner.await(`location.hash === ""`)
	owner.choose("conditional")
	owner.click("button.run")
	owner.says(".banner.busy", "conditional is selling")
	f.results <- fakeResult(ledger.Held)
	owner.says(".banner .word", "HELD")
}
