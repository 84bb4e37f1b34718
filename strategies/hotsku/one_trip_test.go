package hotsku

import (
	"context"
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
	"gorm.io/gorm"

	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/sqlerr"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// meanwhile makes user 1 buy while another transaction holds the stock row. When the CALL waits for
// the row, it runs do. It returns the buyer's error.
func (s *sale) meanwhile(t *testing.T, ctx context.Context, do func(tx *gorm.DB) error) error {
	t.Helper()
	told := make(chan error, 1)
	err := s.Store.Tx(t.Context(), func(tx *gorm.DB) error {
		if err := tx.Exec("UPDATE stock SET version = version + 1 WHERE id = ?", s.SKU).Error; err != nil {
			return err
		}
		go func() {
			_, err := s.Buy(ctx, 1, 1)
			told <- err
		}()
		s.awaitWaiter(t)
		return do(tx)
	})
	if err != nil && !errors.Is(err, errTakenBack) {
		t.Error(err)
	}
	return <-told
}

var errTakenBack = errors.New("taken back by the test")

// awaitWaiter returns the connection of the CALL that waits for the row.
func (s *sale) awaitWaiter(t *testing.T) (connection int64) {
	t.Helper()
	labtest.Soon(t, "a CALL waits for the row", func() bool {
		return s.Store.Read(t.Context(), &connection, "SELECT id FROM information_schema.processlist "+
			"WHERE info LIKE '%UPDATE stock SET num = LAST_INSERT_ID(%' AND id <> CONNECTION_ID() LIMIT 1") == nil
	})
	return connection
}

// The procedure has branches that depend on what others do between its read of the row and its UPDATE.
func TestOneTripMeanwhile(t *testing.T) {
	for what, c := range map[string]struct {
		do   func(s *sale, tx *gorm.DB) error
		want error
	}{
		"the last unit is sold": {func(s *sale, tx *gorm.DB) error {
			return tx.Exec("UPDATE stock SET num = 0, initial = 0 WHERE id = ?", s.SKU).Error
		}, seckill.ErrSoldOut},
		"the sale is reset": {func(s *sale, tx *gorm.DB) error {
			s.Run++
			return tx.Exec("UPDATE stock SET run = run + 1 WHERE id = ?", s.SKU).Error
		}, seckill.ErrConflict},
	} {
		t.Run(what, func(t *testing.T) {
			s := open(t, OneTrip, 1)
			err := s.meanwhile(t, t.Context(), func(tx *gorm.DB) error { return c.do(s, tx) })
			labtest.Check(t, err, c.want, "the purchase")
			_, err = s.Store.FindRequest(t.Context(), s.SKU, 1, s.Purchase(1, 1).RequestID)
			labtest.Check(t, err, seckill.ErrUnknownOrder, "looking for the order")
		})
	}
}

// A deadlock inside the procedure undoes everything, and the CALL is sent again.
func TestOneTripIsTheVictimOfADeadlock(t *testing.T) {
	s := open(t, OneTrip, 3)
	calls := 0
	victim := &taptest.Tap{OnBefore: func(c *tap.Command) error {
		if calls++; calls == 1 {
			return &mysql.MySQLError{Number: sqlerr.Deadlock}
		}
		return nil
	}}
	if _, err := s.Buy(tap.With(t.Context(), victim), 1, 1); err != nil || calls != 2 {
		t.Errorf("the buyer was told %v after %d calls, want a sale after two", err, calls)
	}
	s.Held(t)
}

// If a statement is killed in the server, the procedure's handler does not roll back. The next user
// of the connection must not commit what was left open.
func TestOneTripIsKilledInTheServer(t *testing.T) {
	s := open(t, OneTrip, 3)
	err := s.meanwhile(t, t.Context(), func(tx *gorm.DB) error {
		_, err := s.Store.Write(t.Context(), "KILL QUERY ?", s.awaitWaiter(t))
		return err
	})
	labtest.Check(t, err, seckill.ErrUnknown, "the purchase")
	for user := range int64(3) { // one of them gets that connection
		labtest.Value(s.Buy(t.Context(), user+2, 1)).Check(t, nil, "user %d", user+2)
	}
	s.Held(t)
	labtest.Same(t, s.Judge(t).Orders, 3, "the orders, which are those of users 2, 3 and 4")
}
