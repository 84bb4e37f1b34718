package counter_test

import (
	"errors"
	"fmt"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/strategies/counter"
	"seckill/strategies/saletest"
)

// seedAgain resets the current run as another strategy or process would, at any later time:
// keys with a time to live have expired by then.
func (sh *shop) seedAgain(t *testing.T) error {
	t.Helper()
	companions := fmt.Sprintf("{seckill:stock:%d}:*", sh.SKU)
	for _, key := range sh.in.Redis.Keys(t.Context(), companions).Val() {
		if sh.in.Redis.PTTL(t.Context(), key).Val() > 0 {
			sh.in.Redis.Del(t.Context(), key)
		}
	}
	return sh.Strategy.(seckill.Resetter).Reset(t.Context(), sh.SKU, 0)
}

func (sh *shop) numberIs(t *testing.T, want string) {
	t.Helper()
	if got := sh.number(t); got != want {
		t.Errorf("the number is %s, want %s", got, want)
	}
}

// elsewhere sells the same SKU from another database, in a run of the same
// number, through the same Redis.
func (sh *shop) elsewhere(t *testing.T) *shop {
	t.Helper()
	in := labtest.Open(t, labtest.InOtherDatabase(t, labtest.Config(t, backend.SQL, backend.Redis)))
	d, ahead := deps(in)
	s := &saletest.Sale{Info: sh.Info, SKU: sh.SKU, Stock: 20}
	s.Join(t, d)
	for s.Run < sh.Run {
		row, err := s.Store.Reset(t.Context(), s.SKU, "elsewhere", s.Stock)
		labtest.Must(t, err)
		s.Run = row.Run
	}
	return &shop{Sale: s, Strategy: s.Processes[0], in: in, ahead: ahead}
}

func TestAnotherDatabaseTakesOver(t *testing.T) {
	onEach(t, func(t *testing.T, info catalog.Info) {
		sh := open(t, info, 10)
		mine := sh.mustBuy(t, 1, 4)
		o := sh.elsewhere(t)
		if o.Run != sh.Run {
			t.Fatalf("the runs are %d and %d", sh.Run, o.Run)
		}
		o.refused(t, 5, 1, seckill.ErrUnavailable)
		sh.numberIs(t, "6")
		labtest.Must(t, o.seedAgain(t))
		o.mustBuy(t, 1, 5)
		o.numberIs(t, "15")

		// What is late of the first database neither sells from the second's
		// number, nor sets it, nor gives anything back to it.
		sh.refused(t, 2, 1, seckill.ErrUnavailable)
		if err := sh.seedAgain(t); err != nil {
			t.Error(err)
		}
		if err := sh.Restore(t.Context(), mine.OrderID); err != nil {
			t.Error(err)
		}
		if _, err := sh.Strategy.(seckill.Counter).Count(t.Context(), sh.SKU); !errors.Is(err, seckill.ErrUnknownSKU) {
			t.Errorf("the count of another database's number: %v, want unknown SKU", err)
		}
		o.numberIs(t, "15")
		judged(t, o.Judge(t), judge.Held)

		sh.Reset(t, 3) // and back
		sh.mustBuy(t, 3, 1)
		sh.numberIs(t, "2")
		o.refused(t, 6, 1, seckill.ErrUnavailable)
	})
}

// A restored database has an older run than Redis, and the error says so.
func TestADatabaseThatWasSetBack(t *testing.T) {
	sh := open(t, counter.RedisCounter, 10)
	sh.Reset(t, 10)
	labtest.Must(t, sh.Store.DB(t.Context()).Exec("UPDATE stock SET run = run - 1 WHERE id = ?", sh.SKU).Error)
	if err := sh.seedAgain(t); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("told %v, want unavailable, and what to do", err)
	}
}
