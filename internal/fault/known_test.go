package fault

import (
	"slices"
	"strings"
	"testing"
)

const someMatrix = `{"format":1,"rows":[{"strategy":"leased","cells":{
	"oversell":{"answer":"holds"},"clocks":{"answer":"breaks","example":"web/guarantees/leased.clocks.json"},
	"processes":{"answer":"breaks","example":"web/guarantees/leased.processes.json"},
	"lease-end":{"answer":"breaks","example":"web/guarantees/leased.lease-end.json"},
	"dead-holder":{"answer":"breaks"},
	"node-loss":{"answer":"breaks","example":"web/guarantees/leased.node-loss.json"}}},
	{"strategy":"sound","cells":{"oversell":{"answer":"holds","example":"web/guarantees/sound.oversell.json"}}}]}`

// What a run that held names: orders that break its strategy and can be played,
// of as many processes as it had; a server without its data only if it had one.
func TestBreaking(t *testing.T) {
	all, err := ReadCounterexamples(strings.NewReader(someMatrix))
	if err != nil {
		t.Fatal(err)
	}
	processes := Known{"leased", "processes", "", "leased.processes"}
	for _, test := range []struct {
		strategy  string
		processes int
		met       []Name
		want      []Known
	}{
		{"leased", 1, nil, []Known{{"leased", "lease-end", "", "leased.lease-end"}}},
		{"leased", 2, nil, []Known{processes, {"leased", "lease-end", "", "leased.lease-end"}}},
		{"leased", 2, []Name{KillHolder, RestartRedis, CutHolder, PauseHolder}, []Known{processes,
			{"leased", "lease-end", CutHolder, "leased.lease-end"}, {"leased", "node-loss", RestartRedis, "leased.node-loss"}}},
		{"sound", 2, []Name{PauseHolder}, nil},
		{"unknown", 2, []Name{PauseHolder}, nil},
	} {
		if got := all.Breaking(test.strategy, test.processes, test.met...); !slices.Equal(got, test.want) {
			t.Errorf("%s with %d processes after %v: %+v, want %+v", test.strategy, test.processes, test.met, got, test.want)
		}
	}
	if said := HeldThisTime("leased", all.Breaking("sound", 2)); said != "" {
		t.Errorf("nothing is known, and it says %q", said)
	}
	notAsked := []Name{LoseMySQL} // the matrix asks nothing about the loss of a database
	for _, f := range All {
		if slices.Contains(notAsked, f.Name) != (f.Question == "") {
			t.Errorf("%s asks %q", f.Name, f.Question)
		}
		if f.Question != "" && (Known{Question: f.Question}).When() == f.Question {
			t.Errorf("%s asks %q, and there are no words for it", f.Name, f.Question)
		}
	}
}
