package hotsku

import (
	"context"
	"embed"
	"fmt"
	"sync"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

//go:embed queued_unbounded.go one_trip.sql
//go:embed queued_unbounded.en.md queued_unbounded.zh.md
var queuedUnboundedFiles embed.FS

// QueuedUnbounded has jobs in its queue, and not buyers.
var QueuedUnbounded = catalog.Info{
	Name:   "queued-unbounded",
	Title:  "A queue of jobs without a limit",
	Family: "hotsku",
	Source: "common: an executor's queue, and a time-out on the future",
	Idea: "Every purchase is a job in a queue; the buyer waits for its " +
		"result for as long as the request lives, and is told busy then.",
	Promises: "Never oversells and never loses an update, with any number of " +
		"processes.",
	Breaks: "A buyer who gives up is told busy, and the job stays in the " +
		"queue: it sells to buyers who left long ago.",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs).
		Breaks(catalog.BuyerLeaves),
	Repair: "queued",
	Needs: []backend.Capability{
		backend.SQL, backend.RowLocks, backend.Procedures},
	Stock: ledger.InRow,
	Options: []catalog.Option{{Flag: "--queue-at-once",
		Doc: "how many jobs of one SKU each process works on at a time"}},
	Files: queuedUnboundedFiles,
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		return &queuedUnbounded{oneTrip: oneTrip{d.Ledger},
			atOnce: d.Settings.QueueAtOnce,
			turns:  map[int64]chan struct{}{}}, nil
	},
}

type queuedUnbounded struct {
	oneTrip
	atOnce int

	mu    sync.Mutex
	turns map[int64]chan struct{} // atOnce tokens for each SKU
}

// A result of a job.
type result struct {
	seckill.Receipt
	error
}

func (s *queuedUnbounded) Deduct(
	ctx context.Context, p seckill.Purchase,
) (seckill.Receipt, error) {
	done := make(chan result, 1)
	background, job := tap.Job(context.WithoutCancel(ctx))
	go func() {
		defer job.Over()
		done <- s.work(background, p)
	}()
	r, err := tap.Wait(ctx, "the job's result", done)
	if err != nil { // and the job stays in the queue
		return seckill.Receipt{}, fmt.Errorf("%w: waited for the result: %w",
			seckill.ErrBusy, err)
	}
	return r.Receipt, r.error
}

// work waits for a turn, however long that takes, and buys.
func (s *queuedUnbounded) work(ctx context.Context, p seckill.Purchase) result {
	turns := s.queue(p.SKU)
	_, err := tap.Wait(ctx, fmt.Sprint("a turn at SKU ", p.SKU), turns)
	if err != nil {
		return result{error: fmt.Errorf("%w: %w", seckill.ErrBusy, err)}
	}
	defer func() { turns <- struct{}{} }()
	r, err := s.oneTrip.Deduct(ctx, p)
	return result{r, err}
}

func (s *queuedUnbounded) queue(sku int64) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns[sku] == nil {
		s.turns[sku] = make(chan struct{}, s.atOnce)
		for range s.atOnce {
			s.turns[sku] <- struct{}{}
		}
	}
	return s.turns[sku]
}
