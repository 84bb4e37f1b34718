package loadtest

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"seckill/internal/judge"
)

// Most buyers come when the service has answered both calls of a restock of 7 units.
func TestRunJudgesRestocks(t *testing.T) {
	for _, test := range []struct {
		name    string
		plant   func(f *fake, call int)
		verdict judge.Verdict
		rules   []string
	}{
		{"adds them once", func(*fake, int) {}, judge.Held, nil},
		{"loses them", func(f *fake, call int) {
			if call == 0 {
				f.stock.Num -= 7
			}
		}, judge.Lost, []string{judge.RuleLostUnits, judge.RuleNotLinearizable}},
		{"adds them again", func(f *fake, call int) {
			if call == 1 {
				f.stock.Num += 7
			}
		}, judge.Oversold, []string{judge.RuleOversold, judge.RuleLostUpdate, judge.RuleNotLinearizable}},
		{"forgets that it has", func(f *fake, call int) {
			f.orders = slices.DeleteFunc(f.orders, func(o judge.Order) bool { return o.IsRestock() && call == 1 })
		}, judge.NotValid, []string{judge.RuleInitialChanged, judge.RuleOversold, judge.RuleLostUpdate, judge.RuleRestock}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			added := make(chan struct{})
			f := &fake{token: "secret"}
			f.restocked = func(call int) {
				test.plant(f, call)
				if call == 1 {
					close(added)
				}
			}
			f.outside = func(n int, _ http.ResponseWriter, _ *http.Request) bool {
				if n >= 10 {
					<-added
				}
				return false
			}
			c := serve(t, f)
			c.Restock = []string{"7@0s"}
			r := ran(t, c)
			if got := rules(r); r.Verdict != test.verdict || !slices.Equal(got, test.rules) || r.Restocks != 1 || len(r.Problems) > 0 {
				t.Errorf("%s with %v after %d restocks, want %s with %v\n%s", r.Verdict, got, r.Restocks, test.verdict, test.rules, show(r))
			}
		})
	}
}

func TestRestocksThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "50", "50@", "@1s", "0@1s", "-1@1s", "50@1", "50@-1s", "50@2h", "1.5@1s"} {
		s := DefaultScenario()
		s.Restock = []string{text}
		if err := s.Check(); !errors.Is(err, ErrConfig) {
			t.Errorf("%q is taken: %v", text, err)
		}
	}
}
