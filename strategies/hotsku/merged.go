package hotsku

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Merged sells to many buyers in one transaction: one INSERT of all orders,
// one UPDATE that takes the units of all orders, one COMMIT.
var Merged = family.Strategy(catalog.Info{
	Name:       "merged",
	Source:     "group commit; inventory hints of AliSQL and PolarDB",
	Guarantees: OneTrip.Guarantees,
	Needs:      OneTrip.Needs,
	Shares:     true,
	Also:       []string{"one_trip.go", "one_trip.sql"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		trip, err := newOneTrip(d)
		s := &merged{oneTrip: trip}
		s.commit = s.commitThenTell
		return s, err
	},
})

type merged struct {
	oneTrip
	batches
	commit func(context.Context, *batch) error
}

func (s *merged) Deduct(
	ctx context.Context, p seckill.Purchase,
) (seckill.Receipt, error) {
	b := &buyer{Entry: ledger.Entry{Purchase: p}, ctx: ctx,
		told: make(chan bool, 1)}
	lead, err := s.waitForBatch(b)
	if err != nil {
		return seckill.Receipt{}, err
	}
	if lead {
		s.leadBatch(b)
	}
	switch {
	case errors.Is(b.err, errSeparate):
		return s.oneTrip.Deduct(ctx, p)
	case b.err != nil:
		return seckill.Receipt{}, b.err
	}
	return b.Receipt, nil
}

// leadBatch sells to the waiting buyers, and then makes the next buyer a
// leader. A leader who hangs up does not end the batch, because the batch
// belongs to all its buyers.
func (s *merged) leadBatch(b *buyer) {
	all, expected := s.takeWaiting(b)
	together := &batch{buyers: all, stockHint: expected}
	var once sync.Once
	together.handOver = func(left stockHint) {
		once.Do(func() { s.passLead(b.Purchase.SKU, left) })
	}
	defer together.handOver(stockHint{})
	if len(all) == 1 {
		b.Receipt, b.err = s.oneTrip.Deduct(b.ctx, b.Purchase)
		return
	}
	// After a panic, tell the buyers that the outcome is unknown.
	defer together.tellError(seckill.ErrUnknown)
	ctx, cancel := tap.WithTimeout(
		context.WithoutCancel(b.ctx), maxBatchTime)
	defer cancel()
	s.sellBatch(ctx, together)
}

// maxTries bounds the attempts to sell a batch in one transaction. After the
// last attempt, each buyer of the batch buys alone.
const maxTries = 4

var errAgain = fmt.Errorf("%w: the batch is to be chosen again",
	seckill.ErrConflict)

// errSeparate means that the batch can neither sell to a buyer nor refuse the
// purchase. The buyer then sends the purchase alone.
var errSeparate = errors.New("the batch does not decide")

// sellBatch first trusts the stock hint of the previous batch. If the hint was
// wrong, or there is none, sellBatch reads the stock row.
func (s *merged) sellBatch(ctx context.Context, b *batch) {
	for try := range maxTries {
		if try > 0 || b.run == 0 {
			// Look locks nothing, so it does not wait for a locked row.
			sku := b.buyers[0].Purchase.SKU
			run, num, err := s.store.Look(ctx, seckill.Purchase{SKU: sku})
			if err == nil && b.certain && run != b.run {
				err = refusalFor("reset")
			}
			if err != nil {
				b.tellError(err)
				return
			}
			b.run, b.num, b.certain = run, num, true
		}
		b.chooseOrders()
		if len(b.orders) == 0 && b.certain {
			return
		}
		err := errAgain
		if len(b.orders) > 0 {
			err = s.commit(ctx, b)
		}
		if !errors.Is(err, errAgain) {
			b.tellError(err)
			return
		}
	}
	b.tellError(errSeparate)
}

func (s *merged) commitThenTell(ctx context.Context, b *batch) error {
	var left int64
	err := s.store.Tx(ctx, func(tx *gorm.DB) (err error) {
		left, err = s.writeBatch(tx, b)
		return err
	})
	if err == nil {
		b.tellSold(left)
	}
	return err
}

// writeBatch writes the orders, and then takes their units. After the UPDATE
// of the stock row, when only the COMMIT is missing, the next batch may begin.
// It writes its orders, and then waits for the row until this batch commits.
func (s *merged) writeBatch(tx *gorm.DB, b *batch) (int64, error) {
	ok, err := s.store.PlaceAll(tx, b.run, b.num, b.orders)
	if err == nil && !ok {
		err = errAgain // some buyers have bought before, so choose again
	}
	if err != nil {
		return 0, err
	}
	sku := b.orders[0].Purchase.SKU
	rows, left, err := s.store.Exec(tx, "UPDATE stock "+
		"SET num = LAST_INSERT_ID(num - ?) "+
		"WHERE id = ? AND run = ? AND num - ? >= 0", b.sum, sku, b.run, b.sum)
	if err == nil && rows == 0 {
		err = errAgain // another process took the units, so choose again
	}
	if off := left - (b.num - b.sum); err == nil && off != 0 {
		err = s.store.Shift(tx, b.run, off, b.orders)
	}
	if err == nil {
		b.handOver(stockHint{b.run, left})
	}
	return left, err
}

const (
	maxBatch = 256
	// maxWaitingBuyers bounds the buyers of one SKU who wait in this process.
	// Any further buyer gets ErrBusy at once.
	maxWaitingBuyers = 4096
	maxBatchTime     = time.Minute
)

// batches gathers the buyers of one process, separately for each SKU:
//
//  1. If no batch of the SKU is running, a buyer leads one at once. A batch
//     never waits for more buyers.
//  2. Other buyers wait while a batch is running.
//  3. After the UPDATE of the batch, even before its COMMIT, the first waiting
//     buyer leads the next batch. All waiting buyers belong to this batch.
//
// Leaders send all commands, so no other goroutine and no timer is needed.
type batches struct {
	mu     sync.Mutex
	groups map[int64]*group // the key is the SKU
}

type group struct {
	waiting []*buyer
	hint    stockHint // from the last batch, for the next leader
}

// A stockHint has the run and the units that the stock row will have after the
// COMMIT of the previous batch. Both may be wrong, because the COMMIT may
// fail. So a hint alone does not mean "sold out". Without a hint, the run is
// 0.
type stockHint struct{ run, num int64 }

// A buyer is in a batch, or waits for one.
type buyer struct {
	ledger.Entry
	ctx   context.Context
	state state // guarded by the mutex of batches
	// told receives true when the buyer must lead a batch, and false when the
	// buyer has a result.
	told chan bool
	err  error // nil if the batch has sold to the buyer
	done bool  // the buyer has a result
}

type state int

const (
	stateWaits state = iota
	stateLeads
	stateInBatch // the buyer's purchase belongs to a running batch
)

// waitForBatch returns lead = true when b must lead a batch. It returns lead =
// false when the batch of another leader has given b a result.
func (q *batches) waitForBatch(b *buyer) (lead bool, err error) {
	if lead, err = q.joinOrLead(b); err == nil && !lead {
		lead, err = tap.Wait(b.ctx, "the next batch of this process", b.told)
		if err != nil {
			return false, q.leaveGroup(b, err)
		}
	}
	if lead && b.ctx.Err() != nil {
		q.passLead(b.Purchase.SKU, stockHint{})
		return false, leftUnsold(context.Cause(b.ctx))
	}
	return lead, err
}

// joinOrLead makes b the leader, and returns true, if no batch is running.
// Otherwise it adds b to the waiting buyers.
func (q *batches) joinOrLead(b *buyer) (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.groups[b.Purchase.SKU]
	switch {
	case l == nil:
		if q.groups == nil {
			q.groups = map[int64]*group{}
		}
		q.groups[b.Purchase.SKU] = &group{}
		b.state = stateLeads
		return true, nil
	case len(l.waiting) == maxWaitingBuyers:
		return false, fmt.Errorf("%w: %d buyers wait", seckill.ErrBusy,
			maxWaitingBuyers)
	}
	l.waiting = append(l.waiting, b)
	return false, nil
}

// leaveGroup ends the wait of a buyer who hangs up. If a running batch already
// has the purchase, the outcome is unknown. If not, nothing was sent.
func (q *batches) leaveGroup(b *buyer, cause error) error {
	q.mu.Lock()
	was := b.state
	if l := q.groups[b.Purchase.SKU]; was == stateWaits && l != nil {
		l.waiting = slices.DeleteFunc(l.waiting,
			func(other *buyer) bool { return other == b })
	}
	q.mu.Unlock()
	switch was {
	case stateInBatch:
		return fmt.Errorf("%w: left while the batch was on its way: %w",
			seckill.ErrUnknown, cause)
	case stateLeads:
		q.passLead(b.Purchase.SKU, stockHint{})
	}
	return leftUnsold(cause)
}

// leftUnsold returns the error for a buyer who left before any command of the
// purchase was sent.
func leftUnsold(cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", seckill.ErrBusy, cause)
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, cause)
}

// takeWaiting returns the leader b and the waiting buyers, in the order of
// their calls. It also returns the stock hint of the previous batch.
func (q *batches) takeWaiting(b *buyer) ([]*buyer, stockHint) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.groups[b.Purchase.SKU]
	batch, n := []*buyer{b}, 0
	for ; n < len(l.waiting) && len(batch) < maxBatch; n++ {
		if other := l.waiting[n]; other.ctx.Err() == nil {
			other.state = stateInBatch
			batch = append(batch, other)
		}
	}
	l.waiting = slices.Delete(l.waiting, 0, n)
	return batch, l.hint
}

// passLead makes the first waiting buyer the leader of the next batch. This
// leader gets the stock hint.
func (q *batches) passLead(sku int64, hint stockHint) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.groups[sku]
	if len(l.waiting) == 0 {
		delete(q.groups, sku)
		return
	}
	b := l.waiting[0]
	l.waiting, l.hint = slices.Delete(l.waiting, 0, 1), hint
	b.state = stateLeads
	b.told <- true
}

// A batch has the purchases that a leader sells in one transaction.
type batch struct {
	buyers    []*buyer
	handOver  func(left stockHint) // calls passLead, but once only
	stockHint                      // a hint, or read from the row
	certain   bool                 // true if run and num are from the row
	orders    []*ledger.Entry      // the purchases that the batch can sell
	users     map[int64]bool       // the users who have one of orders
	sum       int64                // the number of units in orders
}

// chooseOrders fills b.orders with purchases for which the stock is enough,
// but takes only one of each user. If the stock was read from the row, a buyer
// who wants more units than are left gets ErrSoldOut.
func (b *batch) chooseOrders() {
	b.orders, b.users, b.sum = b.orders[:0], map[int64]bool{}, 0
	for _, m := range b.buyers {
		q, user := m.Purchase.Quantity, m.Purchase.User
		switch {
		case m.done:
		case m.Refused:
			m.tellResult(errSeparate)
		case q > b.num && b.certain:
			m.tellResult(seckill.ErrSoldOut)
		case q <= b.num-b.sum && !b.users[user]:
			b.orders, b.users[user] = append(b.orders, &m.Entry), true
			b.sum += q
		}
	}
}

// tellSold gives the buyers of the batch their results, after the COMMIT. The
// argument left is the number of units that remain.
func (b *batch) tellSold(left int64) {
	for i, m := 0, 0; m < len(b.buyers); m++ {
		one := b.buyers[m]
		switch {
		case one.done:
		case i < len(b.orders) && b.orders[i] == &one.Entry:
			i++
			one.tellResult(nil)
		case b.users[one.Purchase.User]:
			one.tellResult(seckill.ErrDuplicate)
		case one.Purchase.Quantity > left:
			one.tellResult(seckill.ErrSoldOut)
		default: // enough units are left after all, so the buyer buys alone
			one.tellResult(errSeparate)
		}
	}
}

func (b *batch) tellError(err error) {
	for _, m := range b.buyers {
		m.tellResult(err)
	}
}

func (m *buyer) tellResult(err error) {
	if m.done {
		return
	}
	m.err, m.done = err, true
	m.told <- false
}
