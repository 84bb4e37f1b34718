package hotsku

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Queued puts a queue in front of the CALL of one-trip, one for each SKU in
// each process.
var Queued = catalog.Info{
	Name:   "queued",
	Source: "Vitess' hot row protection; AliSQL's statement queue",
	Guarantees: catalog.Sound.
		Holds(catalog.DeadHolder, catalog.LostReply,
			catalog.LateCommand, catalog.TwoFaults, catalog.OtherSKUs,
			catalog.BuyerLeaves),
	Needs: []backend.Capability{
		backend.SQL, backend.RowLocks, backend.Procedures,
		backend.ReadCommitted},
	Stock: seckill.InRow,
	Also:  []string{"one_trip.sql", "one_trip.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		trip, err := newOneTrip(d)
		return &queued{oneTrip: trip, atOnce: d.Settings.QueueAtOnce,
			wait: d.Settings.LockWait, lines: map[int64]*line{}}, err
	},
}

type queued struct {
	oneTrip // what a buyer sends in their turn; cancellations do not queue
	atOnce  int
	wait    time.Duration

	mu    sync.Mutex
	lines map[int64]*line // of SKUs that are being sold
}

// A line is the queue of one SKU. Buyers wait only while atOnce are inside.
type line struct {
	inside   int
	waiting  list.List     // of turns, first come, first served
	meanStay time.Duration // how long a buyer is inside, of late
}

// A turn is a buyer's: closed when it is theirs.
type turn chan struct{}

// maxLineLength bounds the memory that the queue of one SKU takes.
const maxLineLength = 10_000

func (s *queued) Deduct(
	ctx context.Context, p seckill.Purchase,
) (seckill.Receipt, error) {
	if err := s.waitForTurn(ctx, p.SKU); err != nil {
		return seckill.Receipt{}, fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	}
	defer s.leaveLine(p.SKU, time.Now())
	return s.oneTrip.Deduct(ctx, p)
}

// waitForTurn returns when the buyer may go. After an error they are not in
// the line, and have sent nothing.
func (s *queued) waitForTurn(ctx context.Context, sku int64) error {
	l, place, err := s.joinLine(sku)
	if err != nil || place == nil {
		return err
	}
	_, err = tap.WaitAtMost(ctx, fmt.Sprint("the turn at SKU ", sku),
		s.wait, place.Value.(turn), nil)
	if err != nil {
		s.giveUp(sku, l, place)
	}
	return err
}

// joinLine finds a place in the line: nil when there is no need to wait. A
// buyer who would not be reached in time is refused now, not after the wait.
func (s *queued) joinLine(sku int64) (*line, *list.Element, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[sku]
	if l == nil {
		l = &line{}
		s.lines[sku] = l
	}
	if l.inside < s.atOnce {
		l.inside++
		return l, nil, nil
	}
	if l.waiting.Len() >= maxLineLength {
		return nil, nil, fmt.Errorf("%d buyers wait", maxLineLength)
	}
	if in := l.estimateWait(s.atOnce); in > s.wait {
		return nil, nil, fmt.Errorf("it would take %v", in)
	}
	return l, l.waiting.PushBack(make(turn)), nil
}

// estimateWait estimates when the last one in line has their turn: someone
// leaves every each/atOnce, and all who are before them must, and one of those
// inside.
func (l *line) estimateWait(atOnce int) time.Duration {
	ahead := time.Duration(l.waiting.Len() + 1)
	return ahead * l.meanStay / time.Duration(atOnce)
}

// leaveLine lets the next buyer in.
func (s *queued) leaveLine(sku int64, entered time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[sku]
	l.meanStay = movingAverage(l.meanStay, time.Since(entered))
	s.admitNext(sku, l)
}

// movingAverage follows the last dozen or so.
func movingAverage(before, now time.Duration) time.Duration {
	if before == 0 {
		return now
	}
	return before + (now-before)/8
}

// admitNext gives the place of one who leaves to the first in line.
func (s *queued) admitNext(sku int64, l *line) {
	if first := l.waiting.Front(); first != nil {
		close(l.waiting.Remove(first).(turn))
		return
	}
	if l.inside--; l.inside == 0 {
		delete(s.lines, sku)
	}
}

// giveUp takes a buyer out of the line. A turn that came at the same moment
// goes to the next.
func (s *queued) giveUp(sku int64, l *line, place *list.Element) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-place.Value.(turn):
		s.admitNext(sku, l)
	default:
		l.waiting.Remove(place)
	}
}
