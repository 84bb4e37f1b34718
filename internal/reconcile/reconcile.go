// Package reconcile compares what is kept in several places: the stock row and
// counters with the orders, locks and leases with the time, reservations with
// their deadline. It may look, and mend, while buyers buy.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// Kinds of findings.
const (
	Row          = "row"          // the stock row does not say what the orders leave
	NotClosed    = "not_closed"   // the row of a sale that is sold aside from it
	Counter      = "counter"      // a counter does not say what the orders leave
	Mixed        = "mixed"        // strategies of different stock stores sold in one run
	LockRows     = "lock_rows"    // rows of distributed_lock whose holder is gone
	Leases       = "leases"       // leases of slots that have ended
	Reservations = "reservations" // past their deadline, and not given back
	OldOrders    = "old_orders"   // of runs that are over
)

// A Finding is one thing that does not fit.
type Finding struct {
	Kind string `json:"kind"`
	SKU  int64  `json:"sku_id,omitempty"`
	What string `json:"what"`
	// Would says what Fix does; empty: nothing, and Advice says what an operator can do.
	Would  string `json:"would,omitempty"`
	Advice string `json:"advice,omitempty"`
	Fixed  bool   `json:"fixed,omitempty"`
	Error  string `json:"error,omitempty"` // of Fix

	fix func(context.Context) error
}

// A Place is what is looked at.
type Place struct {
	Store   *ledger.Store
	Sellers []catalog.Seller
	// Late is how long a lock without an end, or a reservation after its deadline,
	// is left to those who may still mend it themselves.
	Late time.Duration
	// Rest is how long a counter must stand still before it is judged: units of
	// purchases under way are neither in it nor in an order.
	Rest time.Duration
}

// A Report is what was found.
type Report struct {
	SKUs     int       `json:"skus"`
	Findings []Finding `json:"findings"`
	// Moving are SKUs whose counters changed while they were read: a sale is on.
	Moving []int64 `json:"moving,omitempty"`
}

// mostSKUs bounds one look.
const mostSKUs = 10_000

// Look finds, and changes nothing.
func Look(ctx context.Context, p Place) (Report, error) {
	r := Report{Findings: []Finding{}}
	skus, err := p.Store.SKUs(ctx, 0, mostSKUs)
	if err != nil {
		return r, err
	}
	r.SKUs = len(skus)
	var suspects []suspect
	for _, sku := range skus {
		found, counters, err := p.books(ctx, sku.ID)
		if err != nil {
			return r, fmt.Errorf("SKU %d: %w", sku.ID, err)
		}
		r.Findings, suspects = append(r.Findings, found...), append(suspects, counters...)
	}
	if err := p.counters(ctx, suspects, &r); err != nil {
		return r, err
	}
	for _, look := range []func(context.Context) ([]Finding, error){p.reservations, p.lockRows, p.leases, p.oldOrders} {
		found, err := look(ctx)
		if err != nil {
			return r, err
		}
		r.Findings = append(r.Findings, found...)
	}
	return r, nil
}

// Fix does what the findings would, and marks those that it has fixed.
func (r *Report) Fix(ctx context.Context) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.fix == nil {
			continue
		}
		if err := f.fix(ctx); err != nil {
			f.Error = err.Error()
			continue
		}
		f.Fixed = true
	}
}

// Left counts the findings that are not fixed.
func (r *Report) Left() (n int) {
	for _, f := range r.Findings {
		if !f.Fixed {
			n++
		}
	}
	return n
}

// books compares one SKU's row with its orders, and says which counters to look
// at.
func (p Place) books(ctx context.Context, sku int64) (found []Finding, counters []suspect, err error) {
	names, err := p.Store.Sellers(ctx, sku)
	if err != nil {
		return nil, nil, err
	}
	b, err := p.Store.Balance(ctx, sku)
	if err != nil {
		return nil, nil, err
	}
	storeOf, stores := catalog.StockStoreOf(p.Sellers), []ledger.StockStore{}
	for _, name := range names {
		store, known := storeOf(name)
		if !known {
			return []Finding{{Kind: Mixed, SKU: sku, What: fmt.Sprintf("the strategy %s, which sold, is not known to this version", name),
				Advice: "ask with the version that sold"}}, nil, nil
		}
		if !slices.Contains(stores, store) {
			stores = append(stores, store)
		}
	}
	if len(stores) > 1 {
		return []Finding{{Kind: Mixed, SKU: sku, What: fmt.Sprintf("strategies that keep the stock in %v sold in one run", stores),
			Advice: "set the sale anew, with one of them"}}, nil, nil
	}
	store := ledger.InRow // where nothing was sold, the row says what was set
	if len(stores) == 1 {
		store = stores[0]
	}
	counters = p.suspects(sku, names, b)
	if b.Num == b.Left() {
		return nil, counters, nil
	}
	return []Finding{p.row(sku, store, b)}, counters, nil
}

func (p Place) row(sku int64, store ledger.StockStore, b ledger.Balance) Finding {
	f := Finding{Kind: Row, SKU: sku, What: fmt.Sprintf("the row says that %d are left; %d were set and orders hold %d", b.Num, b.Initial, b.Held)}
	switch {
	case store.Aside() || store == ledger.InDetails:
		f.Kind, f.Would = NotClosed, "write the row from the orders, as closing the sale does"
		f.fix = func(ctx context.Context) error { return catalog.Close(ctx, p.Store, sku, p.Sellers) }
	case store == ledger.InLockTable:
		f.Advice = "the strategy sells from its lock table: set the sale anew"
	default:
		f.Would = fmt.Sprintf("set the row to what the orders leave, now %d, with the row locked", b.Left())
		f.fix = func(ctx context.Context) error {
			_, err := p.Store.Mend(ctx, sku)
			return err
		}
	}
	if b.Left() < 0 {
		f.Advice = fmt.Sprintf("%d units too many are sold: cancel orders", -b.Left())
	}
	return f
}

// A suspect is a counter that is to be read twice.
type suspect struct {
	sku     int64
	name    string
	counter seckill.Counter
	first   ledger.Balance
	said    int64
}

func (p Place) suspects(sku int64, names []string, b ledger.Balance) (all []suspect) {
	var asked []ledger.StockStore
	for _, s := range p.Sellers {
		store := s.Info.Stock.Counter()
		c, counts := s.Strategy.(seckill.Counter)
		if counts && store != "" && slices.Contains(names, s.Info.Name) && !slices.Contains(asked, store) {
			asked = append(asked, store)
			all = append(all, suspect{sku: sku, name: s.Info.Name, counter: c, first: b})
		}
	}
	return all
}

// counters reads those that differ from the orders once more, after a rest.
func (p Place) counters(ctx context.Context, all []suspect, r *Report) error {
	var differ []suspect
	for _, s := range all {
		n, err := s.counter.Count(ctx, s.sku)
		switch {
		case errors.Is(err, seckill.ErrUnknownSKU):
			r.Findings = append(r.Findings, Finding{Kind: Counter, SKU: s.sku, What: "the counter of " + s.name + " is not there: its server may have lost it",
				Advice: "set the sale anew with what is left"})
		case err != nil:
			r.Findings = append(r.Findings, Finding{Kind: Counter, SKU: s.sku, What: "the counter of " + s.name + " cannot be read", Error: err.Error(),
				Advice: "ask again when its server answers"})
		case n != s.first.Left():
			s.said = n
			differ = append(differ, s)
		}
	}
	if len(differ) == 0 {
		return nil
	}
	rest := time.NewTimer(p.Rest)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, s := range differ {
		n, err := s.counter.Count(ctx, s.sku)
		if err != nil {
			return err
		}
		b, err := p.Store.Balance(ctx, s.sku)
		if err != nil {
			return err
		}
		switch {
		case n == b.Left():
		case n != s.said || b.Run != s.first.Run || b.Held != s.first.Held:
			r.Moving = append(r.Moving, s.sku)
		default:
			r.Findings = append(r.Findings, Finding{Kind: Counter, SKU: s.sku,
				What: fmt.Sprintf("the counter of %s says that %d are left; %d were set and orders hold %d", s.name, n, b.Initial, b.Held),
				Advice: "units of a purchase that died may be lost, and cannot be told from those of one under way: " +
					"when no buyer is left, set the sale anew with what is left"})
		}
	}
	return nil
}
