package loadtest

import (
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/ledger"
)

// hasty reserves for everybody, and says of every payment that it comes too late.
type hasty struct {
	slow
	answers time.Duration // how long a payment takes
}

func (h *hasty) buy(purchase) reply {
	return reply{Outcome: ledger.OutcomeReserved, Code: "reserved", OrderID: "o"}
}

func (h *hasty) pay(purchase, string) reply {
	time.Sleep(h.answers)
	return reply{Outcome: ledger.OutcomeExpired, Code: "expired"}
}

// A payment that is refused as too late is early when the time that was reserved has
// not passed since the purchase was sent.
func TestExpiredBeforeTheDeadline(t *testing.T) {
	for _, c := range []struct {
		answers time.Duration
		early   bool
	}{{time.Second, true}, {3 * time.Second, false}} {
		synctest.Test(t, func(t *testing.T) {
			s := Scenario{SKU: 1, SKUs: 1, Stock: 1, Quantity: 1, Profile: Constant, Rate: 1, Duration: time.Second, Timeout: time.Minute, Buying: Buying{Reserve: 2 * time.Second}}.normal()
			p := newPlan(s, []int64{1})
			l := newLoad(p, newTally(p, newResult(Config{Scenario: s})), func() caller { return &hasty{answers: c.answers} })
			l.run(t.Context())
			pays := 0
			for _, told := range l.tally.history[0] {
				if told.Call == ledger.CallPay {
					pays++
					if told.Early != c.early {
						t.Errorf("a payment that was refused after %v: %+v", c.answers, told)
					}
				}
			}
			if pays != 1 {
				t.Errorf("%d payments, want 1", pays)
			}
		})
	}
}
