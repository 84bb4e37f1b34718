package loadtest

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/ledger"
)

// hasty reserves for everybody, and says of every payment that it comes too late.
type hasty struct {
	slow
	answers time.Duration // how long a payment takes
	lost    bool          // no answer to it comes
}

func (h *hasty) buy(purchase) reply {
	return reply{Outcome: ledger.OutcomeReserved, Code: "reserved", OrderID: "o"}
}

func (h *hasty) pay(purchase, string) reply {
	time.Sleep(h.answers)
	if h.lost {
		return noAnswer(io.ErrUnexpectedEOF)
	}
	return reply{Outcome: ledger.OutcomeExpired, Code: "expired"}
}

// A payment that is refused as too late is early when the time that was reserved has
// not passed since the purchase was sent. One without an answer has no time of it.
func TestExpiredBeforeTheDeadline(t *testing.T) {
	for _, c := range []struct {
		answers     time.Duration
		early, lost bool
	}{{time.Second, true, false}, {3 * time.Second, false, false}, {time.Second, false, true}} {
		synctest.Test(t, func(t *testing.T) {
			s := Scenario{SKU: 1, SKUs: 1, Stock: 1, Quantity: 1, Profile: Constant, Rate: 1, Duration: time.Second, Timeout: time.Minute, Reserve: 2 * time.Second}.normal()
			p := newPlan(s, []int64{1})
			l := newLoad(p, newTally(p, newResult(Config{Scenario: s})), func() caller { return &hasty{answers: c.answers, lost: c.lost} })
			l.run(t.Context())
			pays := 0
			for _, told := range l.tally.history[0] {
				if told.Call == ledger.CallPay {
					pays++
					if told.Early != c.early || (told.Answered == 0) != c.lost {
						t.Errorf("a payment that took %v, lost %t: %+v", c.answers, c.lost, told)
					}
				}
			}
			if pays != 1 {
				t.Errorf("%d payments, want 1", pays)
			}
		})
	}
}
