//go:build verify

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A screen to be looked at: where it is, when it is ready, what is at its top,
// and the look that docs/teaching.md shows.
type screen struct {
	name, where string
	ready       string // an expression
	top, docs   string
}

var screens = []screen{
	{"lab-broken", "lab?strategies=naive&stock=100&buyers=2000", there(".because-of .drawing svg"), "body", "1440-en-light"},
	{"lab-side-by-side", "lab?strategies=naive,conditional&stock=100&buyers=2000", `document.querySelectorAll(".lane-card [data-verdict]").length === 2`, "body", "1440-en-dark"},
	{"compare", "compare?strategies=naive,conditional&stock=60&buyers=90&concurrency=16&repeats=2&turn_ms=0&few=0", there(".sales-bars li"), "#stage", "1440-en-light"},
	{"guarantees", "guarantees", there(".matrix tbody tr, .cards li"), "body", "1440-en-light"},
	{"chaos", "chaos", there(".matrix tbody tr, .cards li"), "body", ""},
	{"choose", "choose", there(".fit"), "body", ""},
	{"trace-steps", "trace/lock-insert-by-name.late-command?step=12", there(".step .details"), ".title-of", "1440-en-dark"},
	{"trace-diagram", "trace/redis-lua.lease-end?view=diagram&step=14", there(".drawing .d-current"), ".controls", "1440-en-light"},
	{"lesson", "lessons/01-lost-update", there(".sources pre"), "body", "1440-zh-light"},
	{"lesson-drawn", "lessons/11-fencing", there(".drawn-example svg"), ".break-it", ""},
	{"levels", "play", there(".level"), "body", ""},
	{"play", "play?strategy=redis-lua&buyers=3&stock=2&s=aLb", there(".buyer-column .badge.bad"), "body", "1440-en-light"},
	{"play-won", "play/first-lost-update?s=abbbbbaaaa", there(".graded.won"), "body", ""},
	{"play-fault", "play?strategy=redis-getset&buyers=2&stock=2&s=aJb", there(".buyer-column"), "body", ""},
	{"teach", "teach/01-lost-update", there("main h1"), "body", ""},
	{"shop", "", there(".product"), "body", "390-en-light"},
}

func there(selector string) string {
	return fmt.Sprintf(`document.querySelector(%q) !== null`, selector)
}

// Every screen of a real lab at three widths, in both languages and themes and
// in large type: pictures to look at, in the folder that SECKILL_SCREENSHOTS names (make
// screenshots). Without one, each screen is looked at once.
func TestScreenshots(t *testing.T) {
	u := sharedLab(t)
	tb := startBrowser(t).open(u.page, wide)
	tb.await(`document.querySelector(".start") !== null`)
	for _, s := range screens {
		t.Log(s.name)
		if s.name == "shop" {
			tb = startBrowser(t).open(u.page+"shop", wide)
		} else {
			tb.eval(fmt.Sprintf(`location.hash = "#/%s"`, s.where))
		}
		switch s.name {
		case "lab-broken":
			tb.await(`document.querySelectorAll(".picker .chosen li").length === 1`)
			tb.click(".start .run")
		case "lab-side-by-side":
			tb.await(`document.querySelectorAll(".picker .chosen li").length === 2`)
			tb.click(".start .run")
		case "compare":
			tb.says(".compare-form", "2 of ")
			tb.click(".compare-form .run")
		}
		tb.await(s.ready)
		for _, language := range []string{"en", "zh-CN"} {
			tb.speak(language)
			for _, width := range []int64{1440, 1024, 390} {
				for _, theme := range []string{"light", "dark", "large"} {
					tb.picture(s, width, language[:2], theme)
				}
			}
			if os.Getenv("SECKILL_SCREENSHOTS") == "" {
				break
			}
		}
		tb.speak("en")
	}
}

// picture takes one; large is large type, in the light theme.
func (tb *tab) picture(s screen, width int64, language, theme string) {
	tb.t.Helper()
	height, size := int64(900), "normal"
	if theme == "large" {
		size = "large"
	}
	tb.do(look{"", width, height, theme == "dark"}.set())
	tb.eval(fmt.Sprintf(`document.documentElement.dataset.type = %q`, size))
	tb.await(`document.getAnimations().length === 0`)
	tb.eval(fmt.Sprintf(`document.querySelector(%q).scrollIntoView({behavior: "instant"})`, s.top))
	tb.await(s.ready + ` && document.documentElement.scrollWidth <= innerWidth`)
	shown := fmt.Sprintf("%d-%s-%s", width, language, theme)
	tb.shot(s.name + "-" + shown)
	if dir := os.Getenv("SECKILL_SCREENSHOTS"); dir != "" && shown == s.docs {
		tb.small(filepath.Join(dir, "docs"), s.name, width, height)
	}
}

// small keeps a picture for docs/teaching.md: scaled, with 256 colours.
func (tb *tab) small(dir, name string, width, height int64) {
	tb.t.Helper()
	scale := 0.65
	if width < 600 {
		scale = 1
	}
	clip := page.CaptureScreenshotParams{Clip: &page.Viewport{Width: float64(width), Height: float64(height), Scale: scale}}
	var shot []byte
	tb.do(func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		at, err := chromedp.Evaluate[float64](`scrollY`)(ctx, target)
		if err != nil {
			return none, err
		}
		clip.Clip.Y = at
		r, err := cdp.Call(ctx, target, page.CaptureScreenshot, clip)
		if err == nil {
			shot = r.Data
		}
		return none, err
	})
	full, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		tb.t.Fatal(err)
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err = encoder.Encode(&out, fewColours(full))
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), out.Bytes(), 0o644)
	}
	if err != nil {
		tb.t.Fatal(err)
	}
}

// fewColours keeps an image's most frequent colours, which on a page are nearly
// all there are.
func fewColours(full image.Image) *image.Paletted {
	often := map[color.Color]int{}
	bounds := full.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			often[coarse(full.At(x, y))]++
		}
	}
	var palette color.Palette
	for c := range often {
		palette = append(palette, c)
	}
	slices.SortFunc(palette, func(a, b color.Color) int { return often[b] - often[a] })
	palette = palette[:min(len(palette), 256)]
	few, index := image.NewPaletted(bounds, palette), map[color.Color]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := coarse(full.At(x, y))
			if _, known := index[c]; !known {
				index[c] = uint8(palette.Index(c))
			}
			few.SetColorIndex(x, y, index[c])
		}
	}
	return few
}

// coarse rounds a colour: eyes do not see the difference.
func coarse(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	round := func(v uint32) uint8 { return uint8(min(255, (v>>8+2)/4*4)) }
	return color.NRGBA{round(r), round(g), round(b), 255}
}
