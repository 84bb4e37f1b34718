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
	t.Run("levels", func(t *testing.T) { // ends when all have
		for _, task := range game.Tasks() {
			if task.Impossible == 0 {
				continue
			}
			impossible++
			t.Run(task.Name, func(t *testing.T) {
				t.Parallel()
				f, err := c.Check(t.Context(), task)
				if err != nil {
					t.Fatal(err)
				}
				if f.Wrong != "" {
					t.Error(f.Wrong)
				}
			})
		}
	})
	if impossible < 3 {
		t.Errorf("only %d levels are impossible", impossible)
	}
}
