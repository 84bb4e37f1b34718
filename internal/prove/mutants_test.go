package prove_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
)

// Each file of the folder mutants takes one guard out of the program. The question
// that finds the original sound (by the matrix in the program) must break the
// mutant: what it asks can fail.
func TestQuestionsCatchMutants(t *testing.T) {
	sound, builds := published(t), [][]mutant{}
	for _, m := range mutants(t) {
		for _, s := range m.strategies {
			if sound[s][m.question].Answer != prove.Holds {
				t.Errorf("%s: the matrix does not say that %s holds %s: name a question that does", m.name, s, m.question)
			}
		}
		m.apply(t)
		if labtest.Verify || slices.Contains(quick, m.name) {
			builds = together(builds, m)
		}
	}
	atOnce := make(chan bool, 2) // a build and a proof keep a core busy each
	for i, build := range builds {
		t.Run(fmt.Sprint("build ", i+1), func(t *testing.T) {
			t.Parallel()
			atOnce <- true
			defer func() { <-atOnce }()
			program := seckill(t, build)
			for _, m := range build {
				t.Run(m.name, func(t *testing.T) { m.prove(t, program) })
			}
		})
	}
}

// quick are the mutants of make test, as different from each other as there are in
// one build. make verify has all.
var quick = []string{"version-not-raised", "lock-insert-blind-delete", "redis-registry-by-process", "redis-counter-gives-to-any-sale", "one-trip-any-number"}

// together adds a mutant to a build that has none of the same strategies: families of
// strategies do not import each other. What all share is changed in a build of its own.
func together(builds [][]mutant, m mutant) [][]mutant {
	for i, build := range builds {
		if m.family() != "" && !slices.ContainsFunc(build, func(o mutant) bool { return o.family() == "" || o.family() == m.family() }) {
			builds[i] = append(build, m)
			return builds
		}
	}
	return append(builds, []mutant{m})
}

// family is the folder of the strategies that the mutant changes; "" if it changes more.
func (m *mutant) family() (folder string) {
	for _, h := range m.hunks {
		if of := filepath.Dir(h.file); filepath.Dir(of) != "strategies" || folder != "" && folder != of {
			return ""
		}
		folder = filepath.Dir(h.file)
	}
	return folder
}

// A mutant is a patch file: three lines that say what it is, and a unified diff.
type mutant struct {
	name       string
	strategies []string // each must break
	question   string
	removed    string
	schedules  string // of a search, enough to catch it
	hunks      []hunk
	replaced   map[string]string // the text of the files that it changes
}

// A hunk replaces lines that are in a file once, wherever they are by now.
type hunk struct{ file, was, is string }

func mutants(t *testing.T) (all []mutant) {
	t.Helper()
	files, err := filepath.Glob("mutants/*.patch")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d mutants, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := mutant{name: strings.TrimSuffix(filepath.Base(file), ".patch"), schedules: "12", replaced: map[string]string{}}
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && m.hunks == nil {
				switch name {
				case "Strategies":
					m.strategies = strings.Split(value, ", ")
				case "Question":
					m.question = value
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

// add reads a line of the diff.
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

// apply changes the text of files, and not the files.
func (m *mutant) apply(t *testing.T) {
	t.Helper()
	for _, h := range m.hunks {
		text, read := m.replaced[h.file]
		if !read {
			b, err := os.ReadFile(filepath.Join("../..", h.file))
			if err != nil {
				t.Fatal(err)
			}
			text = string(b)
		}
		if n := strings.Count(text, h.was); n != 1 {
			t.Fatalf("mutants/%s.patch does not apply any more: %s has these lines %d times, and must have them once:\n%s"+
				"Take the same guard out of today's %[2]s by hand and put the output of git diff below the patch's header; "+
				"delete the patch if the guard has gone for good.", m.name, h.file, n, h.was)
		}
		m.replaced[h.file] = strings.Replace(text, h.was, h.is, 1)
	}
}

// seckill builds the program with the files as the mutants have them.
func seckill(t *testing.T, mutants []mutant) (program string) {
	t.Helper()
	folder := t.TempDir()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	changed := map[string]string{}
	for _, m := range mutants {
		names = append(names, m.name)
		for file, text := range m.replaced {
			copied := filepath.Join(folder, fmt.Sprint(len(changed), filepath.Ext(file)))
			if err := os.WriteFile(copied, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			changed[filepath.Join(root, file)] = copied
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": changed})
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(folder, "seckill")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(folder, "overlay.json"), "-buildvcs=false",
		"-tags", "nomsgpack", "-ldflags=-s -w", "-o", program, "./cmd/seckill") // as make build does
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s do not build: %v\n%s", strings.Join(names, ", "), err, out)
	}
	return program
}

// prove has the program ask the mutant's question.
func (m *mutant) prove(t *testing.T, program string) {
	ask := exec.CommandContext(t.Context(), program, "prove", "--strategies", strings.Join(m.strategies, ","), "--questions", m.question,
		"--schedules", m.schedules, "--workers", "1", "-q", "--json", "-", "--examples", t.TempDir())
	var said, wrong bytes.Buffer
	ask.Stdout, ask.Stderr = &said, &wrong
	ended := ask.Run() // status 10: it came out otherwise than the matrix has it
	answers, err := prove.ReadMatrix(&said)
	if err != nil {
		t.Fatalf("%v: %v\n%s", ended, err, wrong.Bytes())
	}
	for _, r := range answers.Rows {
		if c := r.Cells[m.question]; c.Answer != prove.Breaks {
			t.Errorf("%s without %s passes the question %s: %s", r.Strategy, m.removed, m.question, c.Summary())
		} else {
			t.Log(r.Strategy, c.Summary())
		}
	}
}

// published are the cells of the matrix in the program.
func published(t *testing.T) map[string]map[string]prove.Cell {
	t.Helper()
	f, err := os.Open("../../web/guarantees/matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := prove.ReadMatrix(f)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[string]prove.Cell{}
	for _, r := range m.Rows {
		rows[r.Strategy] = r.Cells
	}
	return rows
}
