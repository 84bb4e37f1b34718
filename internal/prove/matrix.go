package prove

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"seckill/internal/backend"
	"seckill/internal/catalog"
)

// An Answer to a question.
type Answer string

const (
	Holds    Answer = "holds"
	Breaks   Answer = "breaks"
	Measured Answer = "measured" // no promise: what was seen
	NotAsked Answer = "n/a"      // does not apply, and why
	Failed   Answer = "failed"   // could not be found out, and why
	Missing  Answer = ""         // not computed (yet)
)

// A Cell is the answer to one question about one strategy.
type Cell struct {
	Answer Answer `json:"answer"`
	Text   string `json:"text,omitempty"` // what was seen, or why not
	Rule   string `json:"rule,omitempty"` // that was broken
	// Also are the other rules that were broken.
	Also []Finding `json:"also,omitempty"`

	// Schedules that were run to their end, of them Random ones drawn at random.
	Schedules int `json:"schedules,omitempty"`
	Random    int `json:"random,omitempty"`
	// Orders are those in which conflicting commands came: schedules that differ in the
	// order of others lead to the same end. 0: they were not counted.
	Orders int `json:"orders,omitempty"`
	// Exhausted: there is no other schedule of its scenarios.
	Exhausted bool `json:"exhausted,omitempty"`
	// Preemptions: all schedules with at most so many were run; nil: that is not
	// known, or all were.
	Preemptions *int `json:"preemptions,omitempty"`
	Cut         int  `json:"cut,omitempty"`    // turns that were left out
	Pruned      int  `json:"pruned,omitempty"` // schedules left off: others are the same

	// Wait is how long the next buyer had to wait, in seconds, at worst.
	Wait    float64 `json:"wait_s,omitempty"`
	Example string  `json:"example,omitempty"` // the counterexample's file
}

// A Row is a strategy.
type Row struct {
	Strategy string          `json:"strategy"`
	Title    string          `json:"title"`
	Cells    map[string]Cell `json:"cells"` // by question
}

// A Matrix is every answer to every question.
type Matrix struct {
	Format    int              `json:"format"`
	Questions []Question       `json:"questions"`
	Rows      []Row            `json:"rows"`
	Backends  []backend.Status `json:"backends"`
	Seed      uint64           `json:"seed"`
	Schedules int              `json:"schedules"` // at most, of one search
	Took      string           `json:"-"`
}

const matrixFormat = 3

func newMatrix(infos []catalog.Info, questions []Question) *Matrix {
	m := &Matrix{Format: matrixFormat, Questions: questions}
	for _, i := range infos {
		m.Rows = append(m.Rows, Row{Strategy: i.Name, Title: i.TitleIn("en"), Cells: map[string]Cell{}})
	}
	return m
}

// A Difference is an answer that came out otherwise than was expected.
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

// promise is a cell's answer, and the rules that it breaks.
func (c Cell) promise() string {
	return strings.TrimSpace(string(c.Answer) + " " + strings.Join(c.rules(), ", "))
}

// Differences are answers that are not those of a published matrix, in either direction,
// and what could not be found out. So are other rules that a strategy breaks. A strategy
// without a row there is compared with what it says of itself, which is no rules. A search
// with a smaller bound may miss what breaks: that is no difference. Nor is a server that
// is not here.
func (m *Matrix) Differences(published *Matrix, infos []catalog.Info) (list []Difference) {
	for _, row := range m.Rows {
		before := published.rowOf(row.Strategy)
		inMatrix := before != nil
		if !inMatrix {
			before = declaredRow(row.Strategy, infos)
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

// sameRules reports whether the cell breaks the published rules, in any order, or only some of
// them if fewer is true.
func (c Cell) sameRules(published Cell, fewer bool) bool {
	is, was := c.rules(), published.rules()
	isNew := func(rule string) bool { return !published.Breaks(rule) }
	return !slices.ContainsFunc(is, isNew) && (fewer || len(is) == len(was))
}

// sameAnswer reports whether two cells promise the same, however far their searches got.
func (c Cell) sameAnswer(d Cell) bool {
	if c.Answer != Measured || d.Answer != Measured {
		return c.Answer == d.Answer
	}
	short, _, _ := strings.Cut(c.Text, ";")
	other, _, _ := strings.Cut(d.Text, ";")
	return short == other
}

// declaredRow returns the answers that a strategy declares (catalog.Info.Guarantees).
func declaredRow(strategy string, infos []catalog.Info) *Row {
	row := &Row{Cells: map[string]Cell{}}
	for _, i := range infos {
		if i.Name == strategy {
			for q, e := range i.Guarantees {
				row.Cells[string(q)] = Cell{Answer: Answer(e)}
			}
		}
	}
	return row
}

// rowOf returns a strategy's row; nil if it has none.
func (m *Matrix) rowOf(strategy string) *Row {
	for i := range m.Rows {
		if m.Rows[i].Strategy == strategy {
			return &m.Rows[i]
		}
	}
	return nil
}

// SameProduct reports whether both were computed on MariaDB, or both on MySQL.
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

// ReadMatrix reads a matrix that was written as JSON.
func ReadMatrix(r io.Reader) (*Matrix, error) {
	var m Matrix
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return nil, fmt.Errorf("this is no matrix of seckill prove: %w", err)
	}
	if m.Format != matrixFormat {
		return nil, fmt.Errorf("this is no matrix that this program knows: it has format %d, not %d; compute it anew "+
			"(make prove)", m.Format, matrixFormat)
	}
	return &m, nil
}

// Merge returns a matrix of infos with the cells of m, and where m has none,
// those of old. What strategies and questions say of themselves is today's.
func (m *Matrix) Merge(old *Matrix, infos []catalog.Info) *Matrix {
	all := newMatrix(infos, Questions())
	all.Seed, all.Schedules, all.Took = m.Seed, m.Schedules, m.Took
	for _, row := range all.Rows {
		for _, from := range []*Matrix{old, m} {
			for _, r := range from.Rows {
				for _, q := range all.Questions {
					if c := r.Cells[q.ID]; r.Strategy == row.Strategy && c.Answer != Missing {
						row.Cells[q.ID] = c
					}
				}
			}
		}
	}
	// Ports change with every run: only another version is news.
	all.Backends = slices.Clone(old.Backends)
	for _, s := range m.Backends {
		i := slices.IndexFunc(all.Backends, func(o backend.Status) bool { return o.Name == s.Name })
		switch {
		case i < 0:
			all.Backends = append(all.Backends, s)
		case s.OK && s.Version != all.Backends[i].Version:
			all.Backends[i] = s
		}
	}
	return all
}
