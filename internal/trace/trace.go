// Package trace runs one purchase, or several that race, and records every
// command it sends: when it was sent, how long it took, what came back, and
// from when to when the lock was held. Package explore asks what could happen;
// a trace shows what did.
package trace

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/ledger"
	"seckill/internal/observe"
	"seckill/internal/probe"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/wire"
)

// A Trace is what was recorded. Times are microseconds since the buyers were
// let go; SKU numbers are written as 1 and random tokens as t1, t2, ….
type Trace struct {
	Strategy string            `json:"strategy"`
	Stock    int64             `json:"stock"`
	Buyers   []explore.Buyer   `json:"buyers"`
	Before   []explore.Value   `json:"before"` // what the servers kept
	After    []explore.Value   `json:"after"`
	Steps    []observe.Sent    `json:"steps"`
	Held     []observe.Hold    `json:"held"`
	Told     []explore.Answer  `json:"told"`
	Problems []explore.Problem `json:"problems"` // what the ledger's judge says
	Cut      bool              `json:"cut"`      // there were more steps than maxSteps
}

const (
	// sku is sold in traces only: a number that is found in any command.
	sku = 8_000_000_001
	// stock is enough for the first buyer, or for the second, not for both.
	stock = 2
	// maxSteps keeps a polling buyer from filling a page.
	maxSteps = 500
)

// Run has buyers (1 or 2) buy at once by a strategy of its own instance on the
// backends of config. An error means that nothing could be recorded; a buyer's
// own error is part of the Trace. Traces on one database must take turns.
func Run(ctx context.Context, config backend.Config, info catalog.Info, buyers int) (t *Trace, err error) {
	// What the strategy does not use would be looked into, and shown.
	config = config.Only(info.Uses()...)
	config.MaxSQLConns = 8
	in, err := backend.Open(ctx, config)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if err := ledger.Migrate(ctx, in.DB); err != nil {
		return nil, err
	}
	s := &sale{in: in, info: info, store: ledger.NewStore(in.DB), recorder: observe.NewRecorder(observe.NewNames(sku))}
	if s.probes, err = probe.Of(ctx, in, info); err != nil {
		return nil, err
	}
	if s.strategy, err = catalog.Build(observe.Locks(info, nil), catalog.Deps{Instance: in, Ledger: s.store, Settings: catalog.DefaultSettings()}); err != nil {
		return nil, err
	}
	t = &Trace{Strategy: info.Name, Stock: stock}
	for i := range buyers {
		t.Buyers = append(t.Buyers, explore.Buyer{Name: string(rune('A' + i)), Quantity: int64(buyers - i), Does: explore.Buys})
	}
	defer func() { err = errors.Join(err, s.forget(context.WithoutCancel(ctx))) }()
	if err := s.warm(ctx, t.Buyers); err != nil {
		return nil, err
	}
	return t, s.record(ctx, t)
}

// A sale is the SKU that a trace is made of.
type sale struct {
	in       *backend.Instance
	info     catalog.Info
	store    *ledger.Store
	strategy seckill.Strategy
	recorder *observe.Recorder
	probes   probe.Set
	run      int64
}

// open starts the next run of the SKU.
func (s *sale) open(ctx context.Context) error {
	row, err := s.store.Reset(ctx, sku, "trace", stock)
	if err != nil {
		return fmt.Errorf("put the trace's SKU on sale: %w", err)
	}
	s.run = row.Run
	if r, ok := s.strategy.(seckill.Resetter); ok {
		if err := r.Reset(ctx, sku, stock); err != nil {
			return fmt.Errorf("put the trace's SKU on sale: %w", err)
		}
	}
	return nil
}

// warm lets the buyers buy once unrecorded, so that connections are open and
// servers know the scripts. How it ends does not matter.
func (s *sale) warm(ctx context.Context, buyers []explore.Buyer) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	var all sync.WaitGroup
	for i, b := range buyers {
		all.Go(func() { _, _ = s.strategy.Deduct(ctx, purchase(i, b, "warm")) })
	}
	all.Wait()
	return s.open(ctx)
}

func purchase(i int, b explore.Buyer, request string) seckill.Purchase {
	return seckill.Purchase{SKU: sku, User: int64(i + 1), Quantity: b.Quantity, RequestID: fmt.Sprintf("%s-%s", b.Name, request)}
}

func (s *sale) record(ctx context.Context, t *Trace) error {
	t.Before = s.look(ctx)
	told := make([]ledger.Told, len(t.Buyers))
	t.Told = make([]explore.Answer, len(t.Buyers))
	// A race that one of them wins by being started first shows nothing: all send
	// their first command at once.
	var ready sync.WaitGroup
	ready.Add(len(t.Buyers))
	s.recorder.Start()
	var all sync.WaitGroup
	for i, b := range t.Buyers {
		all.Go(func() {
			p, arrive := purchase(i, b, "1"), sync.OnceFunc(ready.Done)
			r, err := s.strategy.Deduct(tap.With(ctx, observe.NewGate(s.recorder, b.Name, func(int, *tap.Command) bool {
				arrive()
				ready.Wait()
				return false
			})), p)
			arrive() // a buyer that sends nothing blocks no other
			told[i] = wire.Told(p, r, err)
			t.Told[i] = explore.Answer{Who: b.Name, Answer: s.recorder.Plain(answer(r, err))}
		})
	}
	all.Wait()
	t.After = s.look(ctx)
	t.Steps, t.Held = s.recorder.List()
	if t.Cut = len(t.Steps) > maxSteps; t.Cut {
		t.Steps = t.Steps[:maxSteps]
	}
	snap, err := catalog.Snapshot(ctx, s.store, sku, []catalog.Seller{{Info: s.info, Strategy: s.strategy}})
	if err != nil {
		return fmt.Errorf("audit the trace: %w", err)
	}
	report := ledger.Judge(ledger.Evidence{Snapshot: snap, Initial: stock, Run: s.run, Told: told,
		StockStoreOf: catalog.StockStoreOf([]catalog.Seller{{Info: s.info}})})
	t.Problems = []explore.Problem{}
	for _, v := range report.Violations {
		t.Problems = append(t.Problems, explore.Problem{Rule: v.Rule, Message: v.Message})
	}
	return nil
}

// look reads what the servers keep, in the words of the steps.
func (s *sale) look(ctx context.Context) []explore.Value {
	values := s.probes.Look(ctx, probe.Key(s.info, sku), sku)
	for i, v := range values {
		values[i] = explore.Value{Name: s.recorder.Plain(v.Name), Value: s.recorder.Plain(v.Value)}
	}
	return values
}

// forget removes the SKU, which shops would list.
func (s *sale) forget(ctx context.Context) error {
	for _, q := range []string{"DELETE FROM orders WHERE sku_id = ?", "DELETE FROM stock WHERE id = ?"} {
		if err := s.in.DB.WithContext(ctx).Exec(q, int64(sku)).Error; err != nil {
			return fmt.Errorf("remove the trace's SKU: %w", err)
		}
	}
	return nil
}

func answer(r seckill.Receipt, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("sold %d, %d left", r.Quantity, r.Remaining)
}
