package hotsku

import (
	"context"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
)

// MergedEarly is merged with one line in the wrong place: it reports the sales
// before the COMMIT, which may fail. It is broken on purpose.
var MergedEarly = family.Strategy(catalog.Info{
	Name:   "merged-early",
	Source: "a usual mistake in batching: to wake those who wait too early",
	Guarantees: catalog.Sound.
		Breaks(catalog.SoldOut, catalog.DeadHolder,
			catalog.LostReply).
		Holds(catalog.LateCommand, catalog.OtherSKUs),
	Repair: "merged",
	Needs:  OneTrip.Needs,
	Shares: true,
	Also:   []string{"merged.go", "one_trip.go", "one_trip.sql"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		trip, err := newOneTrip(d)
		s := &merged{oneTrip: trip}
		s.commit = s.tellThenCommit
		return s, err
	},
})

func (s *merged) tellThenCommit(ctx context.Context, b *batch) error {
	return s.store.Tx(ctx, func(tx *gorm.DB) error {
		left, err := s.writeBatch(tx, b)
		if err == nil {
			b.tellSold(left) // the flaw: the COMMIT may still fail
		}
		return err
	})
}
