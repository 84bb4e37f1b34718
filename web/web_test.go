package web

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
)

func each(t *testing.T, look func(name, text string)) {
	t.Helper()
	err := fs.WalkDir(Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Files(), name)
		look(name, string(text))
		return err
	})
	labtest.Must(t, err)
}

// A drawing that stands alone has the colours of the page.
func TestDrawingsHaveThePagesColours(t *testing.T) {
	style, drawing := source(t, "static/style.css"), source(t, "static/trace/drawing.js")
	token := regexp.MustCompile(`--([\w-]+): light-dark\((#\w+), (#\w+)\)`)
	colours := map[string][]string{"accent": nil}
	for _, m := range token.FindAllStringSubmatch(style, -1) {
		colours[m[1]] = m[2:]
	}
	_, light, _ := strings.Cut(drawing, "\n  light: {")
	light, dark, _ := strings.Cut(light, "\n  dark: {")
	dark, _, _ = strings.Cut(dark, "\n  },")
	for i, theme := range []string{light, dark} {
		used := regexp.MustCompile(`'?([\w-]+)'?: '(#\w+)'`).FindAllStringSubmatch(theme, -1)
		if len(used) < 12 {
			t.Errorf("only %d colours were found", len(used))
		}
		for _, m := range used {
			if c := colours[m[1]]; c == nil || c[i] != m[2] {
				t.Errorf("drawing.js says %s is %s, style.css says %v", m[1], m[2], c)
			}
		}
	}
}
