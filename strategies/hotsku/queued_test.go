package hotsku

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/lab/labtest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// queue returns a queued strategy without a database.
func queue(atOnce int, wait time.Duration) *queued {
	return &queued{atOnce: atOnce, wait: wait, lines: map[int64]*line{}}
}

// line7 puts the given number of buyers of SKU 7 inside. It returns a function that lets one of
// them out after the given stay.
func line7(t *testing.T, s *queued, inside int) (leaves func(after time.Duration)) {
	t.Helper()
	for range inside {
		labtest.Must(t, s.waitForTurn(t.Context(), 7))
	}
	return func(after time.Duration) { s.leaveLine(7, time.Now().Add(-after)) }
}

func TestTheQueueServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := queue(2, time.Minute)
		leaves := line7(t, s, 2)
		served := make(chan int, 5)
		for n := range 5 {
			go func() {
				labtest.Check(t, s.waitForTurn(t.Context(), 7), nil, "wait for a turn")
				served <- n
			}()
			synctest.Wait() // the buyers come one after the other
		}
		labtest.Check(t, s.waitForTurn(t.Context(), 8), nil, "a buyer of another SKU")
		s.leaveLine(8, time.Now())
		for n := range 5 {
			if synctest.Wait(); len(served) > 0 {
				t.Fatalf("%d entered, and two are inside", <-served)
			}
			if leaves(0); <-served != n {
				t.Fatalf("not the one who came as number %d", n)
			}
		}
		leaves(0)
		leaves(0)
		labtest.Same(t, len(s.lines), 0, "lines that are kept for no one")
	})
}

// A buyer who leaves the queue gives the place up. That holds when the time is up, when the client
// has gone, and also when the turn comes at that moment.
func TestThoseWhoLeaveTheQueueHoldNoPlace(t *testing.T) {
	gone := errors.New("the client has gone")
	for what, c := range map[string]struct {
		wait func(context.Context, func(error)) context.Context
		want error
		took time.Duration
	}{
		"the time is over": {func(ctx context.Context, _ func(error)) context.Context { return ctx }, tap.ErrTimeUp, time.Second},
		"the client goes": {func(ctx context.Context, cancel func(error)) context.Context {
			time.AfterFunc(time.Millisecond, func() { cancel(gone) })
			return ctx
		}, gone, time.Millisecond},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := queue(1, time.Second)
				leaves := line7(t, s, 1)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				begun := time.Now()
				if err := s.waitForTurn(c.wait(ctx, cancel), 7); !errors.Is(err, c.want) || time.Since(begun) != c.took {
					t.Errorf("told %v after %v, want %v after %v", err, time.Since(begun), c.want, c.took)
				}
				labtest.Same(t, len(s.lines[7].waiting), 0, "the number of buyers who wait")
				leaves(0)
				labtest.Same(t, len(s.lines), 0, "the lines afterwards")
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := queue(1, time.Minute)
		leaves := line7(t, s, 1)
		var told [2]error
		lost := taptest.LoseReplies(t.Context(), func(*tap.Command) bool { return true })
		for i, ctx := range []context.Context{lost, t.Context()} {
			go func() { told[i] = s.waitForTurn(ctx, 7) }()
			synctest.Wait()
		}
		leaves(0)
		synctest.Wait()
		if first, second := told[0], told[1]; first == nil || second != nil {
			t.Errorf("told %v and %v, want the turn to pass from the first to the second", first, second)
		}
	})
}

// A buyer whose turn would come too late is refused at once.
func TestTheQueueRefusesWhomItWouldNotReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := queue(2, time.Second)
		leaves := line7(t, s, 2)
		leaves(400 * time.Millisecond) // from now on one buyer leaves every 200 ms
		line7(t, s, 1)
		begun := time.Now()
		waiting := make(chan error, 10)
		for range 5 {
			go func() { waiting <- s.waitForTurn(t.Context(), 7) }()
		}
		synctest.Wait()
		if err := s.waitForTurn(t.Context(), 7); err == nil || time.Since(begun) != 0 {
			t.Errorf("the sixth would wait for 1.2 s, and is told %v after %v", err, time.Since(begun))
		}
		for range 5 {
			leaves(0)
			labtest.Check(t, <-waiting, nil, "wait for a turn")
		}
	})
	s := queue(1, time.Second)
	line7(t, s, 1)
	s.lines[7].waiting = make([]turn, maxLineLength)
	if err := s.waitForTurn(t.Context(), 7); err == nil || errors.Is(err, tap.ErrTimeUp) {
		t.Errorf("one more than the line holds is told %v", err)
	}
}
