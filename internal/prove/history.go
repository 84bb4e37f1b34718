package prove

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"seckill/internal/linear"
	"seckill/internal/seckill"
)

// A history is a load run as its buyers saw it: when each asked, and what they
// were told when. The audit looks at the ledger's end alone; this looks at every
// `remaining` on the way.
type history struct {
	mu  sync.Mutex
	ops []linear.Op
}

const (
	historyWorkers   = 12
	historyPurchases = 20 // each
	historyStock     = 200
	historyLimit     = 20 * time.Second
)

// history records a load run over two processes and checks it.
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
	h, err := loadRun(ctx, parties, sku, b.options.Seed)
	if err != nil {
		return Cell{}, err
	}
	if b.info.Stock.Split() {
		h.ops = linear.Saw(h.ops)
	}
	result := porcupine.CheckOperationsTimeout(linear.Model(historyStock), linear.Operations(h.ops), historyLimit)
	c := Cell{Text: fmt.Sprintf("%d answers of %d buyers at a time", len(h.ops), historyWorkers)}
	switch result {
	case porcupine.Ok:
		c.Answer = Holds
	case porcupine.Illegal:
		c.Answer, c.Rule = Breaks, "linearizable"
		c.Text = "no order of these " + c.Text + " explains them all"
	default:
		c.Answer, c.Text = Failed, fmt.Sprintf("not decided within %v", historyLimit)
	}
	return c, nil
}

// loadRun has buyers ask side by side for more than there is.
func loadRun(ctx context.Context, parties []*party, sku int64, seed uint64) (*history, error) {
	h := &history{}
	var all sync.WaitGroup
	var unknown error
	begun := time.Now()
	for worker := range historyWorkers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(worker)))
			for n := range historyPurchases {
				p := buy(sku, int64(1+worker*historyPurchases+n))
				p.Quantity = 1 + rng.Int64N(2)
				call := time.Since(begun)
				r, err := parties[worker%len(parties)].strategy.Deduct(ctx, p)
				op := linear.Op{Client: worker, Quantity: p.Quantity, Kind: linear.Nothing, Remaining: r.Remaining,
					Call: int64(call), Return: int64(time.Since(begun))}
				switch {
				case err == nil:
					op.Kind = linear.Sold
				case errors.Is(err, seckill.ErrSoldOut):
					op.Kind = linear.SoldOut
				}
				h.mu.Lock()
				h.ops = append(h.ops, op)
				if err != nil && !seckill.NothingTaken(err) && unknown == nil {
					unknown = fmt.Errorf("user %d was left in the dark with every server alive: %w", p.User, err)
				}
				h.mu.Unlock()
			}
		})
	}
	all.Wait()
	return h, errors.Join(unknown, ctx.Err())
}
