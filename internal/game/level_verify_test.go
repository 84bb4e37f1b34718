//go:build verify

package game_test

import (
	"testing"

	"seckill/internal/backend"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// Every level that is said to be impossible is: the explorer runs all its
// schedules, and none breaks it.
func TestImpossibleLevels(t *testing.T) {
	var needs []backend.Capability
	for _, task := range game.Tasks() {
		needs = append(needs, named(t, task.Setting.Strategy).Uses()...)
	}
	c := game.Checker{Servers: labtest.Start(t, needs...).Config(), Strategies: strategies.All(), Search: true}
	impossible := 0
	for _, task := range game.Tasks() {
		if !task.Impossible {
			continue
		}
		impossible++
		f, err := c.Check(t.Context(), task)
		if err != nil {
			t.Fatalf("%s: %v", task.Name, err)
		}
		if f.Wrong != "" {
			t.Errorf("%s: %s", task.Name, f.Wrong)
		} else {
			certify(t, task.Name, f.Schedules)
		}
		t.Logf("%s: %d schedules", task.Name, f.Schedules)
	}
	if impossible < 3 {
		t.Errorf("only %d levels are impossible", impossible)
	}
}
