package catalog_test

import (
	"maps"
	"testing"

	"seckill/internal/catalog"
)

func TestGuarantees(t *testing.T) {
	g := catalog.Sound.Holds(catalog.Owner).Breaks(catalog.Processes, catalog.LateCommand)
	for q, want := range map[catalog.Question]catalog.Expectation{
		catalog.Oversell: catalog.Holds, catalog.Owner: catalog.Holds, catalog.Processes: catalog.Breaks,
		catalog.LateCommand: catalog.Breaks, catalog.NodeLoss: "",
	} {
		if g[q] != want {
			t.Errorf("%s: %q, want %q", q, g[q], want)
		}
	}
	if catalog.Sound[catalog.Processes] != catalog.Holds || catalog.Sound[catalog.Owner] != "" {
		t.Errorf("what one strategy says changed what all say: %v", catalog.Sound)
	}
}

func TestLettersFollowFromTheQuestions(t *testing.T) {
	const holds, breaks = catalog.Holds, catalog.Breaks
	type letters = map[catalog.Letter]catalog.Expectation
	for name, c := range map[string]struct {
		says        catalog.Guarantees
		want        letters
		broken, in2 bool
	}{
		"nothing":             {nil, letters{}, false, false},
		"sound":               {catalog.Sound, letters{"S": holds, "M": holds}, false, false},
		"unsound":             {catalog.Unsound, letters{"S": breaks, "M": breaks}, true, true},
		"half of S":           {catalog.Sound.Breaks(catalog.LostUpdate), letters{"S": breaks, "M": holds}, true, true},
		"the other half of S": {catalog.Unsound.Holds(catalog.LostUpdate), letters{"S": breaks, "M": breaks}, true, true},
		"one process":         {catalog.Sound.Breaks(catalog.Processes), letters{"S": holds, "M": breaks}, false, true},
		"each has its letter": {catalog.Guarantees{}.Holds(catalog.DeadHolder, catalog.Owner, catalog.NodeLoss).
			Breaks(catalog.LeaseEnd, catalog.OtherSKUs),
			letters{"C": holds, "O": holds, "N": holds, "P": breaks, "I": breaks}, false, false},
		"questions without a letter": {catalog.Guarantees{}.Breaks(catalog.LateCommand, catalog.Clocks, catalog.Cancel), letters{}, false, false},
	} {
		i := catalog.Info{Guarantees: c.says}
		if got := i.Guarantees.Letters(); !maps.Equal(got, c.want) {
			t.Errorf("%s: letters %v, want %v", name, got, c.want)
		}
		if i.Broken() != c.broken || i.BreaksIn(1) != c.broken || i.BreaksIn(2) != c.in2 {
			t.Errorf("%s: broken %t, in two processes %t", name, i.Broken(), i.BreaksIn(2))
		}
	}
}
