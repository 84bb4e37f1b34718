package prove

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"seckill/internal/measure"
)

// Block names the marks in a Markdown file between which the matrix stands.
const Block = "matrix"

// ForReadme writes a Markdown file with the matrix between its marks; links lead
// from there to the counterexamples.
func (m *Matrix) ForReadme(file string) func(io.Writer) error {
	return measure.WithBlock(file, Block, func(w io.Writer) error { return m.WriteMarkdown(w, file) })
}

// linkFrom is the way from a page to a file; as it is where one path is
// absolute and the other is not.
func linkFrom(page, file string) string {
	way, err := filepath.Rel(filepath.Dir(page), file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(way)
}

// InReadme says why a Markdown file does not show this matrix.
func (m *Matrix) InReadme(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := m.ForReadme(file)(&b); err != nil {
		return err
	}
	if b.String() != string(text) {
		return fmt.Errorf("%s shows another matrix: make prove", file)
	}
	return nil
}
