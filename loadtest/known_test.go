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
// of as many processes as it had; a server without its data only if it had one.
func TestBreaking(t *testing.T) {
	all, err := ReadCounterexamples(strings.NewReader(someMatrix))
	labtest.Must(t, err)
	processes := Known{"leased", "processes", "", "leased.processes"}
	for _, test := range []struct {
		strategy  string
		processes int
		asked     map[string]string
		want      []Known
	}{
		{"leased", 1, nil, []Known{{"leased", "lease-end", "", "leased.lease-end"}}},
		{"leased", 2, nil, []Known{processes, {"leased", "lease-end", "", "leased.lease-end"}}},
		{"leased", 2, map[string]string{"dead-holder": "kill_holder", "node-loss": "restart_redis", "lease-end": "cut_holder"}, []Known{processes,
			{"leased", "lease-end", "cut_holder", "leased.lease-end"}, {"leased", "node-loss", "restart_redis", "leased.node-loss"}}},
		{"sound", 2, map[string]string{"lease-end": "pause_holder"}, nil},
		{"unknown", 2, map[string]string{"lease-end": "pause_holder"}, nil},
	} {
		if got := all.Breaking(test.strategy, test.processes, test.asked); !slices.Equal(got, test.want) {
			t.Errorf("%s with %d processes after %v: %+v, want %+v", test.strategy, test.processes, test.asked, got, test.want)
		}
	}
	if said := HeldThisTime("leased", all.Breaking("sound", 2, nil)); said != "" {
		t.Errorf("nothing is known, and it says %q", said)
	}
}
