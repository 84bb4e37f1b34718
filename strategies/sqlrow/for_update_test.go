package sqlrow

import (
	"errors"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
	"seckill/strategies/saletest"
)

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
