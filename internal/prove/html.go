package prove

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path"
	"strings"
)

//go:embed matrix.html
var matrixPage string

// Drawings put counterexamples into the page. The zero value leaves them out:
// the page links their files.
type Drawings struct {
	Script  template.HTML                     // draws them
	Example func(file string) ([]byte, error) // reads the file that a cell names; an error: it is only linked
}

// A drawing is a counterexample in the page.
type drawing struct {
	ID, File, Strategy, Question, Text string
	JSON                               template.HTML
}

// WriteHTML writes the matrix as one page that needs nothing else.
func (m *Matrix) WriteHTML(w io.Writer, d Drawings) error {
	drawn, err := m.drawings(d)
	if err != nil {
		return err
	}
	byFile := map[string]string{}
	for _, one := range drawn {
		byFile[one.File] = one.ID
	}
	page, err := template.New("matrix").Funcs(template.FuncMap{
		"cell":  func(r Row, q Question) Cell { return r.Cells[q.ID] },
		"drawn": func(file string) string { return byFile[file] },
	}).Parse(matrixPage)
	if err != nil {
		return err
	}
	return page.Execute(w, struct {
		*Matrix
		Servers     string
		Bound       string
		Differences []Difference
		Drawings    []drawing
		Script      template.HTML
	}{m, m.servers(), m.bound(), m.Differences(), drawn, d.Script})
}

func (m *Matrix) drawings(d Drawings) (all []drawing, err error) {
	if d.Example == nil {
		return nil, nil
	}
	for _, row := range m.Rows {
		for _, q := range m.Questions {
			cell := row.Cells[q.ID]
			if cell.Example == "" {
				continue
			}
			text, err := d.Example(cell.Example)
			if err != nil {
				continue // it was kept elsewhere: the link says where
			}
			var b bytes.Buffer
			if err := json.Compact(&b, text); err != nil {
				return nil, fmt.Errorf("%s is no counterexample: %w", cell.Example, err)
			}
			var safe bytes.Buffer
			json.HTMLEscape(&safe, b.Bytes())
			all = append(all, drawing{strings.TrimSuffix(path.Base(cell.Example), ".json"), cell.Example, row.Strategy, q.Title, cell.Text,
				template.HTML(`<script type="application/json">` + safe.String() + `</script>`)})
		}
	}
	return all, nil
}
