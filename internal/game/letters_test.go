package game_test

import (
	"slices"
	"strings"
	"testing"

	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
)

// Letters and choices are the same thing.
func TestSchedulesReadAndWrite(t *testing.T) {
	const all = "abchnaLTDaGbQcRaCbWaVaJbKcRnaSPa"
	choices, err := game.ParseSchedule(all)
	labtest.Must(t, err)
	if got := game.FormatSchedule(choices...); got != all || len(choices) != 19 {
		t.Errorf("%q became %d choices, %q", all, len(choices), got)
	}
	slices.SortFunc(choices, func(a, b explore.Choice) int {
		return strings.Compare(game.FormatSchedule(a), game.FormatSchedule(b))
	})
	if len(slices.Compact(choices)) != 19 {
		t.Errorf("two choices are written alike: %v", choices)
	}
	for text, says := range map[string]string{"abbi": "letter 4", "A": "letter 1", "aD": "letter 2: a buyer's letter must follow", "Dn": "letter 2", "a b": "letter 2"} {
		if _, err := game.ParseSchedule(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}
