package explore

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

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
		fmt.Fprintf(&b, "%-*s", laneWidth+1, "buyer "+lane)
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
			fmt.Fprintf(&b, "%-*s", laneWidth+1, clip(text, laneWidth))
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
	text := s.Command
	if s.Fault != "" {
		text = strings.TrimSuffix(string(s.Fault)+": "+text, ": ")
	}
	if s.Result != "" && !faultKinds[s.Fault].aims { // what became of it is the fault
		text += " [" + s.Result + "]"
	}
	return strings.TrimSpace(text)
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
