//go:build verify

package game_test

import "testing"

// Every guard that is said to hold does: the explorer runs all schedules within the
// bounds.
func TestGuardsHold(t *testing.T) {
	if n := checkDefences(t, defender(t, true)); n < 25 {
		t.Errorf("only %d guards were attacked", n)
	}
}
