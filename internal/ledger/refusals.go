package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gorm.io/gorm"

	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// ErrRunOver means that the sale was reset after the refusal was decided. So the refusal does not
// hold for the current run.
var ErrRunOver = fmt.Errorf("%w: the sale was reset meanwhile", seckill.ErrConflict)

// A Refusal is the final answer to a request that gets no order.
type Refusal struct {
	seckill.Purchase
	Run      int64  // the run in which the request was refused
	Strategy string // the strategy that refused the request
	Reason   string // the code of the refusal in package judge: sold_out or duplicate
}

// Refusals writes final refusals as rows of the table orders. The unique key on (request, user, SKU, run)
// decides which answer a request has: the order or the refusal that is written first. After a refusal is
// committed, no process and no database node can write an order for the request.
//
// The refused buyers of one process share INSERTs. If no INSERT is under way, a buyer starts one at
// once, as its leader. Buyers who arrive during that INSERT wait and share the next one. The first of
// them is its leader. So no goroutine and no timer is needed.
type Refusals struct {
	Store *Store // the ledger that gets the refusals

	mu      sync.Mutex
	writing bool
	waiting []*pendingRefusal
}

type pendingRefusal struct {
	Refusal
	id     int64     // the id of the refusal's row
	turn   chan bool // receives true if this buyer leads the next INSERT, or false if another has tried to write it
	alone  bool      // the shared INSERT failed, so this refusal needs an INSERT of its own
	answer Order
	err    error
}

const maxRefusals = 256

// Write writes a refusal and returns the row that the request has now. The row is the refusal, or an order or refusal
// that was written before. If another transaction has written such a row and is still open, Write waits for its end. If
// Write has written the refusal, CreatedAt in the result is empty, because the database sets it. Write returns
// ErrRunOver if the sale was reset. After any other error the refusal may have been written or not, so the caller must
// not tell the buyer that the refusal is final.
func (w *Refusals) Write(ctx context.Context, r Refusal) (Order, error) {
	mine := &pendingRefusal{Refusal: r, turn: make(chan bool, 1)}
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
		w.insert(ctx, []*pendingRefusal{mine})
	}
	return mine.answer, mine.err
}

// lead writes the leader's own refusal and the refusals that wait, and wakes their buyers. A shared INSERT
// can fail, for instance because another transaction holds the key of one request for too long. Then every
// refusal needs an INSERT of its own.
func (w *Refusals) lead(ctx context.Context, mine *pendingRefusal) {
	batch := w.take(mine)
	defer w.handOver(batch[1:])
	if err := w.insert(ctx, batch); err != nil && len(batch) > 1 {
		for _, one := range batch {
			one.alone = true
		}
	}
}

// join returns true if no INSERT is under way. The caller must then send one. Otherwise join puts r into the queue.
func (w *Refusals) join(r *pendingRefusal) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.writing {
		w.writing = true
		return true
	}
	w.waiting = append(w.waiting, r)
	return false
}

func (w *Refusals) take(mine *pendingRefusal) []*pendingRefusal {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(len(w.waiting), maxRefusals-1)
	batch := append([]*pendingRefusal{mine}, w.waiting[:n]...)
	w.waiting = w.waiting[n:]
	return batch
}

// handOver wakes the buyers of a written batch, and makes the first waiting buyer the next leader.
func (w *Refusals) handOver(batch []*pendingRefusal) {
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

// leave takes r out of the queue. If r was made the leader at the same moment, leave passes the lead to the next buyer.
func (w *Refusals) leave(r *pendingRefusal) {
	w.mu.Lock()
	w.waiting = slices.DeleteFunc(w.waiting, func(other *pendingRefusal) bool { return other == r })
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

func (r *pendingRefusal) values() []any {
	r.id = newOrderID()
	return []any{r.id, r.RequestID, r.User, r.SKU, r.Quantity, r.Strategy, r.Run, Refused, r.Reason}
}

// Refuse writes a refusal in the transaction that decided it. It returns ErrDuplicate if the
// request has an answer already.
func (s *Store) Refuse(tx *gorm.DB, r Refusal) error {
	_, _, err := s.Exec(tx, "INSERT"+intoRefusals+refusalRow, (&pendingRefusal{Refusal: r}).values()...)
	return notRecorded(err)
}

func (w *Refusals) insert(ctx context.Context, batch []*pendingRefusal) error {
	err := before(w.insertOrFind(ctx, batch))
	for _, one := range batch {
		one.err = err
		if err == nil && one.answer.ID == 0 {
			one.err = ErrRunOver
		}
	}
	return err
}

// insertOrFind inserts the refusals, sorted by user so that all processes lock rows in the same order. If a row was not
// inserted, its request already has an answer, which insertOrFind reads.
func (w *Refusals) insertOrFind(ctx context.Context, batch []*pendingRefusal) error {
	byUser := func(a, b *pendingRefusal) int { return cmp.Compare(a.User, b.User) }
	sorted := slices.SortedFunc(slices.Values(batch), byUser)
	db := w.Store.DB(ctx)
	rows, values := []string{}, []any{}
	for _, r := range sorted {
		rows = append(rows, refusalRow)
		values = append(values, r.values()...)
	}
	statement := insertIgnore(db) + intoRefusals + strings.Join(rows, ", ")
	var inserted int64
	err := retry(ctx, func() (err error) {
		inserted, _, err = w.Store.Exec(db, statement, values...)
		return err
	})
	switch {
	case err != nil:
		return err
	case inserted == int64(len(batch)):
		return confirmRuns(db, batch)
	}
	return findAnswers(db, batch)
}

// confirmRuns sets the answer of each refusal in the batch, all of which were inserted. If a sale was reset meanwhile,
// the refusals of its earlier run get no answer.
func confirmRuns(db *gorm.DB, batch []*pendingRefusal) error {
	var skus []int64
	for _, one := range batch {
		if !slices.Contains(skus, one.SKU) {
			skus = append(skus, one.SKU)
		}
	}
	var stocks []judge.Stock
	err := db.Raw("SELECT id, run FROM stock WHERE id IN ?", skus).Scan(&stocks).Error
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

// findAnswers reads the answer to each request: its row of the table orders in the current run of the SKU.
func findAnswers(db *gorm.DB, batch []*pendingRefusal) error {
	// Early in a sale, old statistics would make the database scan the table, so the query names the index.
	index := "FORCE INDEX (orders_request_in_run) "
	if db.Name() == "sqlite" {
		index = ""
	}
	var requests [][]any
	for _, one := range batch {
		requests = append(requests, []any{one.RequestID, one.User, one.SKU})
	}
	var rows []Order
	err := db.Raw("SELECT * FROM orders "+index+
		"WHERE run = (SELECT stock.run FROM stock WHERE stock.id = orders.sku_id) "+
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
