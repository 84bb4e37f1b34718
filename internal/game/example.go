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

// An Example is one schedule of a strategy in a file: the choices that it is made
// of, what came of them, and what was wrong.
type Example struct {
	Format   int               `json:"format"` // exampleFormat
	Strategy string            `json:"strategy"`
	Question string            `json:"question,omitempty"` // which cell of the matrix it answers
	Scenario explore.Scenario  `json:"scenario"`
	Schedule string            `json:"schedule"` // as FormatSchedule
	Steps    []explore.Step    `json:"steps"`
	Held     []explore.Belief  `json:"held,omitempty"`
	Problems []explore.Problem `json:"problems"`
	Told     []explore.Answer  `json:"told"`
}

const exampleFormat = 1

// NewExample describes a schedule.
func NewExample(strategy, question string, s *explore.Schedule) Example {
	return Example{exampleFormat, strategy, question, *s.Scenario, FormatSchedule(s.Choices()...), s.Steps, s.Held, s.Problems, s.Told()}
}

// Write writes the file's text.
func (e Example) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(e)
}

// WriteSteps writes what happened, one step a line, with the values that the servers
// kept after it if they changed, what the buyers were told, and what was wrong.
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

// Choices are those that the example is made of.
func (e Example) Choices() ([]explore.Choice, error) {
	list, err := ParseSchedule(e.Schedule)
	if err != nil {
		return nil, fmt.Errorf("the schedule %.60q makes no sense at %w", e.Schedule, err)
	}
	return list, nil
}

// ReadExample reads the text of a counterexample's file, and refuses what
// Write would not write.
func ReadExample(r io.Reader) (e Example, err error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&e); err != nil {
		return e, fmt.Errorf("this is no counterexample of seckill prove: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("this is no counterexample of seckill prove: something follows its end")
	}
	if e.Format != exampleFormat {
		return e, fmt.Errorf("the counterexample has format %d, this program knows %d", e.Format, exampleFormat)
	}
	if err := ofExamples.checkScenario(&e.Scenario); err != nil {
		return e, fmt.Errorf("the counterexample makes no sense: %w", err)
	}
	if e.Schedule == "" {
		return e, errors.New("the counterexample has no schedule")
	}
	_, err = e.Choices()
	return e, err
}
