package prove

import "seckill/internal/explore"

// followed is a further scenario for a strategy whose stock row follows its orders
// (catalog.Info.Follows): its workers are actors beside the others. Other
// strategies have none.
func (b *bench) followed(processes int, s explore.Scenario, does ...explore.Does) []*explore.Scenario {
	if !b.info.Follows() {
		return nil
	}
	s.Next, s.Buyers = true, buyers(processes, does...)
	return []*explore.Scenario{&s}
}
