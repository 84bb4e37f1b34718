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
		// accepted at first, ordered, and open in the end
		accepted, ordered, open int
	}{
		{"keeps its promises", 0, keeps, nil, "", 20, 20, 0},
		{"in an open loop", 0, keeps, func(c *Config) { c.Profile = Spike }, "", 20, 20, 0},
		{"gets copies", 0, keeps, func(c *Config) { c.Copies = 1 }, "", 20, 20, 0},
		{"accepts too many", 4, overbooks, nil, "", 24, 20, 0},
		{"loses requests", 0, loses, nil, ledger.RuleLostRequest, 20, 16, 4},
		{"never says", 0, waits, nil, ledger.RuleLostRequest, 20, 0, 20},
	} {
		s := newPromising(test.more, test.decides)
		c := serve(t, s.fake)
		c.Async, c.finalWithin = true, time.Minute
		if test.open > 0 {
			c.finalWithin = time.Second // those who are not told ask for so long
		}
		if test.adjust != nil {
			test.adjust(&c)
		}
		r := ran(t, c)
		if test.ordered > 0 && r.SoldLatency.Max < askEvery.Microseconds() { // they asked twice
			t.Errorf("%s: buyers knew of their orders after %+v", test.name, r.SoldLatency)
		}
		if r.Accepted != test.accepted || r.Counts[ledger.OutcomeSold] != test.ordered || r.Counts[ledger.OutcomeAccepted] != test.open || r.Requests != testBuyers {
			t.Errorf("%s: %d accepted, the requests came to %v", test.name, r.Accepted, r.Counts)
		}
		broken := slices.ContainsFunc(r.Audit.Violations, func(v ledger.Violation) bool { return v.Rule == test.rule && v.Count == test.open })
		// On a busy machine an open loop is late, which is no judgement on the service.
		late := r.Verdict == ledger.NotValid && len(r.Audit.Violations) == 0 &&
			!slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Code != ProblemLate })
		if (r.Verdict == ledger.Held || late) != (test.rule == "") || test.rule != "" && !broken {
			t.Errorf("%s: %s, %+v %v", test.name, r.Verdict, r.Audit.Violations, r.Problems)
		}
	}
}
