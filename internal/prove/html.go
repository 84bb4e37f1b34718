package prove

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed matrix.html
var matrixPage string

// WriteHTML writes the matrix as one page that needs nothing else.
func (m *Matrix) WriteHTML(w io.Writer) error {
	page, err := template.New("matrix").Funcs(template.FuncMap{
		"cell": func(r Row, q Question) Cell { return r.Cells[q.ID] },
	}).Parse(matrixPage)
	if err != nil {
		return err
	}
	return page.Execute(w, struct {
		*Matrix
		Servers     string
		Bound       string
		Differences []Difference
	}{m, m.servers(), m.bound(), m.Differences()})
}
