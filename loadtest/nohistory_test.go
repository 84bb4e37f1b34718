package loadtest

import (
	"net/http"
	"slices"
	"testing"

	"seckill/internal/ledger"
)

// Without a history the sums and the ledger still catch every violation that
// changes a sum; and no record is kept.
func TestWithoutHistory(t *testing.T) {
	for _, test := range []struct {
		name  string
		plant func(n int, f *fake, p asked, w http.ResponseWriter) bool
		exit  int
		rules []string
	}{
		{"correct", func(int, *fake, asked, http.ResponseWriter) bool { return false }, ExitHeld, nil},
		{"sells too many", func(_ int, f *fake, p asked, w http.ResponseWriter) bool {
			respond(w, f.take(p))
			return true
		}, ExitOversold, []string{ledger.RuleOversold, ledger.RuleNegative}},
		{"forgets an acknowledged order", func(n int, f *fake, p asked, w http.ResponseWriter) bool {
			if n == 5 {
				respond(w, f.take(p))
				f.orders = f.orders[:len(f.orders)-1]
			}
			return n == 5
		}, ExitLost, []string{ledger.RuleLostUnits, ledger.RuleFewerThanTold}},
		{"sells and says busy", func(n int, f *fake, p asked, w http.ResponseWriter) bool {
			if n == 5 {
				f.take(p)
				refuse(w, http.StatusTooManyRequests, "busy")
			}
			return n == 5
		}, ExitLost, []string{ledger.RuleMoreThanTold}},
		{"says sold out with stock left", func(_ int, f *fake, _ asked, w http.ResponseWriter) bool {
			if f.stock.Num <= testStock/2 {
				refuse(w, http.StatusConflict, "sold_out")
				return true
			}
			return false
		}, ExitLost, []string{ledger.RuleUndersold}},
		{"sells nothing", func(_ int, _ *fake, _ asked, w http.ResponseWriter) bool {
			refuse(w, http.StatusTooManyRequests, "busy")
			return true
		}, ExitLost, []string{ledger.RuleNothingSold}},
		{"breaks connections after selling", func(n int, f *fake, p asked, w http.ResponseWriter) bool {
			if n%5 == 0 && f.stock.Num > 0 {
				f.take(p)
				hangUp(w, "")
				return true
			}
			return false
		}, ExitHeld, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &fake{}
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool { return test.plant(n, f, p, w) }
			c := serve(t, f)
			c.NoHistory = true
			r, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if r.ExitStatus() != test.exit || !slices.Equal(rules(r), test.rules) || r.History || r.Requests != testBuyers {
				t.Errorf("exit status %d by %v, history %t; want %d by %v\n%s", r.ExitStatus(), rules(r), r.History, test.exit, test.rules, show(r))
			}
			if r.Linearizable.Answer != LinearNotChecked {
				t.Errorf("linearizable: %s, of no history", r.Linearizable.Answer)
			}
		})
	}
}
