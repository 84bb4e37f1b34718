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
	for _, task := range Levels() {
		if task.Impossible > 0 && (labtest.Verify || task.Name == "one-statement") {
			levels = append(levels, task)
			needs = append(needs, infoOf(task).Uses()...)
		}
	}
	if labtest.Verify && len(levels) < 3 {
		t.Errorf("only %d levels are impossible", len(levels))
	}
	servers := labtest.Start(t, needs...).Config()
	for _, task := range levels {
		t.Run(task.Name, func(t *testing.T) {
			t.Parallel()
			p, err := openPlace(t.Context(), servers, infoOf(task))
			labtest.Must(t, err)
			defer p.leave(t.Context())
			res, err := p.world.Search(t.Context(), &task.Setting.Scenario, explore.Limits{Reduce: true,
				Stop: func(rule string) bool { return slices.Contains(task.Breaks, rule) }})
			labtest.Must(t, err)
			if res.First != nil || !res.Exhausted() || res.Schedules != task.Impossible {
				t.Errorf("%d schedules were run, one broke it: %t, and %d turns were not taken: the file says that all %d hold",
					res.Schedules, res.First != nil, res.Cut, task.Impossible)
			}
		})
	}
}

func infoOf(t *Level) catalog.Info {
	all := strategies.All()
	return all[slices.IndexFunc(all, func(i catalog.Info) bool { return i.Name == t.Setting.Strategy })]
}
