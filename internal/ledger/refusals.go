package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"gorm.io/gorm"

	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// ErrRunOver means that the sale was set anew since the refusal was decided, so that the
// refusal says nothing about the sale that is on.
var ErrRunOver = fmt.Errorf("%w: the sale was set anew meanwhile", seckill.ErrConflict)

// A Refusal is the final answer to a request that gets no order.
type Refusal struct {
	seckill.Purchase
	Run      int64  // in which the request was refused
	Strategy string // that refused it
	Reason   string // a code of package judge: sold_out or duplicate
}

// Refusals writes final refusals as rows of the table orders. The unique key on (request,
// user, SKU, run) then decides which answer a request has: an order, or a refusal, whichever
// is written first. No order can follow a refusal that is committed, from no process and no
// node, however late.
//
// Refused buyers of one process share an INSERT: a buyer who finds no INSERT under way
// leads one at once, and those who come meanwhile share the next one. There is no goroutine
// and no timer.
type Refusals struct {
	store *Store

	mu      sync.Mutex
	writing bool
	waiting []*writtenRefusal
}

// A writtenRefusal is a refusal on its way into the table.
type writtenRefusal struct {
	Refusal
	id     int64     // of its row
	turn   chan bool // true: lead the next INSERT; false: what follows is set
	alone  bool      // the shared INSERT failed: this refusal needs one of its own
	answer Order
	err    error
}

// maxRefusals bounds the rows of one INSERT.
const maxRefusals = 256

// NewRefusals returns a writer of refusals into store.
func NewRefusals(store *Store) *Refusals { return &Refusals{store: store} }

// Write writes a refusal and returns the row that the request has now: this refusal, or
// the order or refusal that was there before. A refusal that is written now has no CreatedAt
// yet, which the database sets. Write waits for a transaction that has written
// such a row and not ended. ErrRunOver: the sale was set anew, and nothing counts. After any
// other error the refusal may have been written or not, and must not be told.
func (w *Refusals) Write(ctx context.Context, r Refusal) (Order, error) {
	mine := &writtenRefusal{Refusal: r, turn: make(chan bool, 1)}
	lead := w.join(mine)
	if !lead {
		var err error
		if lead, err = tap.Wait(ctx, "the next INSERT of refusals of this process", mine.turn); err != nil {
			w.leave(mine)
			return Order{}, fmt.Errorf("%w: the refusal is not written: %w", seckill.ErrUnavailable, err)
		}
	}
	if lead {
		w.lead(ctx, mine)
	}
	if mine.alone {
		w.store.writeRefusals(ctx, []*writtenRefusal{mine})
	}
	return mine.answer, mine.err
}

// lead writes the refusals of mine and of those who wait, and tells them. A shared INSERT
// fails as a whole, for instance when one of its rows waits too long for a copy.
func (w *Refusals) lead(ctx context.Context, mine *writtenRefusal) {
	batch := w.take(mine)
	defer w.handOver(batch[1:])
	if err := w.store.writeRefusals(ctx, batch); err != nil && len(batch) > 1 {
		for _, one := range batch {
			one.alone = true
		}
	}
}

// join makes r the leader if no INSERT is under way; otherwise r waits.
func (w *Refusals) join(r *writtenRefusal) (lead bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.writing {
		w.writing = true
		return true
	}
	w.waiting = append(w.waiting, r)
	return false
}

// take returns the leader's batch: mine, and those who wait.
func (w *Refusals) take(mine *writtenRefusal) []*writtenRefusal {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), maxRefusals-1)
	batch := append([]*writtenRefusal{mine}, w.waiting[:n]...)
	w.waiting = w.waiting[n:]
	return batch
}

// handOver lets the first who waits lead, and tells those of a batch that it is written.
func (w *Refusals) handOver(batch []*writtenRefusal) {
	for _, one := range batch {
		one.turn <- false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.writing = len(w.waiting) > 0; w.writing {
		w.waiting[0].turn <- true
		w.waiting = w.waiting[1:]
	}
}

// leave takes r out of the queue. A turn that came at the same moment goes to the next.
func (w *Refusals) leave(r *writtenRefusal) {
	w.mu.Lock()
	w.waiting = slices.DeleteFunc(w.waiting, func(other *writtenRefusal) bool { return other == r })
	w.mu.Unlock()
	select {
	case lead := <-r.turn:
		if lead {
			w.handOver(nil)
		}
	default:
	}
}

var intoRefusals = " INTO orders " + orderColumns(", reason") + " VALUES "

const refusalRow = "(?, '', ?, ?, ?, ?, 0, ?, ?, ?, ?)"

func (r *writtenRefusal) values() []any {
	r.id = newOrderID()
	return []any{r.id, r.RequestID, r.User, r.SKU, r.Quantity, r.Strategy, r.Run, Refused, r.Reason}
}

// Refuse writes a refusal in the transaction that has decided it. ErrDuplicate: the request
// has an answer already.
func (s *Store) Refuse(tx *gorm.DB, r Refusal) error {
	_, _, err := s.Exec(tx, "INSERT"+intoRefusals+refusalRow, (&writtenRefusal{Refusal: r}).values()...)
	return notRecorded(err)
}

// writeRefusals writes refusals in one INSERT, in the order of their users, in which every
// process locks them, and notes the answers that their requests have then. After an error it
// is the err of each.
func (s *Store) writeRefusals(ctx context.Context, batch []*writtenRefusal) (err error) {
	defer func() {
		for _, one := range batch {
			if one.err = err; err == nil && one.answer.ID == 0 {
				one.err = ErrRunOver
			}
		}
	}()
	sorted := slices.SortedFunc(slices.Values(batch), func(a, b *writtenRefusal) int { return cmp.Compare(a.User, b.User) })
	statement, values := insertIgnore(s.db)+intoRefusals, []any{}
	for i, r := range sorted {
		statement += []string{"", ", "}[min(i, 1)] + refusalRow
		values = append(values, r.values()...)
	}
	var inserted int64
	err = retry(ctx, func() error {
		inserted, _, err = s.Exec(s.DB(ctx), statement, values...)
		return err
	})
	if err == nil && inserted == int64(len(batch)) {
		err = s.confirmRuns(ctx, batch)
	} else if err == nil {
		err = s.findAnswers(ctx, batch)
	}
	return before(err)
}

// confirmRuns makes refusals that are written the answers of their requests if the runs
// in which they were decided are still on.
func (s *Store) confirmRuns(ctx context.Context, batch []*writtenRefusal) error {
	var skus []int64
	for _, one := range batch {
		if !slices.Contains(skus, one.SKU) {
			skus = append(skus, one.SKU)
		}
	}
	var stocks []judge.Stock
	err := s.DB(ctx).Raw("SELECT id, run FROM stock WHERE id IN ?", skus).Scan(&stocks).Error
	for _, st := range stocks {
		for _, one := range batch {
			if one.SKU == st.ID && one.Run == st.Run {
				one.answer = Order{ID: one.id, RequestID: one.RequestID, Run: one.Run, UserID: one.User, SKUID: one.SKU,
					Quantity: one.Quantity, Status: Refused, Reason: one.Reason, Strategy: one.Strategy}
			}
		}
	}
	return err
}

// findAnswers reads the rows that requests have in the runs that are on.
func (s *Store) findAnswers(ctx context.Context, batch []*writtenRefusal) error {
	index := "FORCE INDEX (orders_request_in_run) " // early in a sale, statistics still say that a scan is cheaper
	if s.db.Name() == "sqlite" {
		index = ""
	}
	var requests [][]any
	for _, one := range batch {
		requests = append(requests, []any{one.RequestID, one.User, one.SKU})
	}
	var rows []Order
	err := s.DB(ctx).Raw("SELECT * FROM orders "+index+"WHERE run = (SELECT stock.run FROM stock WHERE stock.id = orders.sku_id) "+
		"AND (request_id, user_id, sku_id) IN ?", requests).Scan(&rows).Error
	for _, o := range rows {
		for _, one := range batch {
			if o.RequestID == one.RequestID && o.UserID == one.User && o.SKUID == one.SKU {
				one.answer = o
			}
		}
	}
	return err
}
