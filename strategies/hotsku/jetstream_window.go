package hotsku

import (
	"context"
	"embed"
	"errors"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed jetstream_window.go jetstream.go jetstream_gate.go
//go:embed jetstream_window.en.md jetstream_window.zh.md
var jetstreamWindowFiles embed.FS

// JetStreamWindow is jetstream, but it trusts the stream to know each request
// again. It is shipped as a bad example.
var JetStreamWindow = catalog.Info{
	Name:   "jetstream-window",
	Title:  "Exactly once, while the window lasts",
	Family: "hotsku",
	Source: "NATS JetStream: message ids, and the window they are kept for",
	Idea: "jetstream, but a purchase without an answer is sent again under " +
		"its id, and what the stream takes for new is sold: it is written " +
		"even if the order is there.",
	Promises: "Sells right while every answer comes, or comes again within " +
		"the stream's window.",
	Breaks: "A retry after the window, which lasts two minutes by default, " +
		"is a new message: its units are taken twice, for one order.",
	Guarantees: catalog.Sound.
		Holds(catalog.SoldOut, catalog.DeadHolder, catalog.LeaseEnd,
			catalog.Clocks, catalog.OtherSKUs).
		Breaks(catalog.LostReply, catalog.LateCommand, catalog.Cancel,
			catalog.SameKey),
	Repair:  "jetstream",
	Needs:   []backend.Capability{backend.SQL, backend.JetStream},
	Stock:   ledger.InRow,
	Options: jetOptions,
	Files:   jetstreamWindowFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &jetstreamWindow{newJetStream(d)}, nil
	},
}

type jetstreamWindow struct{ *jetstream }

func (s *jetstreamWindow) Deduct(
	ctx context.Context, p seckill.Purchase,
) (r seckill.Receipt, err error) {
	place, err := s.enter(ctx, p)
	if err != nil {
		return r, err
	}
	r, err = s.buy(ctx, p, place)
	if err == nil || seckill.NothingTaken(err) {
		return r, err
	}
	unknown := err
	// The database may be back after a while. Then the purchase is sent again:
	// the stream will know it.
	_, err = tap.WaitAtMost[struct{}](ctx, "a pause before the retry",
		s.deps.Settings.LockLease, nil, nil)
	if !errors.Is(err, tap.ErrTimeUp) {
		return r, unknown
	}
	if place, err = s.enter(ctx, p); err != nil {
		return r, unknown
	}
	if r, err = s.buy(ctx, p, place); err != nil {
		return s.lookUp(ctx, p, place.run, unknown)
	}
	return r, nil
}

func (s *jetstreamWindow) buy(
	ctx context.Context, p seckill.Purchase, place jetPlace,
) (r seckill.Receipt, err error) {
	if place.Duplicate {
		r, err = s.sell(ctx, p, place.run)
	} else {
		r, err = s.sellNew(ctx, p, place.run)
	}
	if err != nil && seckill.NothingTaken(err) {
		s.leave(ctx, place)
	}
	return r, err
}

// sellNew is for a request that the stream says is new. If the order is there
// all the same, it must be from an attempt that was not heard of: fine.
func (s *jetstreamWindow) sellNew(
	ctx context.Context, p seckill.Purchase, run int64,
) (r seckill.Receipt, err error) {
	err = s.store.Tx(ctx, func(tx *gorm.DB) error {
		left, err := s.take(tx, p, run)
		if err != nil {
			return err
		}
		r, err = s.store.Record(tx, p, run, left)
		if errors.Is(err, seckill.ErrDuplicate) {
			o, none := s.store.On(tx).RequestedOf(ctx, p.SKU, p.User,
				p.RequestID)
			if none == nil && o.Status == ledger.Active {
				r, err = o.Receipt(), nil
			}
		}
		return err
	})
	return r, err
}
