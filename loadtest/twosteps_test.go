package loadtest

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"seckill/internal/ledger"
)

// A promising service answers that it has accepted, and decides when it is
// asked the second time.
type promising struct {
	*fake
	more    int // than there are units
	decides func(n int) (status string)
	open    map[string]asked
	looked  map[string]int
	decided int
}

func newPromising(more int, decides func(n int) string) *promising {
	s := &promising{fake: &fake{token: "secret"}, more: more, decides: decides, open: map[string]asked{}, looked: map[string]int{}}
	accepted := 0
	s.purchase = func(_ int, p asked, w http.ResponseWriter) bool {
		if _, again := s.open[p.key]; !again {
			if accepted == testStock+s.more {
				refuse(w, http.StatusConflict, "sold_out")
				return true
			}
			accepted++
			s.open[p.key] = p
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(http.StatusAccepted)
		_, _ = w.Write([]byte(`{"request_id":"` + p.key + `","status":"accepted"}`))
		return true
	}
	s.lookUp = func(key string, w http.ResponseWriter) {
		says := func(status, code string, orders ...ledger.Order) {
			respond(w, map[string]any{"orders": orders, "request": map[string]string{"status": status, "code": code}})
		}
		p := s.open[key]
		if s.looked[key]++; s.looked[key] == 1 {
			says("pending", "")
			return
		}
		if sold, ok := s.sold(p); ok {
			says("ordered", "", sold)
			return
		}
		switch status := s.decides(s.decided); status {
		case "ordered":
			says(status, "", s.take(p))
		case "refused":
			says(status, "sold_out")
		default:
			says(status, "")
		}
		s.decided++
	}
	return s
}

// Buyers who are accepted ask for their final answer, and the judge holds the
// service to its promises.
func TestAnswersInTwoSteps(t *testing.T) {
	keeps := func(n int) string { return "ordered" }
	loses := func(n int) string {
		if n%5 == 4 {
			return "none"
		}
		return "ordered"
	}
	overbooks := func(n int) string {
		if n >= testStock {
			return "refused"
		}
		return "ordered"
	}
	waits := func(int) string { return "pending" }
	for _, test := range []struct {
		name    string
		more    int
		decides func(int) string
		adjust  func(*Config)
		rule    string // broken; "": held
		want    TwoSteps
	}{
		{"keeps its promises", 0, keeps, nil, "", TwoSteps{Accepted: 20, Ordered: 20}},
		{"in an open loop", 0, keeps, func(c *Config) { c.Profile = Spike }, "", TwoSteps{Accepted: 20, Ordered: 20}},
		{"gets copies", 0, keeps, func(c *Config) { c.Copies = 1 }, "", TwoSteps{Accepted: 20, Ordered: 20}},
		{"accepts too many", 4, overbooks, nil, "", TwoSteps{Accepted: 24, Ordered: 20, Refused: 4}},
		{"loses requests", 0, loses, nil, ledger.RuleLostRequest, TwoSteps{Accepted: 20, Ordered: 16, Open: 4}},
		{"never says", 0, waits, nil, ledger.RuleLostRequest, TwoSteps{Accepted: 20, Open: 20}},
	} {
		s := newPromising(test.more, test.decides)
		c := serve(t, s.fake)
		c.Async, c.finalWithin = true, time.Minute
		if test.want.Open > 0 {
			c.finalWithin = time.Second // those who are not told ask for so long
		}
		if test.adjust != nil {
			test.adjust(&c)
		}
		r := ran(t, c)
		got := *r.TwoSteps
		if got.Ordered > 0 && r.SoldLatency.Max < askEvery.Microseconds() { // they asked twice
			t.Errorf("%s: buyers knew of their orders after %+v", test.name, r.SoldLatency)
		}
		if got != test.want {
			t.Errorf("%s: counts %+v, want %+v", test.name, got, test.want)
		}
		if r.Counts[ledger.OutcomeSold] != test.want.Ordered || r.Counts[ledger.OutcomeAccepted] != test.want.Open || r.Requests != testBuyers {
			t.Errorf("%s: the requests came to %v", test.name, r.Counts)
		}
		broken := slices.ContainsFunc(r.Audit.Violations, func(v ledger.Violation) bool { return v.Rule == test.rule && v.Count == got.Open })
		// On a busy machine an open loop is late, which is no judgement on the service.
		late := r.Verdict == ledger.NotValid && len(r.Audit.Violations) == 0 &&
			!slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Code != ProblemLate })
		if (r.Verdict == ledger.Held || late) != (test.rule == "") || test.rule != "" && !broken {
			t.Errorf("%s: %s, %+v %v", test.name, r.Verdict, r.Audit.Violations, r.Problems)
		}
	}
}
