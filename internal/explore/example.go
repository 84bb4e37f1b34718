package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An Example is one schedule of a strategy in a file: the choices that it is made
// of, what came of them, and what was wrong. Replay makes the choices again.
type Example struct {
	Format   int       `json:"format"` // exampleFormat
	Strategy string    `json:"strategy"`
	Question string    `json:"question,omitempty"` // which cell of the matrix it answers
	Scenario Scenario  `json:"scenario"`
	Schedule string    `json:"schedule"` // as FormatSchedule
	Steps    []Step    `json:"steps"`
	Held     []Belief  `json:"held,omitempty"`
	Problems []Problem `json:"problems"`
	Told     []Answer  `json:"told"`
}

// An Answer is what a buyer was told.
type Answer struct {
	Who    string `json:"who"`
	Answer string `json:"answer"`
}

const exampleFormat = 1

// NewExample describes a schedule.
func NewExample(strategy, question string, schedule *Schedule) Example {
	e := Example{Format: exampleFormat, Strategy: strategy, Question: question, Scenario: *schedule.Scenario,
		Schedule: FormatSchedule(schedule.Choices()...), Steps: schedule.Steps, Held: schedule.Held, Problems: schedule.Problems}
	for _, b := range schedule.Buyers {
		e.Told = append(e.Told, Answer{b.Name, schedule.names.Plain(b.answer())})
	}
	return e
}

func (o Outcome) answer() string {
	switch {
	case o.Dead:
		return "died"
	case o.Err != nil:
		return o.Err.Error()
	}
	return actorKinds[o.Does].answer(o)
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

// ReadExample reads a file's text, and refuses what Write would not write.
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
	if err := e.Scenario.Check(AllBounds()); err != nil {
		return e, fmt.Errorf("the counterexample makes no sense: %w", err)
	}
	if e.Schedule == "" {
		return e, errors.New("the counterexample has no schedule")
	}
	_, err = e.Choices()
	return e, err
}

// Choices are those that the example is made of.
func (e Example) Choices() ([]Choice, error) {
	list, err := ParseSchedule(e.Schedule)
	if err != nil {
		return nil, fmt.Errorf("the schedule %.60q makes no sense at %w", e.Schedule, err)
	}
	return list, nil
}

// Replay runs an example again on this world's servers, looking at the values
// after each step. ErrDiverged says at which step a choice cannot be made any more.
func (w *World) Replay(ctx context.Context, e Example) (*Schedule, error) {
	if e.Strategy != w.info.Name {
		return nil, fmt.Errorf("the counterexample is of %s, not of %s", e.Strategy, w.info.Name)
	}
	if slices.Contains(e.Scenario.Faults, NodeLost) && w.options.Node == nil {
		return nil, errors.New("the counterexample needs servers of which one can be lost")
	}
	choices, err := e.Choices()
	if err != nil {
		return nil, err
	}
	// Time passes by itself here, whenever no actor can go on.
	choices = slices.DeleteFunc(choices, func(c Choice) bool { return c.Fault == TimePasses })
	if err := w.rehearse(ctx, &e.Scenario); err != nil {
		return nil, err
	}
	schedule, err := w.Again(ctx, &e.Scenario, choices)
	if err != nil {
		return schedule, err
	}
	if made := len(schedule.Choices()); made < len(choices) {
		return schedule, fmt.Errorf("%w: all have finished after %d moves of %d", ErrDiverged, made, len(choices))
	}
	return schedule, nil
}
