package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

const (
	// startFresh is how long the start of a sale is taken from memory. Another
	// process may set it: a buyer is refused, at worst, by a reading this old.
	startFresh = 250 * time.Millisecond
	// startTimeout bounds a reading in the background.
	startTimeout = 2 * time.Second
	// mostStarts bounds the memory that buyers of SKUs that do not exist cost.
	mostStarts = 4096
)

// starts turns early buyers away before they reach a strategy, without asking
// the database each time. It only saves work: a buyer let in by an old reading
// is refused by the statement that writes the order (ledger.Store.Record), so a
// process that missed a new start, or was suspended, does not sell early.
type starts struct {
	read func(ctx context.Context, sku int64) (ledger.Start, error)
	log  *slog.Logger

	mu    sync.RWMutex
	bySKU map[int64]*start
}

// A start is what is known of one SKU's.
type start struct {
	last    atomic.Pointer[reading]
	reading chan struct{} // holds a token while it is read
}

// A reading is what the database said.
type reading struct {
	asked time.Time
	opens time.Time // by this process's monotonic clock; in the past: the sale is on
}

func (r *reading) fresh(now time.Time) bool { return r != nil && now.Sub(r.asked) < startFresh }

func newStarts(read func(context.Context, int64) (ledger.Start, error), log *slog.Logger) *starts {
	return &starts{read: read, log: log, bySKU: map[int64]*start{}}
}

// in is how long buyers of sku have to wait; 0 when the sale is on. A fresh
// reading decides. An old one lets buyers in while the next is read in the
// background, and never refuses.
func (s *starts) in(ctx context.Context, sku int64) (time.Duration, error) {
	st := s.of(sku)
	r := st.last.Load()
	switch now := time.Now(); {
	case r.fresh(now):
	case r != nil && !r.opens.After(now):
		s.readAside(st, sku)
	default:
		var err error
		if r, err = s.readNow(ctx, st, sku); err != nil {
			return 0, err
		}
	}
	return max(0, time.Until(r.opens)), nil
}

// forget lets the next buyer read sku's start anew. A reading that is under way
// ends in what was forgotten.
func (s *starts) forget(sku int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.bySKU, sku)
}

func (s *starts) of(sku int64) *start {
	s.mu.RLock()
	st := s.bySKU[sku]
	s.mu.RUnlock()
	if st != nil {
		return st
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if st = s.bySKU[sku]; st == nil {
		if len(s.bySKU) == mostStarts {
			clear(s.bySKU)
		}
		st = &start{reading: make(chan struct{}, 1)}
		s.bySKU[sku] = st
	}
	return st
}

// readNow lets one buyer ask; the others wait for the same answer.
func (s *starts) readNow(ctx context.Context, st *start, sku int64) (*reading, error) {
	select {
	case st.reading <- struct{}{}:
		defer func() { <-st.reading }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: waited for the start of the sale: %w", seckill.ErrBusy, ctx.Err())
	}
	if r := st.last.Load(); r.fresh(time.Now()) {
		return r, nil
	}
	return s.ask(ctx, st, sku)
}

func (s *starts) readAside(st *start, sku int64) {
	select {
	case st.reading <- struct{}{}:
	default:
		return // it is being read
	}
	go func() {
		defer func() { <-st.reading }()
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if _, err := s.ask(ctx, st, sku); err != nil {
			s.log.Debug("read the start of a sale", "sku", sku, "error", err)
		}
	}()
}

// ask counts the wait from the moment the answer is here: the database's clock
// is then as late as it said, or later, and no buyer is let in early.
func (s *starts) ask(ctx context.Context, st *start, sku int64) (*reading, error) {
	r := &reading{asked: time.Now()}
	said, err := s.read(ctx, sku)
	if err != nil && !errors.Is(err, seckill.ErrUnknownSKU) { // that is for the strategy to say
		return nil, err
	}
	r.opens = time.Now().Add(said.In())
	st.last.Store(r)
	return r, nil
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
	seconds := max(1, int64((wait+time.Second-1)/time.Second))
	p := refused(seckill.ErrNotStarted, fmt.Sprintf("The sale has not started. Nothing was taken: come back in %d s.", seconds))
	p.RetryAfter = seconds
	return p
}
