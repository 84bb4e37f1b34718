package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// A Moment is a time of the database's clock in milliseconds since 1970, UTC.
// One clock decides when a sale starts: those of the service processes differ.
type Moment int64

// MomentOf is t, or the first moment after it: a sale never starts early.
func MomentOf(t time.Time) Moment {
	return Moment(t.Add(time.Millisecond - time.Nanosecond).UnixMilli())
}

// Time is m in UTC.
func (m Moment) Time() time.Time { return time.UnixMilli(int64(m)).UTC() }

// MarshalJSON writes RFC 3339, with milliseconds.
func (m Moment) MarshalJSON() ([]byte, error) {
	return json.Marshal(m.Time().Format("2006-01-02T15:04:05.000Z07:00"))
}

// UnmarshalJSON reads RFC 3339.
func (m *Moment) UnmarshalJSON(text []byte) error {
	var t time.Time
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("a moment: %w", err)
	}
	*m = MomentOf(t)
	return nil
}

// A Start is when a SKU's sale starts, its run, and what time it was when that was read.
type Start struct {
	Run      int64
	StartsAt *Moment // nil: it is on
	Now      Moment
}

// In is how long the sale has yet to wait, 292 years at most; 0 when it is on.
func (s Start) In() time.Duration {
	if s.StartsAt == nil {
		return 0
	}
	return max(0, s.StartsAt.Time().Sub(s.Now.Time()))
}

// Start reads when the sale of a SKU starts; ErrUnknownSKU if there is none.
func (s *Store) Start(ctx context.Context, sku int64) (Start, error) {
	var st Start
	err := s.Read(ctx, &st, "SELECT run, starts_at, "+nowIn(s.db)+" AS now FROM stock WHERE id = ?", sku)
	return st, err
}
