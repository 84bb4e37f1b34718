package main

import (
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// The pictures that docs/screens.md shows are there, and small; it shows all.
func TestPicturesOfTheScreens(t *testing.T) {
	shown := regexp.MustCompile(`!\[[^\]]+\]\((screens/[\w-]+\.png)\)`).FindAllStringSubmatch(page(t, "docs/screens.md"), -1)
	var names []string
	for _, m := range shown {
		names = append(names, filepath.Base(m[1]))
		f, err := os.Open(filepath.Join(root, "docs", m[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		picture, err := png.DecodeConfig(f)
		info, statErr := f.Stat()
		f.Close()
		if err != nil || statErr != nil || picture.Width < 300 || info.Size() > 80_000 {
			t.Errorf("%s: %v, %v, %d pixels wide, want at least 300 and at most 80,000 bytes", m[1], err, statErr, picture.Width)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "docs/screens/*.png"))
	if err != nil || len(files) != len(names) || len(names) != 9 {
		t.Errorf("docs/screens has %d pictures, the page shows %q, want the same nine (%v)", len(files), names, err)
	}
	for _, file := range files {
		if !slices.Contains(names, filepath.Base(file)) {
			t.Errorf("docs/screens.md does not show %s", file)
		}
	}
}
