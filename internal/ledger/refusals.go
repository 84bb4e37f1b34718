package ledger

import (
	"context"

	"gorm.io/gorm"
)

// A Refusal is what the database said of a purchase that had been accepted
// before. It stands as long as its run.
type Refusal struct {
	RequestID string `json:"request_id"`
	UserID    int64  `json:"user_id"`
	SKUID     int64  `json:"sku_id"`
	Run       int64  `json:"run"`
	Quantity  int64  `json:"quantity"`
	Reason    string `json:"code"` // as a problem's: sold_out, duplicate, not_started
	Strategy  string `json:"strategy"`
	RefusedAt Moment `json:"refused_at"` // by the database's clock
}

// Refuse remembers, in the transaction that decides, that an accepted purchase is
// refused. A request that is accepted again and refused again has one refusal.
func (s *Store) Refuse(tx *gorm.DB, run int64, e Accepted, reason string) error {
	_, _, err := s.Exec(tx, "REPLACE INTO refusals (request_id, user_id, sku_id, run, quantity, reason, strategy, refused_at) "+
		"VALUES (?, ?, ?, ?, ?, ?, ?, "+nowIn(s.db)+")", e.RequestID, e.User, e.SKU, run, e.Quantity, reason, e.Strategy)
	return err
}

// Refused is the reason why a user's request was refused in the current run of a
// SKU, or of any SKU if sku is 0; ErrUnknownOrder if it was not.
func (s *Store) Refused(ctx context.Context, sku, user int64, requestID string) (reason string, err error) {
	var r Refusal
	query, args := "SELECT * FROM refusals WHERE user_id = ? AND request_id = ?", []any{user, requestID}
	if sku != 0 {
		query, args = query+" AND sku_id = ?", append(args, sku)
	}
	err = s.Read(ctx, &r, query+" AND run = (SELECT stock.run FROM stock WHERE stock.id = refusals.sku_id) ORDER BY refused_at DESC LIMIT 1", args...)
	return r.Reason, unknownOrder(err)
}
