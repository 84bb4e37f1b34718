package prove_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
)

// Each file in the folder mutants is a patch that removes one guard from the program. It names a
// question that the original passes according to the published matrix, or a rule that the original
// does not break there. make verify proves that the mutant fails the question.
func TestMutantsApply(t *testing.T) {
	sound := published(t)
	for _, m := range mutants(t) {
		for _, s := range m.strategies {
			c := sound[s][m.question]
			switch c.Answer {
			case prove.Holds, prove.Measured:
			case prove.Breaks:
				if m.rule == "" || c.Breaks(m.rule) {
					t.Errorf("%s: by the matrix, %s breaks %s anyway: name another question, or a rule that only the mutant breaks", m.name, s, m.question)
				}
			default:
				t.Errorf("%s: the matrix does not say that %s holds %s: name a question that does", m.name, s,
					m.question)
			}
		}
		m.apply(t)
	}
}

// A mutant is a patch file: three lines of description and a unified diff.
type mutant struct {
	name       string
	strategies []string // each of them must break
	question   string
	rule       string // the rule that only the mutant breaks; "" stands for any rule
	removed    string
	schedules  string // the number of schedules per search with which the proof finds a violation
	hunks      []hunk
	replaced   map[string]string // the changed text of each file
}

// A hunk replaces lines that occur in the file exactly once. The line numbers do not matter.
type hunk struct{ file, was, is string }

func mutants(t *testing.T) (all []mutant) {
	t.Helper()
	files, err := filepath.Glob("mutants/*.patch")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d mutants, %v", len(files), err)
	}
	for _, file := range files {
		text := labtest.Value(os.ReadFile(file)).Must(t)
		m := mutant{name: strings.TrimSuffix(filepath.Base(file), ".patch"), schedules: "12",
			replaced: map[string]string{}}
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && m.hunks == nil {
				switch name {
				case "Strategies":
					m.strategies = strings.Split(value, ", ")
				case "Question":
					m.question = value
				case "Rule":
					m.rule = value
				case "Removed":
					m.removed = value
				case "Schedules":
					m.schedules = value
				}
			}
			m.add(line)
		}
		if m.strategies == nil || m.question == "" || m.removed == "" || m.hunks == nil {
			t.Fatalf("%s must begin with the lines Strategies:, Question: and Removed:, and have a diff", file)
		}
		all = append(all, m)
	}
	return all
}

// add parses a line of the diff.
func (m *mutant) add(line string) {
	if file, ok := strings.CutPrefix(line, "+++ b/"); ok {
		m.hunks = append(m.hunks, hunk{file: strings.TrimSpace(file)})
		return
	}
	if len(m.hunks) == 0 || strings.HasPrefix(line, "--- ") {
		return
	}
	h := &m.hunks[len(m.hunks)-1]
	switch line[0] {
	case '@':
		if h.was != "" {
			m.hunks = append(m.hunks, hunk{file: h.file})
		}
	case '-':
		h.was += line[1:]
	case '+':
		h.is += line[1:]
	default:
		line = strings.TrimPrefix(line, " ")
		h.was, h.is = h.was+line, h.is+line
	}
}

// apply puts the changed files into m.replaced. It does not write to the files.
func (m *mutant) apply(t *testing.T) {
	t.Helper()
	for _, h := range m.hunks {
		text, read := m.replaced[h.file]
		if !read {
			text = string(labtest.Value(os.ReadFile(filepath.Join("../..", h.file))).Must(t))
		}
		if n := strings.Count(text, h.was); n != 1 {
			t.Fatalf("mutants/%s.patch does not apply any more: %s has these lines %d times, and must have them once:\n%s"+
				"Take the same guard out of today's %[2]s by hand and put the output of git diff below the patch's header; "+
				"delete the patch if the guard has gone for good.", m.name, h.file, n, h.was)
		}
		m.replaced[h.file] = strings.Replace(text, h.was, h.is, 1)
	}
}

// published returns the cells of the matrix that is embedded in the program.
func published(t *testing.T) map[string]map[string]prove.Cell {
	t.Helper()
	f := labtest.Value(os.Open("../../web/guarantees/matrix.json")).Must(t)
	defer f.Close()
	m := labtest.Value(prove.ReadMatrix(f)).Must(t)
	rows := map[string]map[string]prove.Cell{}
	for _, r := range m.Rows {
		rows[r.Strategy] = r.Cells
	}
	return rows
}
