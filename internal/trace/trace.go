// Package trace records purchases in real time: what their buyers send, when, and what
// comes back. A schedule of package explore shows what could happen; a trace shows what did.
package trace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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

// A Trace is one purchase, or several that raced: every command that was sent, when, how
// long it took and what came back, and from when to when the lock was held. Times are
// microseconds since the buyers were let go.
type Trace struct {
	Strategy string            `json:"strategy"`
	Stock    int64             `json:"stock"`
	Buyers   []explore.Buyer   `json:"buyers"`
	Before   []probe.Value     `json:"before"` // what the servers kept
	After    []probe.Value     `json:"after"`
	Steps    []observe.Sent    `json:"steps"`
	Held     []observe.Hold    `json:"held"`
	Told     []explore.Answer  `json:"told"`
	Problems []explore.Problem `json:"problems"` // what the ledger's judge says
	Cut      bool              `json:"cut"`      // there were more steps than maxSteps
}

const (
	// stock is enough for the first buyer, or for the second, not for both.
	stock = 2
	// maxSteps keeps a polling buyer from filling a page.
	maxSteps = 500
)

// A recording is a process of the strategy, and the SKU that is sold there.
type recording struct {
	*observe.Process
	probes *probe.Set
	names  *observe.Names
	sku    int64
}

// Record has buyers (1 or 2) buy at once by a strategy of its own instance on the
// backends of config. An error means that nothing could be recorded; a buyer's
// own error is part of the Trace. Traces on one database must take turns.
func Record(ctx context.Context, config backend.Config, info catalog.Info, buyers int) (t *Trace, err error) {
	config = config.Only(info.Uses()...) // what it does not use would be looked into, and shown
	config.MaxSQLConns = 8
	p, err := observe.Start(ctx, config, info, catalog.DefaultSettings(), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.In.Close()) }()
	r := &recording{Process: p, probes: probe.Of(p.In, info), sku: 8_000_000_000_000 + time.Now().UnixMilli()} // found in any command's text
	r.names = observe.NewNames(r.sku)
	if err := ledger.Migrate(ctx, p.In.DB); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.remove(context.WithoutCancel(ctx))) }()
	t = &Trace{Strategy: info.Name, Stock: stock, Problems: []explore.Problem{}}
	for i := range buyers {
		t.Buyers = append(t.Buyers, explore.Buyer{Name: string(rune('A' + i)), Quantity: int64(buyers - i), Does: explore.Buys})
	}
	// They buy once unrecorded, so that connections are open and servers know the
	// scripts. How it ends does not matter.
	if err := r.reset(ctx); err != nil {
		return nil, err
	}
	var all sync.WaitGroup
	for _, b := range t.Buyers {
		all.Go(func() { _, _ = p.Strategy.Deduct(ctx, r.purchase(b, "before")) })
	}
	all.Wait()
	if err := r.reset(ctx); err != nil {
		return nil, err
	}
	return t, r.record(ctx, t)
}

func (r *recording) reset(ctx context.Context) error {
	if err := r.Reset(ctx, r.sku, "traced", stock); err != nil {
		return fmt.Errorf("put the trace's SKU on sale: %w", err)
	}
	return nil
}

// purchase is what a buyer of the trace asks for.
func (r *recording) purchase(b explore.Buyer, request string) seckill.Purchase {
	return seckill.Purchase{SKU: r.sku, User: int64(b.Name[0]-'A') + 1, Quantity: b.Quantity, RequestID: fmt.Sprintf("%s-%s-%d", b.Name, request, r.sku)}
}

func (r *recording) record(ctx context.Context, t *Trace) error {
	t.Before = r.probes.Look(ctx, r.sku, r.names.Plain)
	told := make([]ledger.Told, len(t.Buyers))
	t.Told = make([]explore.Answer, len(t.Buyers))
	// A race that one of them wins by being started first shows nothing: all send
	// their first command at once.
	var ready, all sync.WaitGroup
	ready.Add(len(t.Buyers))
	recorder := observe.NewRecorder(r.names)
	for i, b := range t.Buyers {
		all.Go(func() {
			arrive := sync.OnceFunc(ready.Done)
			p := r.purchase(b, "recorded")
			got, err := r.Strategy.Deduct(tap.With(ctx, observe.NewGate(recorder, b.Name, func(int, *tap.Command) bool {
				arrive()
				ready.Wait()
				return false
			})), p)
			arrive() // a buyer that sends nothing blocks no other
			told[i] = wire.Told(p, got, err)
			t.Told[i] = explore.Answer{Who: b.Name, Answer: explore.Outcome{Buyer: b, Receipt: got, Err: err}.Answer()}
		})
	}
	all.Wait()
	for i := range t.Told {
		t.Told[i].Answer = r.names.Plain(t.Told[i].Answer)
	}
	t.After = r.probes.Look(ctx, r.sku, r.names.Plain)
	t.Steps, t.Held = recorder.List()
	if t.Cut = len(t.Steps) > maxSteps; t.Cut {
		t.Steps = t.Steps[:maxSteps]
	}
	e, err := catalog.Evidence(ctx, r.Store, r.sku, []catalog.Seller{{Info: r.Info, Strategy: r.Strategy}})
	if err != nil {
		return fmt.Errorf("audit the trace: %w", err)
	}
	e.Initial, e.Told = stock, told
	for _, v := range ledger.Judge(e).Violations {
		t.Problems = append(t.Problems, explore.Problem{Rule: v.Rule, Message: v.Message})
	}
	return nil
}

// remove removes the SKU, which shops would list.
func (r *recording) remove(ctx context.Context) error {
	for _, q := range []string{"DELETE FROM orders WHERE sku_id = ?", "DELETE FROM stock WHERE id = ?"} {
		if err := r.In.DB.WithContext(ctx).Exec(q, r.sku).Error; err != nil {
			return fmt.Errorf("remove the trace's SKU: %w", err)
		}
	}
	return nil
}
