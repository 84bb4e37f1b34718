package prove

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"seckill/internal/seckill"
)

// A history is a storm as its buyers saw it: who asked when, and what he was
// told when. It is linearizable when all answers could have come from a stock
// that serves one buyer at a time, each at some moment between his question
// and his answer (Herlihy and Wing, 1990). The audit looks at the ledger's end
// alone; this looks at every `remaining` on the way.
type history struct {
	mu  sync.Mutex
	ops []porcupine.Operation
}

type asked struct{ quantity int64 }

type told struct {
	outcome   string // "sold", "sold out", or "nothing": he got nothing, for whatever reason
	remaining int64
}

// stockModel is a stock that serves one buyer at a time.
func stockModel(initial int64) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return initial },
		Step: func(state, input, output any) (bool, any) {
			left, q, out := state.(int64), input.(asked).quantity, output.(told)
			switch out.outcome {
			case "sold":
				return left-q == out.remaining && left >= q, left - q
			case "sold out":
				return left < q, left
			}
			return true, left
		},
		DescribeOperation: func(input, output any) string {
			out := output.(told)
			if out.outcome == "sold" {
				return fmt.Sprintf("buy %d: %d left", input.(asked).quantity, out.remaining)
			}
			return fmt.Sprintf("buy %d: %s", input.(asked).quantity, out.outcome)
		},
		DescribeState: func(state any) string { return fmt.Sprint(state, " left") },
	}
}

const (
	historyWorkers   = 12
	historyPurchases = 20 // each
	historyStock     = 200
	historyLimit     = 20 * time.Second
)

// history records a storm over two processes and checks it.
func (b *bench) history(ctx context.Context) (Cell, error) {
	processes := 2
	if inProcess(b.info) {
		processes = 1 // across processes it locks nothing, as another column says
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
	sku, err := parties[0].sale(ctx, 90, historyStock)
	if err != nil {
		return Cell{}, err
	}
	h, err := storm(ctx, parties, sku, b.options.Seed)
	if err != nil {
		return Cell{}, err
	}
	model := stockModel(historyStock)
	result, info := porcupine.CheckOperationsVerbose(model, h.ops, historyLimit)
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
	if b.options.History != nil {
		c.Example, err = b.options.History(b.info.Name, func(w io.Writer) error { return porcupine.Visualize(model, info, w) })
	}
	return c, err
}

// storm has buyers ask side by side for more than there is.
func storm(ctx context.Context, parties []*party, sku int64, seed uint64) (*history, error) {
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
				op := porcupine.Operation{ClientId: worker, Input: asked{p.Quantity}, Call: int64(call),
					Return: int64(time.Since(begun)), Output: told{outcome: "nothing"}}
				switch {
				case err == nil:
					op.Output = told{"sold", r.Remaining}
				case errors.Is(err, seckill.ErrSoldOut):
					op.Output = told{outcome: "sold out"}
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
