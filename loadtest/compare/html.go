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

//go:embed style.html
var pageStyle string

// An HTML says how the report is written.
type HTML struct {
	Matrix   *measure.Matrix // of the guarantees; nil: none is shown
	Language string          // one of Languages; "" is English
	// Title names a strategy in the language; nil: by the result's own title.
	Title func(strategy string) string
	Proof *measure.Sentences // the matrix in the language; nil: as it is, in English
}

func (o HTML) title(e *Entry) string {
	if o.Title != nil {
		if title := o.Title(e.Strategy); title != "" {
			return title
		}
	}
	return e.Title
}

// WriteHTML writes the report as one page without network access or scripts.
func (r *Result) WriteHTML(w io.Writer, o HTML) error {
	in := tongueOf(o.Language)
	page := struct {
		*Result
		Lang, Outcome                 string
		Table, Cost, Crowded, Changes *htmlTable
		Pairs                         []string
		Sales, Latency, Commands      *bars
		Cards                         []card
		Baselines                     []*BaselineResult
		Claims                        []Claim
		Matrix                        *matrixView
		About                         [][2]string
	}{Result: r, Lang: in.tag(), Outcome: r.summary(in), Table: r.html(r.strategyTable(), o), Cost: r.html(r.costTable(), o),
		Crowded: r.html(r.salesTable(), o), Sales: r.salesBars(in), Latency: r.latencyBars(), Commands: r.commandBars(),
		Cards: r.cards(in), Baselines: r.baselinesWith(r.Settings.Concurrency), Claims: r.claims(in), Matrix: r.matrixView(o.Matrix, o.Proof, in), About: r.facts(in)}
	for _, row := range r.pairTable(in).Rows {
		page.Pairs = append(page.Pairs, row[0])
	}
	if r.Against != nil {
		page.Changes = r.html(r.changeTable(in), o)
	}
	t, err := template.New("report").Funcs(template.FuncMap{
		"thousands": numbers.Thousands[int64], "badge": badge, "say": in.say, "sayf": in.sayf, "title": o.title, "why": in.why,
		"rate": func(s measure.Spread) string { return in.sayf("%s per second", s) },
	}).Parse(pageStyle)
	if err == nil {
		_, err = t.Parse(reportPage)
	}
	if err != nil {
		return err
	}
	return t.Execute(w, page)
}

// badge is a class of the stylesheet.
func badge(e *Entry) string {
	switch {
	case e.Verdict == ledger.NotValid:
		return "void"
	case e.Expected && e.Verdict != ledger.Held:
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

func (r *Result) html(t measure.Table, o HTML) *htmlTable {
	in := tongueOf(o.Language)
	h := &htmlTable{}
	for _, note := range t.Notes {
		h.Notes = append(h.Notes, in.say(note))
	}
	for i, text := range t.Head {
		h.Head = append(h.Head, htmlCell{Text: in.say(text), Right: i >= t.Words})
	}
	for _, row := range t.Rows {
		line := htmlRow{Name: row[0], Entry: r.Entry(row[0])}
		for i, text := range row[1:] {
			line.Cells = append(line.Cells, htmlCell{Text: in.say(text), Right: i+1 >= t.Words, Badge: t.Head[i+1] == "verdict"})
		}
		h.Rows = append(h.Rows, line)
	}
	return h
}

// A matrixView is the matrix's rows of the strategies that were compared.
type matrixView struct {
	Head []htmlCell // Text and, as a tooltip, what is asked
	Asks []string
	Rows []matrixRow
}

type matrixRow struct {
	Name  string
	Cells []matrixCell
}

type matrixCell struct{ Answer, Sign, Text string }

func (r *Result) matrixView(m *measure.Matrix, said *measure.Sentences, in tongue) *matrixView {
	if m == nil {
		return nil
	}
	v := &matrixView{}
	for _, q := range m.Questions {
		v.Head, v.Asks = append(v.Head, htmlCell{Text: in.say(q.Title)}), append(v.Asks, said.Asks(q))
	}
	for _, row := range m.Rows {
		if r.Entry(row.Strategy) == nil {
			continue
		}
		line := matrixRow{Name: row.Strategy}
		for _, q := range m.Questions {
			c := row.Cells[q.ID]
			line.Cells = append(line.Cells, matrixCell{c.Answer, said.Sign(c), said.Text(c)})
		}
		v.Rows = append(v.Rows, line)
	}
	if v.Rows == nil {
		return nil
	}
	return v
}
