package loadtest

import (
	"slices"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
)

const someMatrix = `{"format":1,"rows":[{"strategy":"leased","cells":{
	"oversell":{"answer":"holds"},"clocks":{"answer":"breaks","example":"web/guarantees/leased.clocks.json"},
	"processes":{"answer":"breaks","example":"web/guarantees/leased.processes.json"},
	"lease-end":{"answer":"breaks","example":"web/guarantees/leased.lease-end.json"},
	"dead-holder":{"answer":"breaks"},
	"node-loss":{"answer":"breaks","example":"web/guarantees/leased.node-loss.json"}}},
	{"strategy":"sound","cells":{"oversell":{"answer":"holds","example":"web/guarantees/sound.oversell.json"}}}]}`

// What a run that held names: orders that break its strategy and can be played,
// of as many processes as it had, while all servers work.
func TestBreaking(t *testing.T) {
	all, err := ReadCounterexamples(strings.NewReader(someMatrix))
	labtest.Must(t, err)
	processes := Known{"leased", "processes", "leased.processes"}
	for _, test := range []struct {
		strategy  string
		processes int
		want      []Known
	}{
		{"leased", 1, []Known{{"leased", "lease-end", "leased.lease-end"}}},
		{"leased", 2, []Known{processes, {"leased", "lease-end", "leased.lease-end"}}},
		{"sound", 2, nil},
		{"unknown", 2, nil},
	} {
		if got := all.Breaking(test.strategy, test.processes); !slices.Equal(got, test.want) {
			t.Errorf("%s with %d processes: %+v, want %+v", test.strategy, test.processes, got, test.want)
		}
	}
	if said := HeldThisTime("leased", all.Breaking("sound", 2)); said != "" {
		t.Errorf("nothing is known, and it says %q", said)
	}
}
