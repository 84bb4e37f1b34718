package explore

import (
	"context"
	"fmt"

	"seckill/internal/tap"
)

// Work is the backend of the one step that a buyer does under a lock that
// protects nothing.
const Work = "work"

// Locks takes the lock, works a step, and frees it: no stock.
var Locks = addDoing("locks", doing{
	next: "locks",
	check: func(w *World) error {
		if w.info.Locker == nil {
			return fmt.Errorf("%s is not a lock: it cannot be locked without a purchase", w.info.Name)
		}
		return nil
	},
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) { o.Err = w.hold(ctx, p) },
	answer:  func(Outcome) string { return "had the lock" },
})

func (w *World) hold(ctx context.Context, p *process) error {
	lease, err := p.locker.Acquire(ctx, w.key(), p.options)
	if err != nil {
		return err
	}
	err = tap.Do(lease.Context(), Work, func() *tap.Command {
		return &tap.Command{Name: "work", Text: "works under the lock"}
	}, func(context.Context) error { return nil })
	if left := lease.Release(context.WithoutCancel(ctx)); err == nil {
		err = left
	}
	return err
}
