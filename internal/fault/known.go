package fault

import (
	"encoding/json"
	"fmt"
	"io"
	"path"
	"strings"
)

// Columns of the guarantee matrix that ask what a fault does.
const (
	deadHolder = "dead-holder"
	leaseEnd   = "lease-end"
	nodeLoss   = "node-loss"
)

// Faultless are the columns that ask what happens with everybody alive.
var Faultless = []string{"oversell", "lost-update", "processes"}

// A Known order of commands breaks a strategy, whatever one run says.
type Known struct {
	Strategy string `json:"strategy"`
	Question string `json:"question"` // the column of the guarantee matrix
	Fault    Name   `json:"fault,omitempty"`
	Example  string `json:"example"` // the page plays it at #/trace/EXAMPLE
}

// HeldThisTime is what a run that held says of it, in front of a link.
const HeldThisTime = "held this time; an order is known that breaks it"

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

// Under are the orders that break a strategy under a fault.
func (c Counterexamples) Under(strategy string, name Name) []Known {
	f, err := Find(name)
	if err != nil {
		return nil
	}
	known := c.To(strategy, f.Question)
	for i := range known {
		known[i].Fault = name
	}
	return known
}

// To are the orders that answer these questions with “breaks”.
func (c Counterexamples) To(strategy string, questions ...string) (known []Known) {
	for _, q := range questions {
		if example := c[strategy][q]; example != "" {
			known = append(known, Known{Strategy: strategy, Question: q, Example: example})
		}
	}
	return known
}
