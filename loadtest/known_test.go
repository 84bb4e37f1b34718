package loadtest

import (
	"slices"
	"testing"
	"testing/fstest"
)

// What a run that held names: schedules that break its strategy and can be played,
// of as many processes as it had, while all servers work.
func TestBreaking(t *testing.T) {
	examples := fstest.MapFS{"leased.clocks.json": {}, "leased.processes.json": {}, "leased.lease-end.json": {}, "leased.node-loss.json": {}}
	paused := Known{"lease-end", "leased.lease-end", "a holder that is paused past its lease"}
	two := Known{"processes", "leased.processes", "buyers at two service processes"}
	for _, test := range []struct {
		strategy string
		targets  []string
		want     []Known
	}{
		{"leased", []string{"a"}, []Known{paused}},
		{"leased", []string{"a", "b"}, []Known{two, paused}},
		{"sound", []string{"a", "b"}, nil},
	} {
		c := Config{Scenario: Scenario{Strategy: test.strategy}, Targets: test.targets, Examples: examples}
		if got := c.breaking(); !slices.Equal(got, test.want) {
			t.Errorf("%s at %v: %+v, want %+v", test.strategy, test.targets, got, test.want)
		}
	}
}
