package game

import (
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// Every level that is said to be impossible is: the explorer runs all its
// schedules, as many as its file says, and none breaks it. make test asks one.
func TestImpossibleLevels(t *testing.T) {
	var needs []backend.Capability
	var levels []*Level
	for _, level := range Levels() {
		if level.Impossible > 0 && (labtest.Verify || level.Name == "one-statement") {
			levels = append(levels, level)
			needs = append(needs, infoOf(level).Uses()...)
		}
	}
	if labtest.Verify && len(levels) < 3 {
		t.Errorf("only %d levels are impossible", len(levels))
	}
	servers := labtest.Start(t, needs...).Config()
	for _, level := range levels {
		t.Run(level.Name, func(t *testing.T) {
			t.Parallel()
			p, err := openPlace(t.Context(), servers, infoOf(level))
			labtest.Must(t, err)
			defer p.leave(t.Context())
			res, err := p.world.Search(t.Context(), &level.Setting.Scenario, explore.Limits{Reduce: true,
				Stop: func(rule string) bool { return slices.Contains(level.Breaks, rule) }})
			labtest.Must(t, err)
			if res.First != nil || !res.Exhausted() || res.Schedules != level.Impossible {
				t.Errorf("%d schedules were run, one broke it: %t, and %d turns were not taken: the file says that all %d hold",
					res.Schedules, res.First != nil, res.Cut, level.Impossible)
			}
		})
	}
}

func infoOf(t *Level) catalog.Info {
	all := strategies.All()
	return all[slices.IndexFunc(all, func(i catalog.Info) bool { return i.Name == t.Setting.Strategy })]
}
