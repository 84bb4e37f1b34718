package sqlrow

import (
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
)

// The row is held; the server would let a waiter wait for a minute.
func TestNowaitIsBusyAtOnce(t *testing.T) {
	in := instance(t, time.Minute)
	s := open(t, ForUpdateNowait, 5, catalog.Deps{Instance: in})
	holder := in.DB.WithContext(t.Context()).Begin()
	defer holder.Rollback()
	labtest.Must(t, holder.Exec("SELECT num FROM stock WHERE id = ? FOR UPDATE", s.sku).Error)
	begun := time.Now()
	err := s.buy(t.Context(), 0, 1, 1)
	var answer *mysql.MySQLError
	if !errors.Is(err, seckill.ErrBusy) || !errors.As(err, &answer) ||
		answer.Number != 3572 && answer.Number != 1205 || time.Since(begun) > 20*time.Second {
		t.Errorf("got %v after %v, want busy at once with 3572 (MySQL) or 1205 (MariaDB)", err, time.Since(begun))
	}
	holder.Rollback()
	if err := s.buy(t.Context(), 0, 1, 1); err != nil {
		t.Errorf("the row is free, and a buyer is told %v", err)
	}
	if got := s.judge(t); got.Verdict != ledger.Held || got.Remaining != 4 {
		t.Errorf("the audit says %s, %d left, want held and 4", got.Verdict, got.Remaining)
	}
}

// What makes it look right: the SELECT does wait for somebody who writes.
func TestAutocommitWaitsForAWriter(t *testing.T) {
	s := open(t, ForUpdateAutocommit, 10, catalog.Deps{Instance: instance(t, time.Second)})
	err := s.buy(taptest.Before(t.Context(), "COMMIT", func() {
		seen := ""
		ctx := taptest.Before(t.Context(), "BEGIN", func() { seen = "it got past the SELECT" })
		if err := s.buy(ctx, 0, 2, 2); !errors.Is(err, seckill.ErrBusy) || seen != "" {
			t.Errorf("a buyer beside one who is about to commit: %v %s, want busy", err, seen)
		}
	}), 0, 1, 1)
	if got := s.judge(t); err != nil || got.Verdict != ledger.Held {
		t.Errorf("got %v, and the audit says %s", err, got.Verdict)
	}
}
