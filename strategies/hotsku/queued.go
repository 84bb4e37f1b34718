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

// Queued is one-trip with a queue in front of the CALL of its procedure. Each
// process has a queue for each SKU.
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
	Also: []string{"one_trip.sql", "one_trip.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		trip, err := newOneTrip(d)
		return &queued{oneTrip: trip, atOnce: d.Settings.QueueAtOnce,
			wait: d.Settings.LockWait, lines: map[int64]*line{}}, err
	},
}

type queued struct {
	oneTrip // Deduct waits in the line first; Restore does not wait
	atOnce  int
	wait    time.Duration

	mu    sync.Mutex
	lines map[int64]*line // by SKU; removed when its last buyer leaves
}

// A line is the queue of one SKU. A buyer is inside while the buyer uses the
// database. When atOnce buyers are inside, the next buyer waits.
type line struct {
	inside   int
	waiting  list.List     // the turns of waiting buyers, the oldest first
	meanStay time.Duration // the recent average time that a buyer is inside
}

// A turn is closed when its buyer may go in.
type turn chan struct{}

// maxLineLength bounds the buyers in one line, and so the memory of the queue.
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

// waitForTurn returns when the buyer may go in. After an error the buyer is
// not in the line, and has sent nothing.
func (s *queued) waitForTurn(ctx context.Context, sku int64) error {
	l, place, err := s.joinLine(sku)
	if err != nil || place == nil {
		return err
	}
	_, err = tap.WaitWithin(ctx, fmt.Sprint("the turn at SKU ", sku),
		s.wait, place.Value.(turn), nil)
	if err != nil {
		s.giveUp(sku, l, place)
	}
	return err
}

// joinLine returns a place in the line, or nil if the buyer need not wait. It
// refuses at once a buyer whose turn would come too late.
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

// estimateWait estimates how long a buyer at the end of the line will wait. On
// average, one buyer leaves every meanStay/atOnce. The new buyer gets in when
// all waiting buyers have got in and one more buyer has left.
func (l *line) estimateWait(atOnce int) time.Duration {
	ahead := int64(l.waiting.Len() + 1)
	return time.Duration(ahead * int64(l.meanStay) / int64(atOnce))
}

// leaveLine is called when a buyer has finished. It lets the next buyer in.
func (s *queued) leaveLine(sku int64, entered time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[sku]
	l.meanStay = movingAverage(l.meanStay, time.Since(entered))
	s.admitNext(sku, l)
}

// movingAverage returns an average of roughly the last twelve values.
func movingAverage(before, now time.Duration) time.Duration {
	if before == 0 {
		return now
	}
	return before + (now-before)/8
}

// admitNext gives the place of a buyer who has left to the next buyer.
func (s *queued) admitNext(sku int64, l *line) {
	if first := l.waiting.Front(); first != nil {
		close(l.waiting.Remove(first).(turn))
		return
	}
	if l.inside--; l.inside == 0 {
		delete(s.lines, sku)
	}
}

// giveUp takes a buyer out of the line. If the buyer may go in by now, giveUp
// lets the next buyer in instead.
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
