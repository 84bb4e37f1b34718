package hotsku

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// An answer is the result of one buyer.
type answer struct {
	seckill.Receipt
	err error
}

// A crowd buys in the first process. Its first buyer leads alone. While the CALL of this buyer is
// held, the others come one after the other, so they are the next batch. seen gets every command.
type crowd struct {
	*sale
	first  seckill.Purchase
	others []seckill.Purchase
	seen   watcher
	// meanwhile runs when all others wait, before the first buyer goes on.
	meanwhile func(leave []context.CancelFunc)
}

// A watcher counts commands by name, and acts before or after some.
type watcher struct {
	taptest.Tap
	mu    sync.Mutex
	count map[string]int
}

func (w *watcher) Before(ctx context.Context, c *tap.Command) error {
	w.mu.Lock()
	if w.count == nil {
		w.count = map[string]int{}
	}
	w.count[c.Name]++
	w.mu.Unlock()
	return w.Tap.Before(ctx, c)
}

// buy returns the results of the other buyers, in their order.
func (c *crowd) buy(t *testing.T) []answer {
	t.Helper()
	m := c.Processes[0].(*merged)
	release, told := make(chan struct{}), make([]answer, len(c.others))
	held, hold := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		defer hold()
		ctx := taptest.Before(t.Context(), "", func() {
			hold()
			<-release
		})
		labtest.Value(m.Deduct(ctx, c.first)).Check(t, nil, "the first buyer")
	})
	<-held.Done() // now the first buyer's batch has no room for others
	var leave []context.CancelFunc
	for i, p := range c.others {
		ctx, cancel := context.WithCancel(tap.With(t.Context(), &c.seen))
		defer cancel()
		leave = append(leave, cancel)
		all.Go(func() {
			told[i].Receipt, told[i].err = m.Deduct(ctx, p)
		})
		m.await(t, c.SKU, i+1)
	}
	if c.meanwhile != nil {
		c.meanwhile(leave)
	}
	close(release)
	all.Wait()
	return told
}

// await returns when a batch is at work and the given number of buyers wait.
func (s *merged) await(t *testing.T, sku int64, waiting int) {
	t.Helper()
	labtest.Soon(t, fmt.Sprint(waiting, " buyers wait"), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		l := s.groups[sku]
		return l != nil && len(l.waiting) == waiting
	})
}

// purchases returns purchases of the users 2, 3 and so on, with these quantities.
func (s *sale) purchases(quantities ...int64) (list []seckill.Purchase) {
	for i, q := range quantities {
		list = append(list, s.Purchase(int64(i+2), q))
	}
	return list
}

// says compares the results of buyers with those wanted: the units left, or an error.
func says(t *testing.T, told []answer, want ...any) {
	t.Helper()
	for i, w := range want {
		switch w := w.(type) {
		case int:
			if told[i].err != nil || told[i].Remaining != int64(w) {
				t.Errorf("buyer %d was told %+v, want that %d remain", i, told[i], w)
			}
		case error:
			if !errors.Is(told[i].err, w) || told[i].OrderID != "" {
				t.Errorf("buyer %d was told %+v, want %v", i, told[i], w)
			}
		}
	}
}

func TestMergedSellsToManyByOneTransaction(t *testing.T) {
	s := open(t, Merged, 100)
	c := crowd{sale: s, first: s.Purchase(1, 5), others: s.purchases(3, 1, 2, 1)}
	says(t, c.buy(t), 92, 91, 89, 88)
	for name, want := range map[string]int{"BEGIN": 1, "INSERT": 1, "UPDATE": 1, "COMMIT": 1, "CALL": 0} {
		labtest.Same(t, c.seen.count[name], want, "the commands %s of four buyers", name)
	}
	s.Held(t)
	snap := labtest.Value(s.Store.Snapshot(t.Context(), s.SKU)).Must(t)
	for _, o := range snap.Orders {
		if o.UserID == 4 && (o.Quantity != 2 || o.Remaining != 89) {
			t.Errorf("the order is %+v, want 2 units and 89 left", o)
		}
	}
	labtest.Same(t, len(s.Processes[0].(*merged).groups), 0, "the groups that no buyer uses any more")
}

// The buyers of one batch are answered in the order in which they came.
func TestMergedAnswersEach(t *testing.T) {
	out, twice := seckill.ErrSoldOut, seckill.ErrDuplicate
	for what, c := range map[string]struct {
		stock      int64
		quantities []int64
		change     func(p []seckill.Purchase)
		want       []any
	}{
		"those who fit are served": {7, []int64{3, 9, 2, 2, 1, 1}, nil, []any{3, out, 1, out, 0, out}},
		"duplicates fail no neighbour": {96, []int64{2, 1, 4, 1, 3, 2}, func(p []seckill.Purchase) {
			p[2] = p[0]                              // a copy of a request in the same batch
			p[3].User = 1                            // this user has an order already
			p[4].User, p[4].RequestID = 3, "another" // this user has another request in the batch
		}, []any{93, 92, twice, twice, twice, 90}},
		"a user's first purchase asks for too much": {10, []int64{20, 2, 2}, func(p []seckill.Purchase) {
			p[1].User = p[0].User
		}, []any{out, 7, 5}},
	} {
		t.Run(what, func(t *testing.T) {
			s := open(t, Merged, c.stock)
			others := s.purchases(c.quantities...)
			if c.change != nil {
				c.change(others)
			}
			crowd := crowd{sale: s, first: s.Purchase(1, 1), others: others}
			says(t, crowd.buy(t), c.want...)
			s.Held(t)
		})
	}
}

// Another process is faster each time after the batch has looked at the stock. In the end each buyer buys separately.
func TestMergedGivesUpWhenOthersAreAlwaysFaster(t *testing.T) {
	s, user := open(t, Merged, 11), int64(1000)
	c := crowd{sale: s, first: s.Purchase(1, 1), others: s.purchases(units(10)...)}
	c.seen.OnBefore = func(c *tap.Command) error {
		if c.Name == "UPDATE" {
			user++
			labtest.Value(s.Processes[1].Deduct(t.Context(), s.Purchase(user, 1))).Check(t, nil, "user %d", user)
		}
		return nil
	}
	sold := 0
	for _, a := range c.buy(t) {
		if a.err == nil {
			sold++
		} else if !errors.Is(a.err, seckill.ErrSoldOut) {
			t.Error(a.err)
		}
	}
	if sold != 10-maxTries || c.seen.count["CALL"] != 10 || c.seen.count["UPDATE"] != maxTries {
		t.Errorf("%d were sold to; the commands are %v", sold, c.seen.count)
	}
	s.Held(t)
}

// Another process sells after the batch has looked at the stock. The orders say what is left after that sale.
func TestMergedSaysWhatRemains(t *testing.T) {
	s := open(t, Merged, 100)
	c := crowd{sale: s, first: s.Purchase(1, 5), others: s.purchases(3, 1)}
	c.seen.OnBefore = func(c *tap.Command) (err error) {
		if strings.HasPrefix(c.Text, "UPDATE stock") {
			_, err = s.Processes[1].Deduct(t.Context(), s.Purchase(1000, 10))
		}
		return err
	}
	says(t, c.buy(t), 82, 81)
	s.Held(t)
}

// nextBatch makes two more buyers wait while the batch of the crowd is at work. It returns a
// function that waits for their results.
func (c *crowd) nextBatch(t *testing.T) func() []answer {
	told := make([]answer, 2)
	var all sync.WaitGroup
	var once sync.Once
	then := c.seen.OnBefore
	c.seen.OnBefore = func(command *tap.Command) error {
		if command.Name == "UPDATE" {
			once.Do(func() {
				m := c.Processes[0].(*merged)
				for i := range told {
					all.Go(func() {
						told[i].Receipt, told[i].err = m.Deduct(t.Context(), c.Purchase(int64(50+i), 1))
					})
					m.await(t, c.SKU, i+1)
				}
			})
		}
		if then == nil {
			return nil
		}
		return then(command)
	}
	return func() []answer {
		all.Wait()
		return told
	}
}

// A buyer is told sold out only after the COMMIT of the last units, because the batch that
// takes them may still be rolled back.
func TestMergedTellsSoldOutByWhatIsCommitted(t *testing.T) {
	s := open(t, Merged, 3)
	c := crowd{sale: s, first: s.Purchase(1, 1), others: s.purchases(1, 1)}
	c.seen.OnBefore = func(c *tap.Command) error {
		if c.Name == "COMMIT" {
			return errors.New("connection lost before the command was sent")
		}
		return nil
	}
	told := c.nextBatch(t)
	says(t, c.buy(t), seckill.ErrUnknown, seckill.ErrUnknown)
	says(t, told(), 1, 0)
}

func TestMergedQueueIsBounded(t *testing.T) {
	s := open(t, Merged, 10)
	m := s.Processes[0].(*merged)
	m.groups = map[int64]*group{s.SKU: {waiting: make([]*buyer, maxWaitingBuyers)}}
	labtest.Value(s.Buy(t.Context(), 1, 1)).Check(t, seckill.ErrBusy, "the purchase")
}

// A batch is bounded. The remaining buyers are in the next batch.
func TestMergedBatchIsBounded(t *testing.T) {
	s := open(t, Merged, 1000)
	c := crowd{sale: s, first: s.Purchase(1, 1), others: s.purchases(units(maxBatch + 3)...)}
	told := c.buy(t)
	says(t, told[maxBatch:], 1000-2-maxBatch)
	labtest.Same(t, c.seen.count["COMMIT"], 2, "the transactions of %d buyers", len(c.others))
	s.Held(t)
}

func units(n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = 1
	}
	return list
}

// The lesson of merged-early says that a buyer who cancels at once may hear that there is no such order.
func TestMergedEarlyIsCancelledTooEarly(t *testing.T) {
	s := open(t, MergedEarly, 10)
	told := make(chan error, 1)
	c := crowd{sale: s, first: s.Purchase(1, 1), others: s.purchases(1, 1)}
	m := s.Processes[0].(*merged)
	write := m.commit
	m.commit = func(ctx context.Context, b *batch) error {
		second := b.buyers[1]
		return write(taptest.Before(ctx, "COMMIT", func() {
			told <- m.Restore(t.Context(), second.Receipt.OrderID)
		}), b)
	}
	says(t, c.buy(t), 8, 7)
	labtest.Check(t, <-told, seckill.ErrUnknownOrder, "cancelling between the answer and the COMMIT")
}
