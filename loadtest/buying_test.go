package loadtest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
)

// inProgress answers a copy while another copy of the request is under way.
func inProgress(w http.ResponseWriter, after string) {
	w.Header().Set("Retry-After", after)
	refuse(w, http.StatusConflict, "in_progress")
}

// failsLater returns a fault for the fake. It sells to the first copy of a request and tells the
// other copies to wait. To later calls it answers that a backend is down. If ask is not empty, the
// answer says where to ask for the outcome of the other calls.
func failsLater(ask string) func(*fake) {
	return func(f *fake) {
		calls := map[string]int{}
		f.purchase = func(_ int, p asked, w http.ResponseWriter) bool {
			switch calls[p.key]++; {
			case calls[p.key] == 1:
				return false
			case calls[p.key] <= CopiesEach:
				inProgress(w, "0")
			default:
				w.Header().Set("Content-Type", typeProblem)
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprintf(w, `{"code":"backend_unavailable","ask":%q}`, ask)
			}
			return true
		}
	}
}

// Clients send a request again, or several times at once. They find flaws that remain hidden if
// each request is one call.
func TestRetriesAndCopies(t *testing.T) {
	hangUpAfterSelling := func(f *fake) func(int, asked, http.ResponseWriter) bool {
		return func(n int, p asked, w http.ResponseWriter) bool {
			if _, again := f.sold(p); again || n%3 > 0 || f.stock.Num < p.Quantity {
				return false
			}
			f.take(p)
			hangUp(w)
			return true
		}
	}
	for _, test := range []struct {
		name    string
		plant   func(*fake)
		adjust  func(*Config)
		verdict judge.Verdict
		rules   []string // rules that must be among those violated; none if the sale held
		retries bool     // true if some calls must be made again
	}{
		{name: "keeps its word to copies", plant: func(*fake) {}, verdict: judge.Held},
		{name: "answers a retry with the order", plant: func(f *fake) { f.purchase = hangUpAfterSelling(f) },
			verdict: judge.Held, retries: true},
		{name: "tells a copy to wait", plant: func(f *fake) {
			first := map[string]int{}
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
				if first[p.key]++; first[p.key] == 2 {
					inProgress(w, "0")
					return true
				}
				return false
			}
		}, verdict: judge.Held, retries: true},
		{name: "is slow, and buyers hang up", plant: func(f *fake) {
			f.outside = func(n int, _ http.ResponseWriter, _ *http.Request) bool {
				time.Sleep(time.Duration(n%2) * maxPatience)
				return false
			}
		}, adjust: func(c *Config) { c.Cuts, c.Copies = .5, .5 }, verdict: judge.Held, retries: true},
		{name: "sells once more to a retry", plant: func(f *fake) {
			lost, again := "", false
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
				switch {
				case n == 0:
					lost = p.key
					f.take(p)
					hangUp(w)
				case p.key == lost && !again:
					again = true
					respond(w, f.take(p))
				case !again: // keeps units in stock until the retry
					refuse(w, http.StatusTooManyRequests, "busy")
				default:
					return false
				}
				return true
			}
		}, adjust: func(c *Config) { c.Copies, c.Buyers = 0, 3000 }, verdict: judge.Lost,
			rules: []string{judge.RuleTwice}, retries: true},
		{name: "refuses a copy of what it sold", plant: func(f *fake) {
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
				if _, again := f.sold(p); again {
					refuse(w, http.StatusConflict, "sold_out")
					return true
				}
				return false
			}
		}, verdict: judge.Lost, rules: []string{judge.RuleKeyRefused}},
		{name: "says that nothing was taken, and answers a retry with the order", plant: func(f *fake) {
			f.purchase = func(n int, p asked, w http.ResponseWriter) bool {
				s, again := f.sold(p)
				switch {
				case again:
					w.Header().Set("Idempotency-Replayed", "true")
					respond(w, s)
				case n%3 > 0 || f.stock.Num < p.Quantity:
					return false
				default:
					f.take(p)
					refuse(w, http.StatusServiceUnavailable, "backend_unavailable")
				}
				return true
			}
		}, adjust: func(c *Config) { c.Copies = 0 }, verdict: judge.Lost, rules: []string{judge.RuleUnacknowledged},
			retries: true},
		{name: "says of what it sold that nothing was taken", plant: failsLater(""), verdict: judge.Lost,
			rules: []string{judge.RuleKeyRefused}, retries: true},
		{name: "says of one call that nothing was taken", plant: failsLater("/api/v1/orders"), verdict: judge.Held,
			retries: true},
		{name: "cancels, and hangs up", plant: func(f *fake) {
			f.giveBack = func(n int, w http.ResponseWriter) bool {
				hangs := n%2 == 0 || n > 9 // every second call, and all after the tenth
				if hangs {
					hangUp(w)
				}
				return hangs
			}
		}, adjust: func(c *Config) { c.Cancellations, c.Copies, c.Retry = .5, 0, 3 }, verdict: judge.Held},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{token: "secret"}
			test.plant(f)
			c := serve(t, f)
			prefixed := httptest.NewServer(http.StripPrefix("/shop-api", f.handler())) // like a proxy
			defer prefixed.Close()
			c.Targets = append(c.Targets, prefixed.URL+"/shop-api/") // two processes with one database
			c.Copies, c.Retry = .5, 2
			if test.adjust != nil {
				test.adjust(&c)
			}
			var last Progress
			c.OnProgress = func(p Progress) { last = p }
			r := ran(t, c)
			if test.verdict == judge.Held && (last.Units > testStock || r.Cancellations.Refused > 0) {
				t.Errorf("the last progress has %d units of %d; %+v", last.Units, testStock, r.Cancellations)
			}
			if r.Verdict != test.verdict {
				t.Errorf("verdict %s, want %s\n%s", r.Verdict, test.verdict, show(r))
			}
			for _, rule := range test.rules {
				if !slices.Contains(rules(r), rule) {
					t.Errorf("violated %v, want %s among them\n%s", rules(r), rule, show(r))
				}
			}
			if sold := r.Counts[judge.OutcomeSold]; test.verdict == judge.Held && r.Counts[judge.OutcomeUnknown] == 0 &&
				sold != r.Audit.Orders+r.Audit.Cancelled {
				t.Errorf("%d buyers know that they bought, and the ledger has %d orders", sold,
					r.Audit.Orders+r.Audit.Cancelled)
			}
			if did, not := r.Exercised(); (r.Cut > 0) != (c.Cuts > 0) ||
				strings.Contains(strings.Join(did, ", "), "cut") != (r.Cut > 0) || len(did)+len(not) < 7 {
				t.Errorf("%d of %d connections were cut; tried are %q, and not %q", r.Cut, r.Requests, did, not)
			}
			calls := r.Requests + r.Copies + r.Retries // some of the calls that are cut never arrive
			if r.Requests != c.Buyers || f.seen > calls || f.seen < calls-r.Cut {
				t.Errorf("%d requests, %d copies and %d retries; the service saw %d calls", r.Requests, r.Copies,
					r.Retries, f.seen)
			}
			if c.Copies > 0 && (r.Copies < 20 || r.Copies%(CopiesEach-1) != 0) || test.retries && r.Retries == 0 {
				t.Errorf("%d copies, %d retries", r.Copies, r.Retries)
			}
		})
	}
}

// A client waits for the Retry-After before it repeats a call. Every pause has an upper limit.
func TestPauses(t *testing.T) {
	p := newPlan(Scenario{Seed: 1, Buyers: 1, SKUs: 1, Profile: Closed}, []int64{1})
	for after, want := range map[time.Duration]time.Duration{time.Second: time.Second, time.Hour: maxPause} {
		got := p.pauseBefore(0, 0, reply{Outcome: judge.OutcomeInProgress, RetryAfter: after})
		labtest.Same(t, got, want, "the pause when told to ask again after %v", after)
	}
	for try, most := range map[int]time.Duration{0: firstPause, 1: 2 * firstPause, 60: maxPause} {
		if got := p.pauseBefore(0, try, reply{}); got < most/2 || got > most {
			t.Errorf("waits %v before call %d", got, try+2)
		}
	}
}

// A scripted service answers after a second. The number of the call selects the reply.
type scripted struct {
	atOnce
	mu      sync.Mutex
	replies []reply
	targets []int
	pays    reply
	takes   time.Duration // time that a payment takes
}

func (s *scripted) sendPayment(purchase) reply {
	time.Sleep(s.takes)
	return s.pays
}

func (s *scripted) sendPurchase(p purchase) reply {
	time.Sleep(time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.targets = append(s.targets, p.turn)
	return s.replies[p.turn]
}

// Copies are sent at once to different targets, and a retry goes to the next target. If calls of one request have
// different results, the most certain one counts. An answer about the sale counts more than a missing answer. A missing
// answer counts more than a refusal of another call, because the refusal does not say what the other call did.
func TestWhatABuyerKnowsInTheEnd(t *testing.T) {
	late, lost := replyToError(&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}), replyToError(io.ErrUnexpectedEOF)
	if late.Code != codeTimeout || lost.Code != codeLost {
		t.Errorf("%+v and %+v", late, lost)
	}
	gone := replyToError(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
	sold, out := reply{Outcome: judge.OutcomeSold, OrderID: "o"}, reply{Outcome: judge.OutcomeSoldOut, Code: "sold_out"}
	busy, wait := reply{Outcome: judge.OutcomeBusy, Code: "busy"}, reply{Outcome: judge.OutcomeInProgress,
		Code: "in_progress"}
	down := reply{Outcome: judge.OutcomeError, Code: "backend_unavailable", Status: 503}
	for _, test := range []struct {
		copies  float64
		replies []reply
		want    judge.Outcome
		targets []int
	}{
		{0, []reply{late, sold}, judge.OutcomeSold, []int{0, 1}},
		{0, []reply{lost, out}, judge.OutcomeSoldOut, []int{0, 1}},
		{0, []reply{gone, sold}, judge.OutcomeSold, []int{0, 1}},
		{0, []reply{late, gone}, judge.OutcomeUnknown, []int{0, 1}},
		{0, []reply{down, sold}, judge.OutcomeSold, []int{0, 1}},
		{0, []reply{busy, sold}, judge.OutcomeBusy, []int{0}},
		{0, []reply{{Outcome: judge.OutcomeAccepted, Code: "accepted"}}, judge.OutcomeAccepted, []int{0}},
		{1, []reply{busy, sold, out}, judge.OutcomeSold, []int{0, 1, 2}},
		{1, []reply{sold, wait, wait, wait}, judge.OutcomeSold, []int{0, 1, 2, 2, 3}},
		{1, []reply{out, gone, lost, gone}, judge.OutcomeUnknown, []int{0, 1, 2, 2, 3}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &scripted{replies: test.replies}
			c := Scenario{SKU: 1, SKUs: 1, Profile: Closed, Stock: 1, Quantity: 1, Buyers: 1, Concurrency: 1, Copies: test.copies, Retry: 1,
				Timeout: time.Minute}
			p := newPlan(c, []int64{1})
			l := newLoad(p, newTally(p, newResult(Config{Scenario: c})), func() caller { return s })
			l.sendRequests(t.Context())
			l.finishCopies()
			if slices.Sort(s.targets); l.tally.result.Counts[test.want] != 1 ||
				!slices.Equal(s.targets, test.targets) ||
				l.tally.skus[0].hasOpenRequest != (test.want == judge.OutcomeAccepted) {
				t.Errorf("%+v: came to %v at targets %v, want %s at %v", test.replies, l.tally.result.Counts, s.targets,
					test.want, test.targets)
			}
			for _, told := range l.tally.skus[0].calls {
				if (told.Answered == 0) != (told.Outcome == judge.OutcomeUnknown) ||
					told.Outcome == judge.OutcomeSold && test.copies > 0 && told.Sent > 0 ||
					told.Outcome == judge.OutcomeUnknown &&
						!l.tally.skus[0].hasSilentCall { // even if a later call had an answer
					t.Errorf("%+v: the judge is told %+v", test.replies, told)
				}
			}
		})
	}
}

// A promising service first answers that it has accepted a purchase. It decides when it is asked for the second time.
type promising struct {
	*fake
	more    int // number of purchases that it accepts beyond the stock
	decides func(n int) (status string)
	open    map[string]asked
	looked  map[string]int
	decided int
}

func newPromising(more int, decides func(n int) string) *promising {
	s := &promising{fake: &fake{token: "secret"}, more: more, decides: decides, open: map[string]asked{},
		looked: map[string]int{}}
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
		says := func(status, code string, orders ...judge.Order) {
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

// Buyers whose purchase was accepted ask for the final answer. The judge finds out whether the
// service keeps its promises.
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
		rule    string // the violated rule; "" if the sale held
		// accepted, ordered and open count requests: accepted at first, with an order in the end,
		// and without a final answer.
		accepted, ordered, open int
	}{
		{"keeps its promises", 0, keeps, nil, "", 20, 20, 0},
		{"in an open loop", 0, keeps, func(c *Config) { c.Profile = Spike }, "", 20, 20, 0},
		{"gets copies", 0, keeps, func(c *Config) { c.Copies = 1 }, "", 20, 20, 0},
		{"accepts too many", 4, overbooks, nil, "", 24, 20, 0},
		{"loses requests", 0, loses, nil, judge.RuleLostRequest, 20, 16, 4},
		{"never says", 0, waits, nil, judge.RuleLostRequest, 20, 0, 20},
	} {
		s := newPromising(test.more, test.decides)
		c := serve(t, s.fake)
		c.Async, c.limits.final = true, time.Minute
		if test.open > 0 {
			c.limits.final = time.Second // buyers without a final answer ask for this time
		}
		if test.adjust != nil {
			test.adjust(&c)
		}
		r := ran(t, c)
		if test.ordered > 0 && r.SoldLatency.Max < askInterval.Microseconds() { // buyers ask twice
			t.Errorf("%s: buyers knew of their orders after %+v", test.name, r.SoldLatency)
		}
		if r.Accepted != test.accepted || r.Counts[judge.OutcomeSold] != test.ordered ||
			r.Counts[judge.OutcomeAccepted] != test.open || r.Requests != testBuyers ||
			test.open > 0 && answered(r, "accepted") != test.accepted {
			t.Errorf("%s: %d accepted, the requests came to %v: %+v", test.name, r.Accepted, r.Counts, r.Answers)
		}
		broken := slices.ContainsFunc(r.Audit.Violations,
			func(v judge.Violation) bool { return v.Rule == test.rule && v.Count == test.open })
		// On a busy machine, an open loop may send late. That says nothing about the service.
		late := r.Verdict == judge.NotValid && len(r.Audit.Violations) == 0 &&
			!slices.ContainsFunc(r.Problems, func(p Problem) bool { return p.Code != "generator_late" })
		if (r.Verdict == judge.Held || late) != (test.rule == "") || test.rule != "" && !broken {
			t.Errorf("%s: %s, %+v %v", test.name, r.Verdict, r.Audit.Violations, r.Problems)
		}
	}
}
