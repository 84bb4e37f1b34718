package loadtest

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
)

// damaging are the questions of the guarantee matrix whose “breaks” sells wrongly
// or stops the sale while all servers work, what happens in them, and how many
// processes it takes.
var damaging = []struct {
	question, when string
	processes      int
}{
	{"oversell", "two buyers at once", 1},
	{"processes", "buyers at two service processes", 2},
	{"lease-end", "a holder that is paused past its lease", 1},
	{"dead-holder", "a holder that dies", 1},
}

// A Known schedule breaks a strategy, whatever one run says.
type Known struct {
	Strategy string `json:"strategy"`
	Question string `json:"question"` // the column of the guarantee matrix
	Example  string `json:"example"`  // the page plays it at #/trace/EXAMPLE
}

// When says what happens in it.
func (k Known) When() string {
	for _, d := range damaging {
		if d.question == k.Question {
			return d.when
		}
	}
	return k.Question
}

// HeldThisTime is what a run that held says when schedules are known that break
// its strategy, with how to see them; "" without any.
func HeldThisTime(strategy string, known []Known) string {
	if len(known) == 0 {
		return ""
	}
	var b strings.Builder
	var played []string
	fmt.Fprintf(&b, "%s held this time; a schedule is known that breaks it.\n", strategy)
	for _, k := range known {
		fmt.Fprintf(&b, "  %s: %s\n", k.When(), "seckill prove --replay "+k.Example)
		played = append(played, "#/trace/"+k.Example)
	}
	fmt.Fprintf(&b, "  The page of seckill up plays it at %s.", strings.Join(played, " and "))
	return b.String()
}

// Counterexamples are those of a guarantee matrix.
type Counterexamples map[string]map[string]string // strategy, question, name of the example

// ReadCounterexamples reads them from what `seckill prove --json` wrote.
func ReadCounterexamples(r io.Reader) (Counterexamples, error) {
	var matrix struct {
		Rows []struct {
			Strategy string
			Cells    map[string]struct{ Answer, Example string }
		}
	}
	if err := json.NewDecoder(io.LimitReader(r, 16<<20)).Decode(&matrix); err != nil {
		return nil, fmt.Errorf("this is no guarantee matrix: %w", err)
	}
	all := Counterexamples{}
	for _, row := range matrix.Rows {
		for question, cell := range row.Cells {
			if cell.Answer != "breaks" || cell.Example == "" {
				continue
			}
			if all[row.Strategy] == nil {
				all[row.Strategy] = map[string]string{}
			}
			all[row.Strategy][question] = strings.TrimSuffix(path.Base(cell.Example), ".json")
		}
	}
	return all, nil
}

// Breaking are the schedules that a run names that held: those that break its
// strategy with that many processes, with all alive or with a holder that
// is paused or dies.
func (c Counterexamples) Breaking(strategy string, processes int) (known []Known) {
	for _, d := range damaging {
		if example := c[strategy][d.question]; example != "" && processes >= d.processes {
			known = append(known, Known{strategy, d.question, example})
		}
	}
	return known
}
