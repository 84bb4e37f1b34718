package catalog_test

import (
	"testing"

	"seckill/internal/catalog"
)

func TestBrokenFollowsFromTheQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		says        catalog.Guarantees
		broken, in2 bool
	}{
		"nothing":         {nil, false, false},
		"sound":           {catalog.Sound, false, false},
		"unsound":         {catalog.Unsound, true, true},
		"loses updates":   {catalog.Sound.Breaks(catalog.LostUpdate), true, true},
		"oversells":       {catalog.Unsound.Holds(catalog.LostUpdate), true, true},
		"one process":     {catalog.Sound.Breaks(catalog.Processes), false, true},
		"other questions": {catalog.Guarantees{}.Breaks(catalog.LeaseEnd, catalog.LateCommand, catalog.OtherSKUs), false, false},
	} {
		i := catalog.Info{Guarantees: c.says}
		if i.Broken() != c.broken || i.BreaksIn(1) != c.broken || i.BreaksIn(2) != c.in2 {
			t.Errorf("%s: broken %t, in two processes %t", name, i.Broken(), i.BreaksIn(2))
		}
	}
}
