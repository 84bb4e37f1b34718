// Package tables writes results for people. It formats numbers, and writes tables and reports as
// text, Markdown, CSV and JSON. It also replaces marked blocks of Markdown files.
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
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// A Table is one table of a report. Its first columns contain words, the other columns figures.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
	Notes []string // explanations below the table; only WriteText writes them
	Words int      // the number of leading columns that contain words; the other columns contain figures
}

// A Report is the result of a command in all its forms: text for a terminal, Markdown, CSV, and JSON for programs.
type Report struct {
	Answer   []string    // the result in a few sentences, written first
	Facts    [][2]string // names and values that describe the run; WriteMarkdown leaves them out
	Tables   []Table     // the tables; a table without rows is not written
	Problems []string
	Summary  string // the result in one sentence
	JSON     any    // the value that WriteJSON writes
	From     string // where the figures come from, as a line of Markdown

	// Name is the name of the report's block in Markdown files. The lessons' JSON file has a member of this
	// name, too. The member's value is Figures, or JSON if Figures is nil.
	Name    string
	Figures any
}

// WriteText writes the report for a terminal, with aligned tables.
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

// WriteMarkdown writes the report as a part of a Markdown page.
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

// WriteCSV writes the facts and the tables as comma-separated values.
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

// WriteJSON writes the field JSON, encoded as JSON, for programs.
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

// writeTable writes the table in Markdown. For a terminal, it also aligns the columns and writes the notes.
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
		if i < t.Words { // A negative width aligns a word to the left.
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

// A Machine is the computer on which a run was measured.
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

// A Run says where figures come from: which command measured them, when, and on which machine.
type Run struct {
	Command string    `json:"command"`
	Begun   time.Time `json:"begun"`
	Machine
	Servers []string `json:"servers"` // the version and the origin of each server, as backend.Versions returns them
}

// String returns the run as a line of Markdown with its command, time and machine.
func (r Run) String() string {
	text := fmt.Sprintf("`%s`, %s, %d processors, %s", r.Command, r.Begun.UTC().Format("2006-01-02"), r.CPUs, r.OS)
	return strings.Join(append([]string{text}, r.Servers...), ", ")
}

// splitAtMarks returns the parts of a Markdown file before and after the block with this name. The block is
// between the lines <!-- NAME: … --> and <!-- /NAME -->, which belong to the parts. If the file does not
// exist, the parts are these two lines alone.
func splitAtMarks(file, name string) (before, after string, err error) {
	if info, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return "<!-- " + name + ": written by seckill -->\n", "<!-- /" + name + " -->\n", nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	block := regexp.MustCompile(`(?s)^(.*<!-- ` + name + `: [^\n]*-->\n).*(<!-- /` + name + ` -->.*)$`)
	found := block.FindSubmatch(text)
	if found == nil {
		return "", "", fmt.Errorf("%s: there are no lines <!-- %s: … --> and <!-- /%[2]s --> to write between",
			file, name)
	}
	return string(found[1]), string(found[2]), nil
}

// CheckBlock returns an error if a Markdown file exists and lacks the two lines around the block with this name.
func CheckBlock(file, name string) error {
	_, _, err := splitAtMarks(file, name)
	return err
}

// WithBlock returns a function that writes the Markdown file again. The returned function replaces the block with this
// name by the output of the function block.
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

// WithMember returns a function that writes the JSON object in file again, with value as its member with this
// name. If the file does not exist, the object has only this member.
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
		// Each member has a line of its own, so that diffs are small.
		for i, member := range slices.Sorted(maps.Keys(all)) {
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

// Map returns a list with the result of f for each element of list.
func Map[S ~[]E, E, R any](list S, f func(E) R) (made []R) {
	for _, e := range list {
		made = append(made, f(e))
	}
	return made
}

// Thousands formats a number with its digits in groups of three: 12,345.
func Thousands[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Count returns a number with a noun: 1 unit, 2 units.
func Count[N int | int64](n N, thing string) string { return CountOf(n, thing, thing+"s") }

// CountOf does what Count does, for a noun with an irregular plural.
func CountOf[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Duration formats microseconds with three significant digits, in ms or s.
func Duration(us int64) string {
	ms := float64(us) / 1000
	if ms >= 999.5 {
		return strconv.FormatFloat(ms/1000, 'f', 2, 64) + " s"
	}
	return Number(ms) + " ms"
}

// Span formats a duration as a person types it, such as 1m. (String would return 1m0s.)
func Span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// None is the text in a table where there is no figure.
const None = "–"

// Number formats x with three significant digits, or as a whole number from 1,000 on.
func Number(x float64) string {
	switch {
	case x >= 999.5:
		return Thousands(int64(x + .5))
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
