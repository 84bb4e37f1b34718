package tables

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Table is one part of a report: words on the left, figures on the right.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
	Notes []string // how to read it; on a terminal
	Words int      // columns that are words, from the left
}

// A Report is a result for people, in the forms that all commands write: as text
// for a terminal, as Markdown, as CSV, and as JSON for programs.
type Report struct {
	Answer   []string    // what it came to, in sentences; first of all
	Facts    [][2]string // what it rests on, by name; not in Markdown
	Tables   []Table     // those without rows are left out
	Problems []string
	Summary  string // in one sentence
	JSON     any
	From     string // where it comes from, in a line of Markdown

	// Name is that of the result's block in Markdown files, and of its member in the file
	// that the lessons read, which is Figures, or else JSON.
	Name    string
	Figures any
}

// WriteText writes the report for a terminal: its tables in Markdown, too, with aligned
// columns.
func (r Report) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, line := range r.Answer {
		fmt.Fprintln(&b, line)
	}
	r.writeTables(&b, true)
	b.WriteString("\n")
	for _, fact := range r.Facts {
		fmt.Fprintf(&b, "%-12s%s\n", fact[0], fact[1])
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "Problem: %s\n", p)
	}
	if r.Summary != "" {
		fmt.Fprintf(&b, "\n%s.\n", r.Summary)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteMarkdown writes the report for a page.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s.\n", r.From)
	for _, line := range slices.Concat(r.Answer, r.Problems) {
		fmt.Fprintf(&b, "\n%s\n", line)
	}
	r.writeTables(&b, false)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteCSV writes the facts and the tables.
func (r Report) WriteCSV(w io.Writer) error {
	var lines [][]string
	for _, fact := range r.Facts {
		lines = append(lines, fact[:])
	}
	for _, t := range r.Tables {
		if t.Rows != nil {
			lines = append(append(lines, t.Head), t.Rows...)
		}
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// WriteJSON writes the result for programs.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(r.JSON)
}

func (r Report) writeTables(b *strings.Builder, terminal bool) {
	for _, t := range r.Tables {
		if t.Rows != nil {
			t.writeTable(b, terminal)
		}
	}
}

// writeTable writes the table in Markdown; for a terminal its columns are aligned, and the
// notes follow.
func (t Table) writeTable(b *strings.Builder, terminal bool) {
	fmt.Fprintf(b, "\n### %s\n\n", t.Title)
	rule := make([]string, len(t.Head))
	for i := range rule {
		if rule[i] = "--:"; i < t.Words {
			rule[i] = "---"
		}
	}
	rows, widths := slices.Concat([][]string{t.Head, rule}, t.Rows), make([]int, len(t.Head))
	for i := range widths {
		for _, row := range rows {
			if terminal {
				widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
			}
		}
		if i < t.Words { // to the left
			widths[i] = -widths[i]
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(b, "| %*s ", widths[i], strings.ReplaceAll(cell, "|", `\|`))
		}
		b.WriteString("|\n")
	}
	for _, n := range t.Notes {
		if terminal {
			fmt.Fprintf(b, "\n%s\n", n)
		}
	}
}

// A Machine is where a run was measured.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
	Go   string `json:"go"`
}

// ThisMachine describes the machine of this process.
func ThisMachine() Machine {
	return Machine{runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()}
}

func (m Machine) String() string {
	return fmt.Sprintf("%d processors, %s/%s, %s", m.CPUs, m.OS, m.Arch, m.Go)
}

// A Run says where figures come from.
type Run struct {
	Command string    `json:"command"`
	Begun   time.Time `json:"begun"`
	Machine
	Servers []string `json:"servers"` // as backend.Versions names them
}

// String is a line of Markdown.
func (r Run) String() string {
	text := fmt.Sprintf("`%s`, %s, %d processors, %s", r.Command, r.Begun.UTC().Format("2006-01-02"), r.CPUs, r.OS)
	return strings.Join(append([]string{text}, r.Servers...), ", ")
}

// splitAtMarks reads what a Markdown file has before and after a block, which stands between
// the lines <!-- NAME: … --> and <!-- /NAME -->. These stay with what is around it; a
// file that is not there yet is those two.
func splitAtMarks(file, name string) (before, after string, err error) {
	if info, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "<!-- " + name + ": written by seckill -->\n", "<!-- /" + name + " -->\n", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	found := regexp.MustCompile(`(?s)^(.*<!-- ` + name + `: [^\n]*-->\n).*(<!-- /` + name + ` -->.*)$`).FindSubmatch(text)
	if found == nil {
		return "", "", fmt.Errorf("%s: there are no lines <!-- %s: … --> and <!-- /%[2]s --> to write between", file, name)
	}
	return string(found[1]), string(found[2]), nil
}

// CheckBlock says why a Markdown file has no place for a block.
func CheckBlock(file, name string) error {
	_, _, err := splitAtMarks(file, name)
	return err
}

// WithBlock writes a Markdown file as it is now, with what block writes between
// its marks.
func WithBlock(file, name string, block func(io.Writer) error) func(io.Writer) error {
	return func(w io.Writer) error {
		before, after, err := splitAtMarks(file, name)
		if err != nil {
			return err
		}
		_, first := io.WriteString(w, before)
		second := block(w)
		_, last := io.WriteString(w, after)
		return errors.Join(first, second, last)
	}
}

// WithMember writes a file that holds a JSON object, if there is one, with this
// member in place of the one of that name.
func WithMember(file, name string, value any) func(io.Writer) error {
	return func(w io.Writer) error {
		all := map[string]json.RawMessage{}
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", file, err)
		}
		if all[name], err = json.Marshal(value); err != nil {
			return err
		}
		for i, member := range slices.Sorted(maps.Keys(all)) { // a line each, so that a change shows where it is
			open := ",\n"
			if i == 0 {
				open = "{"
			}
			if _, err := fmt.Fprintf(w, "%s%q:%s", open, member, all[member]); err != nil {
				return err
			}
		}
		_, err = io.WriteString(w, "}\n")
		return err
	}
}
