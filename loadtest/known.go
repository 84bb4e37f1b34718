package loadtest

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
)

// damaging are the questions of the guarantee matrix whose “breaks” sells wrongly
// or stops the sale, what happens in them, and how many processes it takes. Those
// of a server count in runs only that had such a fault.
var damaging = []struct {
	question, when string
	processes      int
	server         bool
}{
	{"oversell", "two buyers at once", 1, false},
	{"processes", "buyers at two service processes", 2, false},
	{"lease-end", "a holder that is paused past its lease", 1, false},
	{"dead-holder", "a holder that dies", 1, false},
	{"node-loss", "a server that loses its data", 1, true},
	{"lost-reply", "a reply that is lost", 1, true},
	{"late-command", "a command that comes late", 1, true},
	{"clocks", "a clock that jumps", 2, true},
}

// A Known schedule breaks a strategy, whatever one run says.
type Known struct {
	Strategy string `json:"strategy"`
	Question string `json:"question"`        // the column of the guarantee matrix
	Fault    string `json:"fault,omitempty"` // of the run, if it had one that asks the same and could matter
	Example  string `json:"example"`         // the page plays it at #/trace/EXAMPLE
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
// is paused or dies, whether or not the run had such a fault. Others count if the
// run had a fault that could matter; asked has each by the question that it asks.
func (c Counterexamples) Breaking(strategy string, processes int, asked map[string]string) (known []Known) {
	for _, d := range damaging {
		example := c[strategy][d.question]
		if example == "" || processes < d.processes || d.server && asked[d.question] == "" {
			continue
		}
		known = append(known, Known{strategy, d.question, asked[d.question], example})
	}
	return known
}
