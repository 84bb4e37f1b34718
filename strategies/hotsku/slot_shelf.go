package hotsku

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A shelf has the slots of one SKU that this process has leased and not sold.
// It is a help and no proof: another process may have sold them meanwhile.
type shelf struct {
	sku, run int64
	turn     chan bool // holds a token while none of this process leases

	mu   sync.Mutex
	free []int64 // ascending, each once
	rest int64   // about how many slots no process had leased, last time
}

// shelves are those of one process, by SKU.
type shelves struct {
	mu  sync.Mutex
	all map[int64]*shelf
}

// of returns the shelf of a run. What was leased in an earlier run is gone; a
// buyer who still looks for that run gets a shelf that no one shares.
func (s *shelves) of(sku, run int64) *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sh := s.all[sku]; sh != nil && sh.run == run {
		return sh
	}
	sh := &shelf{sku: sku, run: run, turn: make(chan bool, 1)}
	sh.turn <- true
	if s.all == nil {
		s.all = map[int64]*shelf{}
	}
	if old := s.all[sku]; old == nil || old.run < run {
		s.all[sku] = sh
	}
	return sh
}

func (s *shelves) list() (all []*shelf) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sh := range s.all {
		all = append(all, sh)
	}
	return all
}

// take takes n slots, or none; left is about what remains without them.
func (sh *shelf) take(n int64) (slots []int64, left int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if int64(len(sh.free)) < n {
		return nil, 0
	}
	slots = slices.Clone(sh.free[:n])
	sh.free = sh.free[n:]
	return slots, sh.rest + int64(len(sh.free))
}

// add puts slots on the shelf: leased ones, or those of a purchase that was
// rolled back.
func (sh *shelf) add(slots []int64) {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.free = append(slices.Clone(sh.free), slots...)
	slices.Sort(sh.free)
	sh.free = slices.Compact(sh.free)
}

func (sh *shelf) forget() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.free = nil
}

func (sh *shelf) has() []int64 {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return slices.Clone(sh.free)
}

// pick takes a purchase's slots from the shelf. When there are too few on it
// one buyer of the process leases more, and the others wait for that.
func (s *slotLease) pick(
	ctx context.Context, sh *shelf, p seckill.Purchase,
) (slots []int64, left int64, err error) {
	if slots, left = sh.take(p.Quantity); slots != nil {
		return slots, left, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.wait, seckill.ErrBusy)
	defer cancel()
	mine, err := tap.Wait(ctx, fmt.Sprint("a lease of stock ", p.SKU), sh.turn)
	if mine {
		defer func() { sh.turn <- true }()
	}
	if err != nil {
		return nil, 0, gaveUp(ctx, err)
	}
	for {
		if slots, left = sh.take(p.Quantity); slots != nil {
			return slots, left, nil
		}
		err := s.restock(ctx, sh, p.Quantity)
		if errors.Is(err, errAllLeased) {
			err = tap.Sleep(ctx, s.poll)
		}
		if err != nil {
			return nil, 0, gaveUp(ctx, err)
		}
	}
}

// gaveUp is why a buyer does not wait any longer: nothing was taken. What fails
// because the time is up is busy, whatever it says.
func gaveUp(ctx context.Context, err error) error {
	why := context.Cause(ctx)
	switch timeUp := errors.Is(why, seckill.ErrBusy) ||
		errors.Is(why, context.DeadlineExceeded); {
	case err == nil, errors.Is(err, seckill.ErrSoldOut):
		return err
	case timeUp:
		return fmt.Errorf("%w: %v", seckill.ErrBusy, err)
	case seckill.NothingTaken(err):
		return err
	}
	return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
}

// restock leases slots for n units. A lease whose COMMIT got no answer is not
// used, and ends by itself: of the purchase nothing was taken.
func (s *slotLease) restock(
	ctx context.Context, sh *shelf, n int64,
) error {
	has := sh.has()
	got, rest, err := s.leaseMore(ctx, sh, has, n-int64(len(has)))
	if errors.Is(err, seckill.ErrUnknown) {
		return fmt.Errorf("%w: lease slots: %v", seckill.ErrUnavailable, err)
	}
	if err != nil {
		return err
	}
	sh.add(got)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.rest = rest
	return nil
}

// Stop gives back what this process has leased: others need not wait for the
// end of its leases. No purchase is under way any more.
func (s *slotLease) Stop(ctx context.Context) (err error) {
	for _, sh := range s.shelves.list() {
		sh.forget()
		err = errors.Join(err, s.release(ctx, sh))
	}
	return err
}
