package httpapi

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A clockwork is a database that says when a sale starts, after a while.
type clockwork struct {
	startsAt time.Time
	takes    time.Duration
	err      error
	reads    atomic.Int64
}

func (c *clockwork) read(ctx context.Context, _ int64) (ledger.Start, error) {
	c.reads.Add(1)
	at, now, err := ledger.MomentOf(c.startsAt), ledger.MomentOf(time.Now()), c.err
	select {
	case <-time.After(c.takes):
	case <-ctx.Done():
		err = ctx.Err()
	}
	return ledger.Start{StartsAt: &at, Now: now}, err
}

// in asks for SKU 1.
func in(t *testing.T, s *starts) time.Duration {
	t.Helper()
	wait, err := s.in(t.Context(), 1)
	labtest.Must(t, err)
	return wait
}

func TestBuyersOfAnOpenSaleDoNotAskTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{startsAt: time.Now(), takes: 10 * time.Millisecond}
		s := newStarts(c.read)
		for range 20_000 { // in 2 s
			begun := time.Now()
			if wait := in(t, s); wait > 0 {
				t.Fatalf("an open sale opens in %s", wait)
			}
			if took := time.Since(begun); took > 0 && c.reads.Load() > 1 {
				t.Fatalf("a buyer waited %s for the database", took)
			}
			time.Sleep(100 * time.Microsecond)
		}
		if n := c.reads.Load(); n < 2 || n > 9 {
			t.Errorf("the start was read %d times in 2 s, want about every %s", n, startFresh)
		}
		synctest.Wait()
	})
}

// Many who come at once wait for one reading, and are let in on time, not
// earlier.
func TestBuyersAreLetInAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{startsAt: time.Now().Add(time.Second), takes: 10 * time.Millisecond}
		s := newStarts(c.read)
		var buyers sync.WaitGroup
		for range 100 {
			buyers.Go(func() {
				for in(t, s) > 0 {
					time.Sleep(time.Millisecond)
				}
				if late := time.Since(c.startsAt); late < 0 || late > 20*time.Millisecond {
					t.Errorf("let in %s after the start", late)
				}
			})
		}
		buyers.Wait()
		if n := c.reads.Load(); n > 6 {
			t.Errorf("a hundred buyers read the start %d times in a second", n)
		}
		synctest.Wait()
	})
}

// Another process starts the sale: no buyer is refused on stale news.
func TestNewsOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{startsAt: time.Now().Add(time.Hour)}
		s := newStarts(c.read)
		if wait := in(t, s); wait < time.Hour {
			t.Errorf("opens in %s, want an hour", wait)
		}
		c.startsAt = time.Now()
		time.Sleep(startFresh)
		if wait := in(t, s); wait > 0 {
			t.Errorf("refused for %s on a word that was old", wait)
		}
	})
}

// A reading that began before a reset does not count for the sale after it.
func TestAReadingThatAResetOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{startsAt: time.Now().Add(time.Hour), takes: 10 * time.Millisecond}
		s := newStarts(c.read)
		go in(t, s)
		synctest.Wait() // it has read the old start, and its answer is on the way
		c.startsAt = time.Now()
		s.forget(1)
		time.Sleep(20 * time.Millisecond)
		if wait := in(t, s); wait > 0 {
			t.Errorf("after a reset to a sale that is on, it opens in %s", wait)
		}
		synctest.Wait()
	})
}

// Without the database no early buyer is let in, and no buyer is told that the
// sale has not started. A buyer of a SKU that does not exist reaches no strategy, whose
// lock might leave a row or a node.
func TestStartThatCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &clockwork{startsAt: time.Now(), err: seckill.ErrUnavailable}
		s := newStarts(c.read)
		if _, err := s.in(t.Context(), 1); !errors.Is(err, seckill.ErrUnavailable) {
			t.Errorf("a start that cannot be read: %v", err)
		}
		c.err = seckill.ErrUnknownSKU
		if _, err := s.in(t.Context(), 1); !errors.Is(err, seckill.ErrUnknownSKU) {
			t.Errorf("the start of no sale: %v", err)
		}
		c.err, c.startsAt = nil, time.Now().Add(time.Minute)
		in(t, s)
		c.err = seckill.ErrUnavailable
		time.Sleep(2 * time.Minute)
		if wait := in(t, s); wait > 0 { // it was known to start by now; the ledger has the last word
			t.Errorf("opens in %s", wait)
		}
		synctest.Wait() // the reading that it began
		c.takes = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.in(ctx, 2); !errors.Is(err, seckill.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a database that hangs: %v", err)
		}
		time.Sleep(startTimeout)
		synctest.Wait()
	})
}
