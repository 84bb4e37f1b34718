package prove

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The marks in a Markdown file between which the matrix stands.
const (
	matrixBegins = "<!-- matrix: computed by make prove, do not edit -->"
	matrixEnds   = "<!-- /matrix -->"
)

// PutIntoReadme writes the matrix between the marks of a Markdown file, with
// links that lead from there to the counterexamples.
func (m *Matrix) PutIntoReadme(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, _, after, err := splitReadme(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var b bytes.Buffer
	b.WriteString(before)
	if err := m.WriteMarkdown(&b, file); err != nil {
		return err
	}
	b.WriteString(after)
	return os.WriteFile(file, b.Bytes(), 0o666)
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

// CheckReadme says why a Markdown file has no place for the matrix.
func CheckReadme(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if _, _, _, err = splitReadme(string(text)); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// InReadme says why a Markdown file does not show this matrix.
func (m *Matrix) InReadme(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	_, shown, _, err := splitReadme(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	var b bytes.Buffer
	if err := m.WriteMarkdown(&b, file); err != nil {
		return err
	}
	if shown != b.String() {
		return fmt.Errorf("%s shows another matrix: make prove", file)
	}
	return nil
}

// splitReadme cuts a file at the marks, which stay with what is around them.
func splitReadme(text string) (before, matrix, after string, err error) {
	i, j := strings.Index(text, matrixBegins+"\n"), strings.Index(text, matrixEnds)
	switch {
	case i < 0 || j < i:
		return "", "", "", fmt.Errorf("there are no lines %q and %q to put the matrix between", matrixBegins, matrixEnds)
	case strings.Count(text, matrixBegins) > 1 || strings.Count(text, matrixEnds) > 1:
		return "", "", "", fmt.Errorf("the lines %q and %q are there more than once: leave one of each", matrixBegins, matrixEnds)
	}
	i += len(matrixBegins) + 1
	return text[:i], text[i:j], text[j:], nil
}
