package sqlrow

import (
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/catalog"
	"seckill/internal/catalog/saletest"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
)

// The row is held; the server would let a waiter wait for a minute.
func TestNowaitIsBusyAtOnce(t *testing.T) {
	in := waitsFor(t, time.Minute)
	s := saletest.Open(t, ForUpdateNowait, 5, catalog.Deps{Instance: in})
	holder := in.DB.WithContext(t.Context()).Begin()
	defer holder.Rollback()
	labtest.Must(t, holder.Exec("SELECT num FROM stock WHERE id = ? FOR UPDATE", s.SKU).Error)
	begun := time.Now()
	_, err := s.Buy(t.Context(), 1, 1)
	var answer *mysql.MySQLError
	if !errors.Is(err, seckill.ErrBusy) || !errors.As(err, &answer) ||
		answer.Number != 3572 && answer.Number != 1205 || time.Since(begun) > 20*time.Second {
		t.Errorf("got %v after %v, want busy at once with 3572 (MySQL) or 1205 (MariaDB)", err, time.Since(begun))
	}
	holder.Rollback()
	if _, err := s.Buy(t.Context(), 1, 1); err != nil {
		t.Errorf("the row is free, and a buyer is told %v", err)
	}
	if got := s.Judge(t); got.Verdict != ledger.Held || got.Remaining != 4 {
		t.Errorf("the audit says %s, %d left, want held and 4", got.Verdict, got.Remaining)
	}
}

// What makes it look right: the SELECT does wait for somebody who writes.
func TestAutocommitWaitsForAWriter(t *testing.T) {
	s := saletest.Open(t, ForUpdateAutocommit, 10, catalog.Deps{Instance: waitsFor(t, time.Second)})
	_, err := s.Buy(taptest.Before(t.Context(), "COMMIT", func() {
		seen := ""
		ctx := taptest.Before(t.Context(), "BEGIN", func() { seen = "it got past the SELECT" })
		if _, err := s.Buy(ctx, 2, 2); !errors.Is(err, seckill.ErrBusy) || seen != "" {
			t.Errorf("a buyer beside one who is about to commit: %v %s, want busy", err, seen)
		}
	}), 1, 1)
	if got := s.Judge(t); err != nil || got.Verdict != ledger.Held {
		t.Errorf("got %v, and the audit says %s", err, got.Verdict)
	}
}
