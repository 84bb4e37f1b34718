package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

const (
	// startFresh is how long the start of a sale is taken from memory. Another
	// process may set it: a buyer is refused, at worst, by a reading this old.
	startFresh = 250 * time.Millisecond
	// startTimeout bounds a reading.
	startTimeout = 2 * time.Second
)

// starts turns early buyers away before they reach a strategy, without asking
// the database each time. That only saves work: a buyer let in by an old reading
// is refused by the statement that writes the order (ledger.Store.Record), so a
// process that missed a new start, or was suspended, does not sell early. Buyers of
// a SKU that does not exist are turned away, too: a lock would keep a row or a node
// for each.
type starts struct {
	read func(ctx context.Context, sku int64) (ledger.Start, error)
	now  singleflight.Group // readings under way, by SKU

	mu        sync.RWMutex
	bySKU     map[int64]reading
	forgotten int // how often forget was called: a reading from before the last is not kept
}

// A reading is what the database said.
type reading struct {
	asked time.Time
	opens time.Time // by this process's monotonic clock; in the past: the sale is on
}

func newStarts(read func(context.Context, int64) (ledger.Start, error)) *starts {
	return &starts{read: read, bySKU: map[int64]reading{}}
}

// in is how long buyers of sku have to wait; not above 0 when the sale is on. A
// fresh reading decides. An old one lets buyers in while the next is read, and
// never refuses.
func (s *starts) in(ctx context.Context, sku int64) (time.Duration, error) {
	s.mu.RLock()
	r, known := s.bySKU[sku]
	s.mu.RUnlock()
	if known && time.Since(r.asked) < startFresh {
		return time.Until(r.opens), nil
	}
	next := s.now.DoChan(strconv.FormatInt(sku, 10), func() (any, error) { return s.ask(sku) })
	if known && time.Until(r.opens) <= 0 {
		return 0, nil
	}
	select {
	case got := <-next:
		if got.Err != nil {
			return 0, got.Err
		}
		return time.Until(got.Val.(reading).opens), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("%w: the start of the sale: %w", seckill.ErrUnavailable, ctx.Err())
	}
}

// ask counts the wait from the moment the answer is here: the database's clock
// is then as late as it said, or later, and no buyer is let in early. A reading that
// was under way when sku was forgotten may be of the sale before: it is not kept.
func (s *starts) ask(sku int64) (r reading, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s.mu.RLock()
	forgotten := s.forgotten
	s.mu.RUnlock()
	r.asked = time.Now()
	said, err := s.read(ctx, sku)
	if err != nil {
		return r, err
	}
	r.opens = time.Now().Add(said.In())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgotten == forgotten {
		s.bySKU[sku] = r
	}
	return r, nil
}

// forget lets the next buyer read sku's start anew.
func (s *starts) forget(sku int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Forget(strconv.FormatInt(sku, 10))
	delete(s.bySKU, sku)
	s.forgotten++
}

// started refuses purchases of a sale that has not.
func (s *Server) started(ctx context.Context, sku int64) error {
	wait, err := s.starts.in(ctx, sku)
	if err != nil || wait <= 0 {
		return err
	}
	return notStarted(wait)
}

// late is for a purchase that the ledger refused as too early: what this
// process knew of the start was old.
func (s *Server) late(ctx context.Context, sku int64) error {
	s.starts.forget(sku)
	if err := s.started(ctx, sku); errors.Is(err, seckill.ErrNotStarted) {
		return err
	}
	return notStarted(0) // it started meanwhile, or cannot be read
}

func notStarted(wait time.Duration) error {
	seconds := max(1, int64(math.Ceil(wait.Seconds())))
	p := refused(seckill.ErrNotStarted, fmt.Sprintf("The sale has not started. Nothing was taken: come back in %d s.", seconds))
	p.RetryAfter = seconds
	return p
}
