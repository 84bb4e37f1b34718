package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// An Example is one order of a strategy in a file: what was done, what came of
// it, and what was wrong. Replay runs it again.
type Example struct {
	Format   int       `json:"format"` // exampleFormat
	Strategy string    `json:"strategy"`
	Question string    `json:"question,omitempty"` // which cell of the matrix it answers
	Scenario Scenario  `json:"scenario"`
	Steps    []Step    `json:"steps"`
	Problems []Problem `json:"problems"`
	Told     []Answer  `json:"told"`
}

// An Answer is what a buyer was told.
type Answer struct {
	Who    string `json:"who"`
	Answer string `json:"answer"`
}

const exampleFormat = 1

// NewExample describes an order.
func NewExample(strategy, question string, o *Order) Example {
	e := Example{Format: exampleFormat, Strategy: strategy, Question: question, Scenario: *o.Scenario,
		Steps: o.Steps, Problems: o.Problems}
	for _, b := range o.Buyers {
		e.Told = append(e.Told, Answer{b.Name, b.answer()})
	}
	return e
}

func (o Outcome) answer() string {
	switch {
	case o.Dead:
		return "died"
	case o.Err != nil:
		return o.Err.Error()
	case o.Does == Locks:
		return "had the lock"
	case o.Does == Cancels:
		return "cancelled"
	}
	return fmt.Sprintf("sold %d, %d left", o.Receipt.Quantity, o.Receipt.Remaining)
}

// Write writes the file's text.
func (e Example) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(e)
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
	return e, e.check()
}

const maxBuyers = 8

func (e Example) check() error {
	s := e.Scenario
	if s.Stock < 0 || len(s.Buyers) == 0 || len(s.Buyers) > maxBuyers {
		return fmt.Errorf("the counterexample has a stock of %d and %d buyers: there must be 1 to %d buyers",
			s.Stock, len(s.Buyers), maxBuyers)
	}
	for i, b := range s.Buyers {
		if b.Name != string(rune('A'+i)) || b.Process < 0 || b.Process >= maxBuyers ||
			!slices.Contains([]Does{Buys, Cancels, Locks}, b.Does) || b.Quantity < 1 && b.Does != Locks {
			return fmt.Errorf("buyer %d of the counterexample makes no sense: %+v", i+1, b)
		}
	}
	for i, step := range e.Steps {
		if step.Fault == "" && step.Who == "" || step.Fault != "" && !slices.Contains([]Fault{LeaseEnds, Dies, GivenUp, ReplyLost, CommandLost, NodeLost, timePasses}, step.Fault) {
			return fmt.Errorf("step %d of the counterexample makes no sense: who %q, fault %q", i+1, step.Who, step.Fault)
		}
	}
	return nil
}

// Replay runs an example again on this world's servers, looking at the values
// after each step. ErrDiverged says at which step the strategy, as it is now,
// does something else.
func (w *World) Replay(ctx context.Context, e Example) (*Order, error) {
	if e.Strategy != w.info.Name {
		return nil, fmt.Errorf("the counterexample is of %s, not of %s", e.Strategy, w.info.Name)
	}
	for _, b := range e.Scenario.Buyers {
		if b.Does == Locks && w.info.Locker == nil {
			return nil, fmt.Errorf("%w: %s is not a lock", ErrDiverged, e.Strategy)
		}
	}
	if slices.Contains(e.Scenario.Faults, NodeLost) {
		return nil, errors.New("the counterexample needs servers of which one can be lost")
	}
	var choices []Choice
	var want []Step
	for _, s := range e.Steps {
		if s.Who != NextBuyer && s.Fault != timePasses && s.Result != gaveUp && !s.ByItself {
			choices, want = append(choices, s.Choice), append(want, s)
		}
	}
	if err := w.rehearse(ctx, &e.Scenario); err != nil {
		return nil, err
	}
	o, err := w.Again(ctx, &e.Scenario, choices)
	if err != nil {
		return o, err
	}
	at := 0
	for _, s := range o.Steps {
		if !s.chosen || at >= len(want) {
			continue
		}
		if verb(s.Command) != verb(want[at].Command) {
			return o, fmt.Errorf("%w: step %d was %q, and is %q now", ErrDiverged, at+1, want[at].Command, s.Command)
		}
		at++
	}
	if at < len(want) {
		return o, fmt.Errorf("%w: step %d was %q, and everybody has finished by now", ErrDiverged, at+1, want[at].Command)
	}
	return o, nil
}

func verb(command string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(command, "(renewer) "), " ")
	return word
}

// Width of a buyer's lane in a table, in characters.
const laneWidth = 46

// WriteTable writes the example as lanes, one for each buyer, with the values
// that the servers kept after each step.
func (e Example) WriteTable(w io.Writer) error {
	var b strings.Builder
	var lanes []string
	for _, s := range e.Steps {
		if s.Who != "" && !slices.Contains(lanes, s.Who) {
			lanes = append(lanes, s.Who)
		}
	}
	slices.Sort(lanes)
	if i := slices.Index(lanes, NextBuyer); i >= 0 {
		lanes = append(slices.Delete(lanes, i, i+1), NextBuyer)
	}
	fmt.Fprintf(&b, "%s: %s\n", e.Strategy, e.Scenario.Name)
	fmt.Fprintf(&b, "    ")
	for _, lane := range lanes {
		b.WriteString(pad("buyer "+lane, laneWidth+1))
	}
	b.WriteString("after it\n")
	for i, s := range e.Steps {
		fmt.Fprintf(&b, "%2d  ", i+1)
		for _, lane := range lanes {
			text := ""
			switch {
			case lane == s.Who:
				text = s.text()
			case s.Who == "":
				text = "· · ·"
			case slices.Contains(s.Woke, lane):
				text = "(goes on)"
			}
			b.WriteString(pad(clip(text, laneWidth), laneWidth+1))
		}
		if s.Who == "" {
			fmt.Fprintf(&b, "%s: %s; ", s.Fault, s.Command)
		}
		var values []string
		for _, v := range s.Values {
			if v.Value != "" {
				values = append(values, clip(v.Name+"="+v.Value, laneWidth))
			}
		}
		b.WriteString(strings.Join(values, "  ") + "\n")
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

func (s Step) text() string {
	switch {
	case s.Fault == Dies:
		return "† dies"
	case s.Fault == GivenUp:
		return "† " + s.Command
	case s.Fault == ReplyLost:
		return s.Command + " [reply lost]"
	case s.Fault == CommandLost:
		return s.Command + " [never arrives]"
	case s.Result == "":
		return s.Command
	}
	return strings.TrimSpace(s.Command + " [" + s.Result + "]")
}

func clip(text string, width int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	// A command's end says as much as its beginning: what became of it.
	runes := []rune(text)
	tail := ""
	if i := strings.LastIndex(text, " ["); i > 0 && strings.HasSuffix(text, "]") && utf8.RuneCountInString(text[i:]) < width/2 {
		tail = text[i:]
	}
	return string(runes[:width-1-utf8.RuneCountInString(tail)]) + "…" + tail
}

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
