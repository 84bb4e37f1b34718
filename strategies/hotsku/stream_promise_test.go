package hotsku

import (
	"errors"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// promises has a process accept and die, and another write. told is what the
// judge hears.
func (s *streamed) promises(t *testing.T, users ...int64) (told []ledger.Told) {
	t.Helper()
	for i, user := range users {
		p := s.purchase(user, 1, "")
		sent := time.Duration(i+1) * time.Second
		if _, written, err := s.of[0].Accept(t.Context(), p); err != nil || written {
			t.Fatalf("user %d: %t, %v", user, written, err)
		}
		told = append(told, ledger.Told{RequestID: p.RequestID, User: user, Quantity: 1, Outcome: ledger.OutcomeAccepted,
			Sent: sent, Answered: sent + time.Millisecond})
	}
	return told
}

// What is known of a request, by its SKU and without.
func TestStreamKnowsWhatBecame(t *testing.T) {
	s := openStream(t, RedisStream, 5)
	became := func(sku, user int64) error {
		t.Helper()
		return s.of[1].Became(t.Context(), sku, user, s.purchase(user, 1, "").RequestID)
	}
	s.promises(t, 1)
	for _, sku := range []int64{s.sku, 0} {
		if err := became(sku, 1); !errors.Is(err, seckill.ErrPending) {
			t.Errorf("an open request of SKU %d became %v", sku, err)
		}
		if err := became(sku, 2); !errors.Is(err, seckill.ErrUnknownOrder) {
			t.Errorf("an unknown request of SKU %d became %v", sku, err)
		}
	}
	if err := became(s.sku+1000, 1); !errors.Is(err, seckill.ErrUnknownOrder) {
		t.Errorf("the request of another SKU became %v", err)
	}
	s.write(t, "UPDATE stock SET num = 0 WHERE id = ?")
	s.drain(t, 1)
	if err := became(0, 1); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("a refused request became %v", err)
	}
	s.begin(t, 5)
	if err := became(0, 1); !errors.Is(err, seckill.ErrUnknownOrder) {
		t.Errorf("after a reset the request became %v", err)
	}
	if _, _, err := s.of[0].Accept(t.Context(), s.purchase(1, 1, "")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.of[1].Accept(t.Context(), s.purchase(1, 2, "")); !errors.Is(err, seckill.ErrMismatch) {
		t.Errorf("another quantity by the same key: %v", err)
	}
}
