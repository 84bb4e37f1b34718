package compare

import (
	_ "embed"
	"html/template"
	"io"

	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/internal/numbers"
)

//go:embed report.html
var reportPage string

var reportTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"thousands": numbers.Thousands[int64], "badge": badge,
}).Parse(reportPage))

// WriteHTML writes the report as one page without network access or scripts. m
// is the guarantee matrix, or nil.
func (r *Result) WriteHTML(w io.Writer, m *measure.Matrix) error {
	page := struct {
		*Result
		Table, Changes           *htmlTable
		Sales, Latency, Commands *bars
		Cards                    []card
		Matrix                   *matrixView
	}{Result: r, Table: r.html(r.strategyTable()), Sales: r.salesBars(), Latency: r.latencyBars(), Commands: r.commandBars(),
		Cards: r.cards(), Matrix: r.matrixView(m)}
	if r.Against != nil {
		page.Changes = r.html(r.changeTable())
	}
	return reportTemplate.Execute(w, page)
}

// badge is a class of the stylesheet.
func badge(e *Entry) string {
	switch {
	case e.Verdict == ledger.NotValid:
		return "void"
	case e.Expected && e.Breaks:
		return "caught"
	case e.Expected:
		return "held"
	}
	return "wrong"
}

// An htmlTable is a table whose first columns may be badges.
type htmlTable struct {
	Head  []htmlCell
	Rows  []htmlRow
	Notes []string
}

type htmlRow struct {
	Name  string
	Entry *Entry // of the strategy, if it is one
	Cells []htmlCell
}

type htmlCell struct {
	Text  string
	Right bool // a figure
	Badge bool
}

func (r *Result) html(t measure.Table) *htmlTable {
	h := &htmlTable{Notes: t.Notes}
	for i, text := range t.Head {
		h.Head = append(h.Head, htmlCell{Text: text, Right: i >= t.Words})
	}
	for _, row := range t.Rows {
		line := htmlRow{Name: row[0], Entry: r.Entry(row[0])}
		for i, text := range row[1:] {
			line.Cells = append(line.Cells, htmlCell{Text: text, Right: i+1 >= t.Words, Badge: t.Head[i+1] == "verdict"})
		}
		h.Rows = append(h.Rows, line)
	}
	return h
}

// A matrixView is the matrix's rows of the strategies that were compared.
type matrixView struct {
	Head []htmlCell // Text and, as a tooltip, what is asked
	Asks []string
	Rows []struct {
		Name  string
		Cells []measure.Cell
	}
}

func (r *Result) matrixView(m *measure.Matrix) *matrixView {
	if m == nil {
		return nil
	}
	v := &matrixView{}
	for _, q := range m.Questions {
		v.Head, v.Asks = append(v.Head, htmlCell{Text: q.Title}), append(v.Asks, q.Asks)
	}
	for _, row := range m.Rows {
		if r.Entry(row.Strategy) == nil {
			continue
		}
		line := struct {
			Name  string
			Cells []measure.Cell
		}{Name: row.Strategy}
		for _, q := range m.Questions {
			line.Cells = append(line.Cells, row.Cells[q.ID])
		}
		v.Rows = append(v.Rows, line)
	}
	if v.Rows == nil {
		return nil
	}
	return v
}
