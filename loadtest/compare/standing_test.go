package compare

import (
	"fmt"
	"strings"
	"testing"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

func TestStandings(t *testing.T) {
	b := &script{plays: map[string]func(loadtest.Config, *loadtest.Result) error{
		"bad": oversells,
		"gone": func(loadtest.Config, *loadtest.Result) error {
			return fmt.Errorf("%w: gone needs etcd", loadtest.ErrConfig)
		},
	}}
	o := options(b, Candidate{Name: "good"}, Candidate{Name: "bad", Breaks: true}, Candidate{Name: "gone"})
	var heard []string
	var last = map[string]Standing{}
	o.OnTurn = func(s Standing) {
		heard = append(heard, fmt.Sprintf("%s %d", s.Strategy, s.Rounds))
		last[s.Strategy] = s
	}
	r := Run(t.Context(), o)
	if got := strings.Join(heard, ", "); got != "good 1, bad 1, gone 0, gone 0, bad 2, good 2" {
		t.Errorf("heard of %s", got)
	}
	if s := last["good"]; s.Verdict != ledger.Held || !s.Expected || s.Sales != r.Entry("good").Sales.Median || s.P99 != 20 || s.NotRun != "" {
		t.Errorf("good stood at %+v", s)
	}
	if s := last["bad"]; s.Verdict != ledger.Oversold || !s.Breaks || !s.Expected {
		t.Errorf("bad stood at %+v", s)
	}
	if s := last["gone"]; s.Verdict != "" || s.NotRun != "gone needs etcd" {
		t.Errorf("gone stood at %+v", s)
	}
	if len(r.Entry("good").Rounds) != 2 || r.Entry("good").Sales.Median != 100 {
		t.Errorf("looking changed the result: %+v", r.Entry("good"))
	}
}
