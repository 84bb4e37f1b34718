package loadtest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
)

// A sale whose lock is never given back: right to the last unit, and it stands
// still. What is not certain is not blocked, and what is worse outlives it.
func TestASaleThatStandsStill(t *testing.T) {
	still := func(f *fake) {
		f.outside = func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n < testStock/2 {
				return false
			}
			time.Sleep(20 * time.Millisecond)
			refuse(w, http.StatusTooManyRequests, "busy")
			return true
		}
	}
	for _, test := range []struct {
		name     string
		plant    func(*fake)
		patience time.Duration
		outage   time.Duration
		verdict  ledger.Verdict
		exit     int
		says     string
	}{
		{"sells on", func(*fake) {}, 5 * time.Second, 0, ledger.Held, ExitHeld,
			"right: nothing oversold, lost or invented in 60 requests; served: 20 of 20 units in "},
		{"stands still", still, 60 * time.Millisecond, 0, Blocked, ExitBlocked,
			"10 of 20 units sold"},
		{"not for long", still, time.Minute, 0, ledger.Held, ExitHeld, "only 10 of 20 units sold"},
		{"as was planned", still, 60 * time.Millisecond, time.Minute, ledger.Held, ExitHeld, "only 10 of 20 units sold"},
		{"no limit is known", still, 0, 0, ledger.Held, ExitHeld, "only 10 of 20 units sold"},
		{"and loses a unit", func(f *fake) {
			still(f)
			f.read = func(s *ledger.Snapshot) {
				if len(s.Orders) > 0 {
					s.Stock.Num--
				}
			}
		}, 60 * time.Millisecond, 0, ledger.Lost, ExitLost, "lost_units"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			test.plant(f)
			c := serve(t, f)
			f.wait = test.patience
			c.Outage = func() time.Duration { return test.outage }
			c.Require = []string{"busy==0"} // which comes last
			r := ran(t, c)
			exit := test.exit
			if exit == ExitHeld && r.Counts[ledger.OutcomeBusy] > 0 {
				exit = ExitUnmet
			}
			if r.Verdict != test.verdict || r.ExitStatus() != exit || !strings.Contains(show(r), test.says) {
				t.Errorf("%s, exit status %d; want %s, %d and %q\n%s", r.Verdict, r.ExitStatus(), test.verdict, exit, test.says, show(r))
			}
		})
	}
}
