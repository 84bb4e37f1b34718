package web

import (
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a first visit loads, if nothing were compressed: index.html, all that it
// loads by itself, and one language; the lab's status and its events come to that. Other
// screens, the strategies and the charts come when they are asked for.
func TestFirstViewIsSmall(t *testing.T) {
	const most, files = 120_000, 23
	texts := map[string]string{}
	each(t, func(name, text string) { texts[name] = text })
	total, seen, next := 0, map[string]bool{}, []string{"index.html", "text/zh.js"}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		total += len(texts[name])
		next = append(next, loads(name, texts[name])...)
	}
	if total > most || len(seen) > files || seen["vendor/uplot.mjs"] || !seen["style.css"] {
		t.Errorf("a first visit loads %d bytes in %d files, want at most %d in %d: %v", total, len(seen), most, files, slices.Sorted(maps.Keys(seen)))
	}
}

var imported = regexp.MustCompile(`(?m)^(?:import|export|\}).*?(?:from\s*|import\s*)["']([^"']+)["']|(?:<script[^>]* src|<link[^>]* href)="([^"]+)"`)

// later finds what is loaded when it is needed.
var later = regexp.MustCompile(`import\(["']([^"']+)["']\)`)

// A file that is missing, or on another host, is found here sooner than in a
// browser.
func TestWhatIsLoadedIsHere(t *testing.T) {
	files := map[string]bool{}
	each(t, func(name, _ string) { files[name] = true })
	each(t, func(name, text string) {
		targets := loads(name, text)
		for _, m := range later.FindAllStringSubmatch(text, -1) {
			targets = append(targets, path.Join(path.Dir(name), m[1]))
		}
		for _, target := range targets {
			if !files[target] {
				t.Errorf("%s loads %q, and there is no such file", name, target)
			}
		}
	})
}

// loads are the files that one needs at once, in the page's own folder.
func loads(name, text string) (targets []string) {
	if ext := path.Ext(name); ext != ".js" && ext != ".mjs" && ext != ".html" {
		return nil
	}
	for _, m := range imported.FindAllStringSubmatch(text, -1) {
		target := m[1] + m[2]
		local, absolute := strings.CutPrefix(target, "/static/")
		switch {
		case strings.HasPrefix(target, "#"):
			continue
		case !absolute:
			local = path.Join(path.Dir(name), target)
		}
		targets = append(targets, local)
	}
	return targets
}

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
	if err != nil {
		t.Fatal(err)
	}
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
