package web

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// What a first visit loads, if everything were loaded and nothing compressed.
func TestFirstViewIsSmall(t *testing.T) {
	const most = 200_000
	total := 0
	each(t, func(name, text string) {
		if ext := path.Ext(name); ext != ".LICENSE" && ext != ".md" {
			total += len(text)
		}
	})
	if total > most {
		t.Errorf("the page's files have %d bytes, want at most %d", total, most)
	}
}

var imported = regexp.MustCompile(`(?:from\s*|import\s*)["']([^"']+)["']|(?:src|href)="([^"]+)"`)

// A file that is missing, or on another host, is found here sooner than in a
// browser.
func TestWhatIsLoadedIsHere(t *testing.T) {
	files := map[string]bool{}
	each(t, func(name, _ string) { files[name] = true })
	each(t, func(name, text string) {
		if ext := path.Ext(name); ext != ".js" && ext != ".mjs" && ext != ".html" {
			return
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
			if !files[local] {
				t.Errorf("%s loads %q, and there is no such file", name, target)
			}
		}
	})
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
