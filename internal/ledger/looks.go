package ledger

import (
	"context"
	"strings"
	"sync"

	"gorm.io/gorm"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Looks gathers looks at undecided requests: in a sale that is sold out, every
// refusal ends with one. Those that come while a statement is under way share
// the next one, which waits for no row. A request whose row is locked is looked up
// again alone, and waits (Store.Undecided).
type Looks struct {
	store    *Store
	together bool

	mu      sync.Mutex
	waiting line[*look]
	working bool
}

// A look on its way.
type look struct {
	lookKey
	place
	done  chan struct{} // closed when the rest is set
	order *Order        // nil: there is none
	alone bool          // the statement could not tell
}

type lookKey struct {
	requestKey
	sku int64
}

// NewLooks looks into store. together: its server knows NOWAIT.
func NewLooks(store *Store, together bool) *Looks { return &Looks{store: store, together: together} }

// Undecided is Store.Undecided, together with others. With a tap a look is a
// command of its own.
func (l *Looks) Undecided(ctx context.Context, sku, user int64, requestID string) (Order, error) {
	if !l.together || tap.From(ctx) != nil {
		return l.store.Undecided(ctx, sku, user, requestID)
	}
	a := &look{lookKey: lookKey{requestKey{user, requestID}, sku}, done: make(chan struct{})}
	l.ask(a)
	select {
	case <-a.done:
	case <-ctx.Done():
		l.mu.Lock()
		l.waiting.leave(a)
		l.mu.Unlock()
		return Order{}, before(ctx.Err())
	}
	switch {
	case a.alone:
		return l.store.Undecided(ctx, sku, user, requestID)
	case a.order == nil:
		return Order{}, seckill.ErrUnknownOrder
	}
	return *a.order, nil
}

func (l *Looks) ask(a *look) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting.join(a)
	if !l.working {
		l.working = true
		go l.work()
	}
}

// work sends what waits, and ends when nothing does.
func (l *Looks) work() {
	for {
		l.mu.Lock()
		looks := l.waiting.first(mostClaims)
		l.working = len(looks) > 0
		l.mu.Unlock()
		if len(looks) == 0 {
			return
		}
		l.send(looks)
		for _, a := range looks {
			close(a.done)
		}
	}
}

// send asks for all of looks in one statement. Many keys that have no order would
// lock as many gaps, and keep buyers from inserting there: so it reads committed.
func (l *Looks) send(looks []*look) {
	ctx, cancel := context.WithTimeout(context.Background(), claimTimeout)
	defer cancel()
	query, args := statement(looks)
	var found []Order
	ask := func(tx *gorm.DB) error { return tx.Raw(query, args...).Scan(&found).Error }
	var err error
	if len(looks) == 1 { // of the four round trips, one will do
		err = ask(l.store.DB(ctx))
	} else {
		err = l.store.ReadCommitted().try(ctx, ask)
	}
	orders := make(map[lookKey]*Order, len(found))
	for i, o := range found {
		orders[lookKey{requestKey{o.UserID, o.RequestID}, o.SKUID}] = &found[i]
	}
	for _, a := range looks {
		a.alone, a.order = err != nil, orders[a.lookKey]
	}
}

// statement looks for the orders of looks. There are as many keys as the next
// power of two, so that there are few statements to prepare. FOR UPDATE is what
// every server knows NOWAIT with; the index is forced as for claims.
func statement(looks []*look) (query string, args []any) {
	n := 1
	for n < len(looks) {
		n *= 2
	}
	for i := range n {
		a := looks[min(i, len(looks)-1)]
		args = append(args, a.id, a.user, a.sku)
	}
	return "SELECT * FROM orders FORCE INDEX (orders_request_in_run) WHERE (request_id, user_id, sku_id) IN ((?, ?, ?)" +
		strings.Repeat(", (?, ?, ?)", n-1) + ")" + ofThisRun + " FOR UPDATE NOWAIT", args
}
