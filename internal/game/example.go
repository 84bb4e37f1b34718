package game

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"seckill/internal/explore"
)

// An Example is one schedule of a strategy in the form in which a file stores it. It has the choices, the steps to
// which they led, and the problems that the judge found.
type Example struct {
	Format   int               `json:"format"` // always exampleFormat
	Strategy string            `json:"strategy"`
	Question string            `json:"question,omitempty"` // the ID of the question that the example answers
	Scenario explore.Scenario  `json:"scenario"`
	Schedule string            `json:"schedule"` // the choices as one text, which FormatSchedule writes
	Steps    []explore.Step    `json:"steps"`
	Held     []explore.Belief  `json:"held,omitempty"`
	Problems []explore.Problem `json:"problems"`
	Told     []explore.Answer  `json:"told"`
}

const exampleFormat = 1

func NewExample(strategy, question string, s *explore.Schedule) Example {
	return Example{exampleFormat, strategy, question, *s.Scenario, FormatSchedule(s.Choices()...),
		s.Steps, s.Held, s.Problems, s.Answers()}
}

// Write writes the example as JSON.
func (e Example) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(e)
}

// WriteSteps writes one line for each step, followed by the values on the servers if the step changed them.
// The buyers' answers and the problems come last.
func (e Example) WriteSteps(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", e.Strategy, e.Scenario.Name)
	for i, s := range e.Steps {
		fmt.Fprintf(&b, "%2d  %s\n", i+1, s)
		if i > 0 && slices.Equal(s.Values, e.Steps[i-1].Values) {
			continue
		}
		for _, v := range s.Values {
			fmt.Fprintf(&b, "        %s = %s\n", v.Name, v.Value)
		}
	}
	for _, t := range e.Told {
		fmt.Fprintf(&b, "    %s was told: %s\n", t.Who, t.Answer)
	}
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "    %s: %s\n", p.Rule, p.Message)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ReadExample reads a file that Write has written. It returns an error for any other content.
func ReadExample(r io.Reader) (e Example, err error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return e, fmt.Errorf("this is not a counterexample of seckill prove: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("this is not a counterexample of seckill prove: there is more text after its end")
	}
	if e.Format != exampleFormat {
		return e, fmt.Errorf("the counterexample has format %d, this program knows %d", e.Format, exampleFormat)
	}
	if err := checkScenario(&e.Scenario); err != nil {
		return e, fmt.Errorf("the counterexample makes no sense: %w", err)
	}
	if e.Schedule == "" {
		return e, errors.New("the counterexample has no schedule")
	}
	_, err = ReadSchedule(e.Schedule)
	return e, err
}
