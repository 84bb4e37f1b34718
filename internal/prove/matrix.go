package prove

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
)

// An Answer is the kind of answer to a question.
type Answer string

const (
	Holds    Answer = "holds"
	Breaks   Answer = "breaks"
	Measured Answer = "measured" // the answer is a measurement, which Cell.Text describes
	NotAsked Answer = "n/a"      // the question does not apply; Cell.Text says why
	Failed   Answer = "failed"   // the answer could not be computed; Cell.Text says why
	Missing  Answer = ""         // the answer has not been computed
)

// A Cell is the answer to one question about one strategy.
type Cell struct {
	Answer Answer `json:"answer"`
	Text   string `json:"text,omitempty"` // what was observed, or the reason for the answer
	Rule   string `json:"rule,omitempty"` // the broken rule
	// Also lists the other broken rules.
	Also []Finding `json:"also,omitempty"`

	explore.Bounds // the sum of the bounds of all searches for this answer

	// Wait is the longest time, in seconds, that the next buyer had to wait after a buyer's death.
	Wait    float64 `json:"wait_s,omitempty"`
	Example string  `json:"example,omitempty"` // file name of the counterexample
}

// A Row contains the answers about one strategy.
type Row struct {
	Strategy string          `json:"strategy"`
	Title    string          `json:"title"`
	Cells    map[string]Cell `json:"cells"` // the keys are IDs of questions
}

// A Matrix contains the answer to every question about every strategy.
type Matrix struct {
	Format    int              `json:"format"`
	Questions []Question       `json:"questions"`
	Rows      []Row            `json:"rows"`
	Backends  []backend.Status `json:"backends"`
	Seed      uint64           `json:"seed"`
	Schedules int              `json:"schedules"` // the maximum number of schedules of one search
	Took      string           `json:"-"`         // how long the proof took; its caller sets this
}

const matrixFormat = 3

func newMatrix(o Options) *Matrix {
	m := &Matrix{Format: matrixFormat, Questions: chooseQuestions(o.Questions), Seed: o.Seed, Schedules: o.Schedules}
	for _, i := range o.Infos {
		m.Rows = append(m.Rows, Row{Strategy: i.Name, Title: i.TitleIn("en"), Cells: map[string]Cell{}})
	}
	return m
}

// A Difference is an answer that differs from the expected one.
type Difference struct {
	Strategy string
	Question Question
	Expected string
	Cell     Cell
}

func (d Difference) String() string {
	return fmt.Sprintf("%s, %s: it is said that it %s, and it %s: %s", d.Strategy, d.Question.Title, d.Expected,
		d.Cell.promise(), d.Cell.Text)
}

func (c Cell) promise() string {
	return strings.TrimSpace(string(c.Answer) + " " + strings.Join(c.rules(), ", "))
}

// Differences compares m with a published matrix. It returns the answers that differ, broken rules that differ, and
// cells that failed. A strategy without a row in the published matrix is compared with its declared answers
// (catalog.Info.Guarantees), which name no rules. It is no difference if a search with smaller limits misses a
// violation, or if a question needs a server that is missing here.
func (m *Matrix) Differences(published *Matrix, infos []catalog.Info) []Difference {
	var list []Difference
	declared := declaredMatrix(infos)
	for _, row := range m.Rows {
		before := published.rowOf(row.Strategy)
		inMatrix := before != nil
		if !inMatrix {
			before = declared.rowOf(row.Strategy)
		}
		for _, q := range m.Questions {
			was, is := before.Cells[q.ID], row.Cells[q.ID]
			switch {
			case is.Answer == Failed:
				list = append(list, Difference{row.Strategy, q, "can be asked", is})
			case was.Answer == Missing, is.Answer == Missing:
			case is.sameAnswer(was) && (!inMatrix || is.sameRules(was, m.Schedules < published.Schedules)):
			case is.Answer == NotAsked && (!inMatrix || q.ID == NodeLossQuestion):
			case was.Answer == Breaks && is.Answer != Breaks && m.Schedules < published.Schedules:
			default:
				list = append(list, Difference{row.Strategy, q, was.promise(), is})
			}
		}
	}
	return list
}

// sameRules reports whether c breaks the same rules as the published cell. If allowFewer is true, it is enough
// that c breaks some of these rules and no others.
func (c Cell) sameRules(published Cell, allowFewer bool) bool {
	is, was := c.rules(), published.rules()
	isNew := func(rule string) bool { return !published.Breaks(rule) }
	return !slices.ContainsFunc(is, isNew) && (allowFewer || len(is) == len(was))
}

// sameAnswer reports whether two cells have the same answer, regardless of the limits of their
// searches. Measured answers are compared up to the first semicolon of their texts.
func (c Cell) sameAnswer(d Cell) bool {
	if c.Answer != Measured || d.Answer != Measured {
		return c.Answer == d.Answer
	}
	short, _, _ := strings.Cut(c.Text, ";")
	other, _, _ := strings.Cut(d.Text, ";")
	return short == other
}

func declaredMatrix(infos []catalog.Info) *Matrix {
	m := newMatrix(Options{Infos: infos})
	for i, info := range infos {
		for q, e := range info.Guarantees {
			m.Rows[i].Cells[string(q)] = Cell{Answer: Answer(e)}
		}
	}
	return m
}

// rowOf returns the row of a strategy, or nil.
func (m *Matrix) rowOf(strategy string) *Row {
	i := slices.IndexFunc(m.Rows, func(r Row) bool { return r.Strategy == strategy })
	if i < 0 {
		return nil
	}
	return &m.Rows[i]
}

// SameProduct reports whether both matrices were computed on MariaDB, or both on MySQL.
func (m *Matrix) SameProduct(o *Matrix) bool {
	product := func(m *Matrix) (name string) {
		for _, s := range m.Backends {
			if s.Name == backend.NameMySQL {
				name, _, _ = strings.Cut(s.Version, " ")
			}
		}
		return name
	}
	return product(m) == product(o)
}

// ReadMatrix reads a matrix in JSON.
func ReadMatrix(r io.Reader) (*Matrix, error) {
	var m Matrix
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("not a matrix of seckill prove: %w", err)
	}
	if m.Format != matrixFormat {
		return nil, fmt.Errorf("the matrix has format %d, but this program reads format %d; "+
			"compute it again (make prove)", m.Format, matrixFormat)
	}
	return &m, nil
}

// setBackends records which servers were used, without their addresses, which differ in every run. It replaces the
// entry of a backend only if the backend has another version now.
func (m *Matrix) setBackends(servers []backend.Status) {
	for _, s := range servers {
		s.Address = ""
		switch i := slices.IndexFunc(m.Backends, func(o backend.Status) bool { return o.Name == s.Name }); {
		case i < 0:
			m.Backends = append(m.Backends, s)
		case s.OK && s.Version != m.Backends[i].Version:
			m.Backends[i] = s
		}
	}
}

// Merge returns the matrix of a proof with the options o. Its cells come from the given matrices. If several matrices
// have a cell, Merge takes the cell of the last one.
func Merge(o Options, matrices ...*Matrix) *Matrix {
	all := newMatrix(o)
	for _, m := range matrices {
		for _, r := range m.Rows {
			row := all.rowOf(r.Strategy)
			for _, q := range all.Questions {
				if c := r.Cells[q.ID]; row != nil && c.Answer != Missing {
					row.Cells[q.ID] = c
				}
			}
		}
		all.setBackends(m.Backends)
	}
	return all
}
