package explore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/observe"
	"seckill/internal/tap"
)

// A Trace is one purchase in real time, or several that raced: every command that was
// sent, when, how long it took and what came back, and from when to when the lock was
// held. A schedule shows what could happen; a trace shows what did. Times are
// microseconds since the buyers were let go.
type Trace struct {
	Strategy string         `json:"strategy"`
	Stock    int64          `json:"stock"`
	Buyers   []Buyer        `json:"buyers"`
	Before   []Value        `json:"before"` // what the servers kept
	After    []Value        `json:"after"`
	Steps    []observe.Sent `json:"steps"`
	Held     []observe.Hold `json:"held"`
	Told     []Answer       `json:"told"`
	Problems []Problem      `json:"problems"` // what the ledger's judge says
	Cut      bool           `json:"cut"`      // there were more steps than maxTraced
}

const (
	// tracedStock is enough for the first buyer, or for the second, not for both.
	tracedStock = 2
	// maxTraced keeps a polling buyer from filling a page.
	maxTraced = 500
)

// Record has buyers (1 or 2) buy at once by a strategy of its own instance on the
// backends of config. An error means that nothing could be recorded; a buyer's
// own error is part of the Trace. Traces on one database must take turns.
func Record(ctx context.Context, config backend.Config, info catalog.Info, buyers int) (t *Trace, err error) {
	// What the strategy does not use would be looked into, and shown.
	w, err := Open(ctx, info, config.Only(info.Uses()...), Options{realTime: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.remove(context.WithoutCancel(ctx)), w.Close()) }()
	t = &Trace{Strategy: info.Name, Stock: tracedStock}
	for i := range buyers {
		t.Buyers = append(t.Buyers, Buyer{Name: string(rune('A' + i)), Quantity: int64(buyers - i), Does: Buys})
	}
	if err := w.fresh(ctx, &Scenario{Stock: t.Stock, Buyers: t.Buyers}); err != nil {
		return nil, err
	}
	p, err := w.process(ctx, 0)
	if err != nil {
		return nil, err
	}
	// They buy once unrecorded, so that connections are open and servers know the
	// scripts. How it ends does not matter.
	var all sync.WaitGroup
	for _, b := range t.Buyers {
		b.User, b.Same = b.Name, b.Name+"-before"
		all.Go(func() { _, _ = p.Strategy.Deduct(ctx, w.purchase(b)) })
	}
	all.Wait()
	if err := p.Reset(ctx, w.sku, skuName, w.stock); err != nil {
		return nil, fmt.Errorf("put the trace's SKU on sale: %w", err)
	}
	return t, w.record(ctx, p, t)
}

func (w *World) record(ctx context.Context, p *process, t *Trace) error {
	t.Before = w.look(ctx)
	outcomes := make([]Outcome, len(t.Buyers))
	// A race that one of them wins by being started first shows nothing: all send
	// their first command at once.
	var ready, all sync.WaitGroup
	ready.Add(len(t.Buyers))
	recorder := observe.NewRecorder(w.names)
	for i, b := range t.Buyers {
		outcomes[i].Buyer = b
		all.Go(func() {
			arrive := sync.OnceFunc(ready.Done)
			deduct(tap.With(ctx, observe.NewGate(recorder, b.Name, func(int, *tap.Command) bool {
				arrive()
				ready.Wait()
				return false
			})), w, p, &outcomes[i])
			arrive() // a buyer that sends nothing blocks no other
		})
	}
	all.Wait()
	told := []ledger.Told{}
	for _, o := range outcomes {
		told = append(told, tellPurchase(w, o)...)
		t.Told = append(t.Told, Answer{o.Name, w.names.Plain(o.answer())})
	}
	t.After = w.look(ctx)
	t.Steps, t.Held = recorder.List()
	if t.Cut = len(t.Steps) > maxTraced; t.Cut {
		t.Steps = t.Steps[:maxTraced]
	}
	e, err := w.evidence(ctx, p)
	if err != nil {
		return fmt.Errorf("audit the trace: %w", err)
	}
	e.Run, e.Told = e.Snapshot.Stock.Run, told
	t.Problems = []Problem{}
	for _, v := range ledger.Judge(e).Violations {
		t.Problems = append(t.Problems, Problem{v.Rule, v.Message})
	}
	return nil
}

// remove removes the SKU, which shops would list.
func (w *World) remove(ctx context.Context) error {
	for _, q := range []string{"DELETE FROM orders WHERE sku_id = ?", "DELETE FROM stock WHERE id = ?"} {
		if err := w.admin.DB.WithContext(ctx).Exec(q, w.sku).Error; err != nil {
			return fmt.Errorf("remove the trace's SKU: %w", err)
		}
	}
	return nil
}
