package prove

import (
	"seckill/internal/explore"
)

// shared are further scenarios for a strategy whose buyers share a transaction
// (catalog.Info.Shares). Two buyers never do: the first goes ahead at once. So
// three are in one process, where the second and the third share, and with two
// processes a fourth does something beside them. Other strategies have none.
func (b *bench) shared(processes int, fourth explore.Does, s explore.Scenario) []*explore.Scenario {
	if !b.info.Shares {
		return nil
	}
	s.Next = true
	s.Buyers = buyers(1, explore.Buys, explore.Buys, explore.Buys)
	if processes > 1 {
		s.Buyers = buyers(1, explore.Buys, explore.Buys, explore.Buys, fourth)
		s.Buyers[3].Process = 1
	}
	return []*explore.Scenario{&s}
}

// copied are the same scenarios once more, in which the third buyer is a copy of
// another.
func copied(scenarios []*explore.Scenario, of string) (copies []*explore.Scenario) {
	for _, s := range scenarios {
		c := *s
		c.Name += ", " + of + " twice"
		c.Buyers = append([]explore.Buyer(nil), s.Buyers...)
		c.Buyers[2].Same, c.Buyers[2].Quantity = of, c.Buyers[of[0]-'A'].Quantity
		copies = append(copies, &c)
	}
	return copies
}
