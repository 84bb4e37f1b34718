package hotsku

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Queued is one-trip with a queue in front of the CALL of its procedure. Each
// process has a queue for each SKU.
var Queued = family.Strategy(catalog.Info{
	Name:       "queued",
	Source:     "Vitess' hot row protection; AliSQL's statement queue",
	Guarantees: OneTrip.Guarantees.Holds(catalog.BuyerLeaves),
	Needs:      OneTrip.Needs,
	Also:       []string{"one_trip.sql", "one_trip.go"},
	New: func(d catalog.Deps) (seckill.Strategy, error) {
		trip, err := newOneTrip(d)
		return &queued{oneTrip: trip, atOnce: d.Settings.QueueAtOnce,
			wait: d.Settings.LockWait, lines: map[int64]*line{}}, err
	},
})

type queued struct {
	oneTrip // sells and cancels; only a sale waits in line first
	atOnce  int
	wait    time.Duration

	mu    sync.Mutex
	lines map[int64]*line // the key is the SKU; unused lines are removed
}

// A line is the queue of one SKU. At most atOnce of its buyers use the
// database at the same time. The other buyers wait.
type line struct {
	inside   int           // the number of buyers who use the database
	waiting  []turn        // the turns of the waiting buyers, in order
	meanStay time.Duration // how long a buyer uses the database on average
}

// A turn is the channel on which one buyer waits. It is closed when this buyer
// may use the database.
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

// waitForTurn returns when the buyer may use the database. After an error the
// buyer is not in the line, and has sent nothing.
func (s *queued) waitForTurn(ctx context.Context, sku int64) error {
	mine, err := s.joinLine(sku)
	if err != nil || mine == nil {
		return err
	}
	_, err = tap.WaitWithin(ctx, fmt.Sprint("the turn at SKU ", sku),
		s.wait, mine, nil)
	if err != nil {
		s.giveUp(sku, mine)
	}
	return err
}

// joinLine returns the buyer's turn, or nil if the buyer need not wait. If the
// estimated wait is too long, it refuses the buyer at once.
func (s *queued) joinLine(sku int64) (turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[sku]
	if l == nil {
		l = &line{}
		s.lines[sku] = l
	}
	if l.inside < s.atOnce {
		l.inside++
		return nil, nil
	}
	if len(l.waiting) >= maxLineLength {
		return nil, fmt.Errorf("%d buyers wait", maxLineLength)
	}
	if needed := l.estimateWait(s.atOnce); needed > s.wait {
		return nil, fmt.Errorf("it would take %v", needed)
	}
	mine := make(turn)
	l.waiting = append(l.waiting, mine)
	return mine, nil
}

// estimateWait estimates how long a buyer at the end of the line will wait. On
// average, a buyer leaves the database every meanStay/atOnce. One buyer must
// leave for each waiting buyer, and one more for the new buyer.
func (l *line) estimateWait(atOnce int) time.Duration {
	ahead := int64(len(l.waiting) + 1)
	return time.Duration(ahead * int64(l.meanStay) / int64(atOnce))
}

func (s *queued) leaveLine(sku int64, entered time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[sku]
	l.meanStay = movingAverage(l.meanStay, time.Since(entered))
	s.admitNext(sku, l)
}

// movingAverage returns the new average after the value latest. The result is
// an average of roughly the last twelve values.
func movingAverage(average, latest time.Duration) time.Duration {
	if average == 0 {
		return latest
	}
	return average + (latest-average)/8
}

func (s *queued) admitNext(sku int64, l *line) {
	if len(l.waiting) > 0 {
		close(l.waiting[0])
		l.waiting = l.waiting[1:]
		return
	}
	if l.inside--; l.inside == 0 {
		delete(s.lines, sku)
	}
}

// giveUp takes a buyer out of the line. If it was already this buyer's turn,
// the next buyer may use the database instead.
func (s *queued) giveUp(sku int64, mine turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lines[sku]
	if i := slices.Index(l.waiting, mine); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return
	}
	s.admitNext(sku, l)
}
