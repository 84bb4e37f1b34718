//go:build verify

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Pictures for docs/teaching.md, which -update writes (make screenshots). Every other test
// writes those of its screens into the folder that SECKILL_SCREENSHOTS names.
func TestPictures(t *testing.T) {
	u := sharedLab(t)
	tb := fresh(t, u.page)
	for _, s := range []struct {
		name, place, click, ready string
		dress
	}{
		{"lab-broken", "lab?strategies=naive&stock=100&buyers=2000", ".start .run", `.because-of .drawing svg`, dress{look{"", 1440, 900, false}, "en"}},
		{"lab-side-by-side", "lab?strategies=naive,conditional&stock=100&buyers=2000", ".start .run", `.lane-card:nth-child(2) [data-verdict]`, dress{look{"", 1440, 900, true}, "en"}},
		{"compare", "compare?strategies=naive,conditional&stock=60&buyers=90&concurrency=16", ".compare-form .run", `.results tbody tr`, dress{look{"", 1440, 900, false}, "en"}},
		{"guarantees", "guarantees", "", `.matrix tbody tr`, dress{look{"", 1440, 900, false}, "en"}},
		{"trace", "trace/redis-lua.lease-end?step=14", "", `.drawing .d-current`, dress{look{"", 1440, 900, false}, "en"}},
		{"lesson", "lessons/01-lost-update", "", `.drawn-example svg`, dress{look{"", 1440, 900, false}, "zh-CN"}},
		{"play", "play?strategy=redis-lua&buyers=3&stock=2&s=aLb", "", `.buyer-column .badge.bad`, dress{look{"", 1440, 900, false}, "en"}},
		{"shop", "", "", `.shelf`, dress{look{"", 390, 900, false}, "en"}},
	} {
		tb.do(s.set())
		if s.name == "shop" {
			tb.do(chromedp.Navigate(u.page + "shop"))
		} else {
			tb.goTo(s.place)
		}
		if s.click != "" {
			tb.await(formHasAddress + ` || location.hash.startsWith("#/compare")`)
			tb.click(s.click)
		}
		tb.await(`document.querySelector("` + s.ready + `") !== null && !document.querySelector(".banner.busy")`)
		tb.speak(s.language)
		tb.settled()
		tb.small(filepath.Join("../../docs/screens", s.name+".png"), s.look)
		tb.speak("en")
	}
}

// small keeps a picture, scaled.
func (tb *tab) small(file string, l look) {
	tb.t.Helper()
	clip := page.CaptureScreenshotParams{Clip: &page.Viewport{Width: float64(l.width), Height: float64(l.height), Scale: min(1, 940/float64(l.width))}}
	tb.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		r, err := cdp.Call(ctx, target, page.CaptureScreenshot, clip)
		if err == nil && *update {
			err = os.WriteFile(file, r.Data, 0o644)
		}
		return err
	}))
}
