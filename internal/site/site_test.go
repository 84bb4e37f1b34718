package site_test

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/site"
	"seckill/strategies"
	"seckill/web"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func writeSite(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "site")
	s := site.Site{Page: web.Files(), Guarantees: web.Guarantees(), Recordings: web.Recordings(), Checkout: os.DirFS("../.."),
		Strategies: strategies.All(), Version: "test"}
	labtest.Must(t, s.Write(dir))
	labtest.Must(t, s.Write(dir)) // a second time, over the old site
	return dir
}

var (
	reference = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	imported  = regexp.MustCompile(`(?m)(?:^|[^'\w])(?:from |import |import\()'(\.[^']+)'|styled\('([^']+)'\)`)
	linked    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// Pages, modules and documents of the site refer to each other by addresses. Every such address
// leads to a file. In pages, no address begins with a slash, so that the site works below any path.
func TestLinks(t *testing.T) {
	dir := writeSite(t)
	files, size := 0, int64(0)
	seen := 0
	leads := func(from, to string) {
		t.Helper()
		to, _, _ = strings.Cut(to, "#")
		to = labtest.Value(url.PathUnescape(to)).Must(t)
		if to == "" || strings.Contains(to, "://") || strings.Contains(to, "${") {
			return
		}
		seen++
		if _, err := os.Stat(filepath.Join(dir, path.Join(path.Dir(from), to))); strings.HasPrefix(to, "/") || err != nil {
			t.Errorf("%s leads to %s, which the site does not have", from, to)
		}
	}
	labtest.Must(t, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info := labtest.Value(entry.Info()).Must(t)
		files, size = files+1, size+info.Size()
		name, _ := filepath.Rel(dir, file)
		name = filepath.ToSlash(name)
		text, err := os.ReadFile(file)
		switch path.Ext(name) {
		case ".html":
			for _, m := range reference.FindAllSubmatch(text, -1) {
				leads(name, string(m[1]))
			}
		case ".js":
			for _, m := range imported.FindAllSubmatch(text, -1) {
				if len(m[2]) > 0 {
					leads("static/x", string(m[2]))
				} else {
					leads(name, string(m[1]))
				}
			}
		case ".md":
			for _, m := range linked.FindAllSubmatch(text, -1) {
				if at, _, _ := strings.Cut(string(m[1]), "#"); path.Ext(at) == ".md" || path.Ext(at) == ".svg" || path.Ext(at) == ".png" {
					leads(name, at)
				}
			}
		}
		return err
	}))
	if seen < 300 || size > 12<<20 {
		t.Errorf("%d files with %d bytes were written, and %d links followed", files, size, seen)
	}
}

// Removing comments does not change a module's program: each line of code is still there.
func TestModulesKeepTheirCode(t *testing.T) {
	dir := writeSite(t)
	for _, name := range []string{"lessons/screen.js", "trace/model.js", "main.js"} {
		whole := labtest.Value(fs.ReadFile(web.Files(), name)).Must(t)
		short := labtest.Value(os.ReadFile(filepath.Join(dir, "static", name))).Must(t)
		for line := range strings.Lines(string(whole)) {
			if line = strings.TrimSpace(line); !regexp.MustCompile(`^(/\*|\*|//)|/\*\*`).MatchString(line) && !strings.Contains(string(short), line) {
				t.Errorf("%s has lost the line %s", name, line)
			}
		}
		if strings.Contains(string(short), "\n// ") || len(short) >= len(whole) {
			t.Errorf("%s has its comments still", name)
		}
	}
}

// Write changes nothing in a folder that contains anything else than a site.
func TestNoOtherFolderIsOverwritten(t *testing.T) {
	dir := t.TempDir()
	labtest.Must(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), nil, 0o600))
	err := site.Site{Page: web.Files()}.Write(dir)
	labtest.Fails(t, err, "name another folder", "a site over another folder")
	labtest.Value(os.Stat(filepath.Join(dir, "thesis.tex"))).Must(t)
}

// Hosts show 404.html for unknown addresses of any depth, so it loads no file by a relative address.
func TestUnknownAddress(t *testing.T) {
	text := labtest.Value(os.ReadFile(filepath.Join(writeSite(t), "404.html"))).Must(t)
	for _, want := range []string{"There is no page", "没有页面", "light dark"} {
		labtest.Contains(t, string(text), want, "404.html")
	}
	for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
		labtest.Same(t, m[1], "./", "404.html refers to")
	}
}
