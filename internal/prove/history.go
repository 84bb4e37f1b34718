package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"seckill/internal/linear"
	"seckill/internal/seckill"
)

const historyQuestion = "history" // its ID

const (
	historyWorkers   = 12
	historyPurchases = 20 // each
	historyStock     = 200
	historyLimit     = 20 * time.Second
)

// history records a load run over two processes as its buyers saw it, when each asked
// and what they were told when, and checks it. The audit looks at the ledger's end
// alone; this looks at every `remaining` on the way.
func (b *bench) history(ctx context.Context) (Cell, error) {
	processes := 2
	if s, err := b.sound(ctx, 2); err != nil {
		return Cell{}, err
	} else if s.unsound() {
		processes = 1 // as another column says
	}
	var parties []*party
	for range processes {
		p, err := b.party(ctx)
		if err != nil {
			return Cell{}, err
		}
		defer p.in.Close()
		parties = append(parties, p)
	}
	sku, err := parties[0].sale(ctx, historyStock)
	if err != nil {
		return Cell{}, err
	}
	ops, err := loadRun(ctx, parties, sku, b.options.Seed)
	if err != nil {
		return Cell{}, err
	}
	if b.info.Stock.Split() {
		ops = linear.Saw(ops)
	}
	result := porcupine.CheckOperationsTimeout(linear.Model(historyStock), linear.Operations(ops), historyLimit)
	c := Cell{Text: fmt.Sprintf("%d answers of %d buyers at a time", len(ops), historyWorkers)}
	switch result {
	case porcupine.Ok:
		c.Answer = Holds
	case porcupine.Illegal:
		c.Answer, c.Rule = Breaks, "linearizable"
		c.Text = "no sequence of these " + c.Text + " explains them all"
	default:
		c.Answer, c.Text = Failed, fmt.Sprintf("not decided within %v", historyLimit)
	}
	return c, nil
}

// loadRun has buyers ask side by side for more than there is.
func loadRun(ctx context.Context, parties []*party, sku int64, seed uint64) ([]linear.Op, error) {
	var all sync.WaitGroup
	var ops [historyWorkers][]linear.Op
	var unknown [historyWorkers]error
	begun := time.Now()
	for worker := range historyWorkers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(worker)))
			for n := range historyPurchases {
				p := buy(sku, int64(1+worker*historyPurchases+n))
				p.Quantity = 1 + rng.Int64N(2)
				call := time.Since(begun)
				r, err := parties[worker%len(parties)].strategy.Deduct(ctx, p)
				op := linear.Op{Client: worker, Quantity: p.Quantity, Remaining: r.Remaining,
					Call: int64(call), Return: int64(time.Since(begun))}
				switch {
				case err == nil:
					op.Kind = linear.Sold
				case errors.Is(err, seckill.ErrSoldOut):
					op.Kind = linear.SoldOut
				case !seckill.NothingTaken(err):
					unknown[worker] = fmt.Errorf("user %d was left in the dark with every server alive: %w", p.User, err)
					continue
				default: // it says nothing of the stock
					continue
				}
				ops[worker] = append(ops[worker], op)
			}
		})
	}
	all.Wait()
	return slices.Concat(ops[:]...), errors.Join(cmp.Or(unknown[:]...), ctx.Err())
}
