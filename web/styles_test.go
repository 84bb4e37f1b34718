package web

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// A sheet that is loaded on demand stays while other screens are shown: a class
// that two sheets style by its name alone is styled by both. (The shop is a page
// of its own.)
func TestSheetsShareNoClass(t *testing.T) {
	of := map[string]string{}
	err := fs.WalkDir(Files(), ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".css" || strings.HasPrefix(file, "vendor/") || strings.HasPrefix(file, "shop/") {
			return err
		}
		text, err := fs.ReadFile(Files(), file)
		if err != nil {
			return err
		}
		bare := regexp.MustCompile(`/\*[^*]*\*/`).ReplaceAllString(string(text), "")
		for _, rule := range regexp.MustCompile(`([^{}@;]+)\{`).FindAllStringSubmatch(bare, -1) {
			for _, selector := range strings.Split(rule[1], ",") {
				class := regexp.MustCompile(`^\.[\w-]+$`).FindString(strings.TrimSpace(selector))
				if class == "" {
					continue
				}
				if other := of[class]; other != "" && other != file {
					t.Errorf("%s is styled in %s and in %s: name the place it is in, as in “.plot %s”", class, other, file, class)
				}
				of[class] = file
			}
		}
		return nil
	})
	if err != nil || len(of) < 100 {
		t.Errorf("%d classes were found: %v", len(of), err)
	}
}
