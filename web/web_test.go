package web

import (
	"io/fs"
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
