package prove

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"seckill/internal/measure"
)

// Block names the marks in a Markdown file between which the matrix stands.
const Block = "matrix"

// ForReadme writes a Markdown file with the matrix between its marks.
func (m *Matrix) ForReadme(file string) func(io.Writer) error {
	return measure.WithBlock(file, Block, m.WriteMarkdown)
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
