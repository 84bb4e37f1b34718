package ledger

import (
	"slices"
	"testing"
	"time"
)

// at gives the i-th call its times, in milliseconds.
func (e *Evidence) at(i int, sent, answered int) {
	e.Told[i].Sent, e.Told[i].Answered = time.Duration(sent)*time.Millisecond, time.Duration(answered)*time.Millisecond
}

// again adds another call of the i-th call's request; it returns its place.
func (e *Evidence) again(i int, o Outcome) int {
	t := e.Told[i]
	t.Outcome, t.OrderID, t.Remaining, t.Sent, t.Answered = o, "", 0, 0, 0
	e.Told = append(e.Told, t)
	return len(e.Told) - 1
}

// Of the sale of clean, call by call: 1 to 3 bought, 6 bought and does not know,
// 0 bought and cancelled (8). What each change breaks, and nothing else.
func TestJudgeTold(t *testing.T) {
	// copied has user 1 buy from 100 to 200 ms and send a copy.
	copied := func(o Outcome, sent, answered int) func(*Evidence) {
		return func(e *Evidence) {
			e.at(1, 100, 200)
			e.at(e.again(1, o), sent, answered)
			e.at(8, 1, 2) // the cancellation was over before
		}
	}
	for _, test := range []struct {
		name   string
		change func(*Evidence)
		want   []string
	}{
		{"told cancelled, and active", func(e *Evidence) {
			e.Snapshot.Orders[0].Status, e.Initial, e.Snapshot.Stock.Initial = Active, 12, 12
		}, []string{RuleNotCancelled}},
		{"told cancelled by the key, and active", func(e *Evidence) {
			e.Told[8].OrderID = ""
			e.Snapshot.Orders[0].Status, e.Initial, e.Snapshot.Stock.Initial = Active, 12, 12
		}, []string{RuleNotCancelled}},
		{"told cancelled, and missing", func(e *Evidence) { e.Snapshot.Orders = e.Snapshot.Orders[1:] },
			[]string{RuleMissingOrder, RuleNotCancelled}},
		{"told cancelled, and never there", func(e *Evidence) {
			e.Told = append(e.Told, Told{Call: CallCancel, User: 9, OrderID: "o9", Outcome: OutcomeCancelled})
		}, []string{RuleNotCancelled}},
		{"a cancellation without an answer, and active", func(e *Evidence) {
			e.Told[8].Outcome = OutcomeUnknown
			e.Snapshot.Orders[0].Status, e.Initial, e.Snapshot.Stock.Initial = Active, 12, 12
		}, nil},
		{"a cancellation that was refused, and cancelled", func(e *Evidence) { e.Told[8].Outcome = OutcomeBusy }, []string{RuleCancelledUnasked}},
		{"cancelled again, refused the second time", func(e *Evidence) {
			e.Told = append(e.Told, e.Told[8])
			e.Told[9].Outcome = OutcomeBusy
		}, nil},
		{"an order whose buyer knows nothing, cancelled by nobody", func(e *Evidence) {
			e.Snapshot.Orders[4].Status, e.Snapshot.Stock.Num = Cancelled, 1
		}, []string{RuleCancelledUnasked}},
		{"one request, two orders", func(e *Evidence) {
			i := e.again(1, OutcomeSold)
			e.Told[i].OrderID, e.Told[i].Remaining = "another", 7
		}, []string{RuleWrongReceipt, RuleTwoAnswers}},
		{"one request, two numbers left", func(e *Evidence) {
			i := e.again(1, OutcomeSold)
			e.Told[i].OrderID, e.Told[i].Remaining = "o1", 6
		}, []string{RuleWrongReceipt, RuleTwoAnswers}},

		{"duplicate without an order", func(e *Evidence) { e.Told[7].Outcome = OutcomeDuplicate }, []string{RuleFalseDuplicate}},
		{"duplicate in all copies, without an order", func(e *Evidence) {
			e.Told[7].Outcome = OutcomeDuplicate
			e.again(7, OutcomeDuplicate)
		}, []string{RuleFalseDuplicate}},
		{"duplicate by another request", func(e *Evidence) {
			e.Told[e.again(1, OutcomeDuplicate)].RequestID = "another"
		}, nil},
		{"duplicate before the order was asked for", func(e *Evidence) {
			e.at(1, 100, 200)
			i := e.again(1, OutcomeDuplicate)
			e.Told[i].RequestID = "another"
			e.at(i, 50, 99)
		}, []string{RuleFalseDuplicate}},
		{"duplicate after the cancellation was acknowledged", func(e *Evidence) {
			e.at(0, 100, 200)
			e.at(8, 300, 400)
			i := e.again(0, OutcomeDuplicate)
			e.Told[i].RequestID = "another"
			e.at(i, 401, 410)
		}, []string{RuleFalseDuplicate}},
		{"duplicate while the cancellation was under way", func(e *Evidence) {
			e.at(0, 100, 200)
			e.at(8, 300, 400)
			i := e.again(0, OutcomeDuplicate)
			e.Told[i].RequestID = "another"
			e.at(i, 399, 410)
		}, nil},
		{"duplicate beside another request that may have held the place", func(e *Evidence) {
			e.at(5, 100, 0)
			i := e.again(5, OutcomeDuplicate)
			e.Told[i].RequestID = "another"
			e.at(i, 900, 910)
		}, nil},

		{"a copy sold out while the order is got", copied(OutcomeSoldOut, 110, 120), []string{RuleKeyRefused}},
		{"a copy sold out, while somebody cancels", func(e *Evidence) {
			copied(OutcomeSoldOut, 110, 120)(e)
			e.at(8, 115, 118)
		}, nil},
		{"a copy sold out after the order", copied(OutcomeSoldOut, 201, 210), []string{RuleKeyRefused}},
		{"a copy sold out before the retry that got the order", copied(OutcomeSoldOut, 90, 100), nil},
		{"a copy told duplicate while the order is got", copied(OutcomeDuplicate, 90, 101), []string{RuleKeyRefused}},
		{"a copy busy after the order", copied(OutcomeBusy, 200, 210), []string{RuleKeyRefused}},
		{"a copy in conflict after the order", copied(OutcomeConflict, 250, 0), []string{RuleKeyRefused}},
		{"a copy busy until long after the order", copied(OutcomeBusy, 110, 250), []string{RuleKeyRefused}},
		{"a copy busy while the order has long been asked for", copied(OutcomeBusy, 160, 170), []string{RuleKeyRefused}},
		{"a copy busy at once, maybe before the other one came", copied(OutcomeBusy, 101, 103), nil},
		{"a copy in progress", copied(OutcomeInProgress, 110, 120), nil},
		{"a refusal without times", copied(OutcomeSoldOut, 0, 0), nil},
		{"a retry sold out, and the first call got the order and no answer", func(e *Evidence) {
			e.at(6, 100, 0)
			e.at(e.again(6, OutcomeSoldOut), 300, 310)
			e.at(8, 1, 2)
		}, []string{RuleKeyRefused}},
		{"a retry busy, while the first call may be in a process that is paused", func(e *Evidence) {
			e.at(6, 100, 0)
			e.at(e.again(6, OutcomeBusy), 300, 310)
		}, nil},
		{"in progress, and nothing else was heard", func(e *Evidence) { e.Told[6].Outcome = OutcomeInProgress }, nil},
		{"in progress beside a refusal, and there is an order", func(e *Evidence) {
			e.Told[6].Outcome = OutcomeInProgress
			e.again(6, OutcomeBusy)
		}, []string{RuleUnacknowledged}},
	} {
		e := clean()
		test.change(&e)
		r := Judge(e)
		if got := broken(r); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v: %+v", test.name, got, test.want, r.Violations)
		}
		for _, v := range r.Violations {
			if len(v.Examples) == 0 || v.Verdict != Lost {
				t.Errorf("%s: no example, or not lost: %+v", test.name, v)
			}
		}
	}
}

// A stall is a sale of ten units, one a second for five seconds, with five
// buyers after that who are told busy each second until the 30th.
func stall() Evidence {
	e := Evidence{Initial: 10, Run: 1, Patience: 6 * time.Second, Told: []Told{},
		Snapshot: Snapshot{Stock: Stock{ID: 1, Initial: 10, Num: 5, Run: 1}}}
	for i := range int64(30) {
		at := time.Duration(i) * time.Second
		told := Told{RequestID: "r", User: i + 1, Quantity: 1, Outcome: OutcomeBusy, Sent: at, Answered: at + 900*time.Millisecond}
		if i < 5 {
			told.Outcome, told.OrderID, told.Remaining = OutcomeSold, "o", 9-i
			e.Snapshot.Orders = append(e.Snapshot.Orders, Order{PublicID: "o", RequestID: "r", Run: 1, UserID: i + 1, SKUID: 1,
				Quantity: 1, Remaining: 9 - i, Status: Active, Strategy: "conditional"})
		}
		e.Told = append(e.Told, told)
	}
	return e
}

func TestServed(t *testing.T) {
	moment := Moment(1)
	for _, test := range []struct {
		name    string
		change  func(*Evidence)
		want    ServedState
		longest float64 // seconds
	}{
		{"nothing is sold any more", func(*Evidence) {}, ServedBlocked, 24.9},
		{"allowed to wait so long", func(e *Evidence) { e.Patience = 25 * time.Second }, ServedYes, 24.9},
		{"no patience is known", func(e *Evidence) { e.Patience = 0 }, ServedNotKnown, 0},
		{"no times are known", func(e *Evidence) {
			for i := range e.Told {
				e.Told[i].Sent, e.Told[i].Answered = 0, 0
			}
		}, ServedNotKnown, 0},
		{"there was nothing left", func(e *Evidence) { e.Initial, e.Snapshot.Stock.Initial, e.Snapshot.Stock.Num = 5, 5, 0 }, ServedYes, 0.9},
		{"they want more than is left", func(e *Evidence) {
			for i := range 25 {
				e.Told[5+i].Quantity = 6
			}
		}, ServedYes, 0.9},
		{"they hold orders already", func(e *Evidence) {
			for i := range 25 {
				e.Told[5+i].User, e.Told[5+i].RequestID, e.Told[5+i].Outcome = 1, "another", OutcomeDuplicate
			}
		}, ServedYes, 0.9},
		{"nobody asked any more", func(e *Evidence) { e.Told = e.Told[:6] }, ServedYes, 0.9},
		{"hardly anybody asked", func(e *Evidence) { e.Told = append(e.Told[:6], e.Told[12], e.Told[20], e.Told[28]) }, ServedYes, 0.9},
		{"one buyer waits all the time, and is served in the end", func(e *Evidence) {
			e.Told = e.Told[:6]
			e.Told[5].Outcome, e.Told[5].OrderID, e.Told[5].Remaining = OutcomeSold, "o", 4
			e.Told[5].Answered = 29 * time.Second
			o := e.Snapshot.Orders[4]
			o.UserID, o.Remaining = 6, 4
			e.Snapshot.Orders, e.Snapshot.Stock.Num = append(e.Snapshot.Orders, o), 4
		}, ServedBlocked, 24},
		{"a sale without an answer in between", func(e *Evidence) {
			e.Told[12].Outcome = OutcomeUnknown
			o := e.Snapshot.Orders[4]
			o.UserID, o.Remaining = 13, 4
			e.Snapshot.Orders, e.Snapshot.Stock.Num = append(e.Snapshot.Orders, o), 4
			e.Told = e.Told[:19] // the last answer is at 18.9 s; sold until 12.9+6
		}, ServedBlocked, 6.9},
		{"told unknown, error, in progress", func(e *Evidence) {
			for i := range 25 {
				e.Told[5+i].Outcome = []Outcome{OutcomeUnknown, OutcomeError, OutcomeInProgress}[i%3]
			}
		}, ServedBlocked, 24.9},
		{"the sale starts after them", func(e *Evidence) { e.Started = 26 * time.Second }, ServedYes, 3.9},
		{"a start of its own, and nothing sold", func(e *Evidence) {
			e.Snapshot.Stock.StartsAt, e.Snapshot.Orders, e.Snapshot.Stock.Num = &moment, nil, 10
			e.Told = e.Told[5:]
		}, ServedNotKnown, 0},
		{"a unit comes back at the end only", func(e *Evidence) {
			e.Initial, e.Snapshot.Stock.Initial, e.Snapshot.Stock.Num = 5, 5, 1
			e.Snapshot.Orders[0].Status = Cancelled
			e.Told = append(e.Told, Told{Call: CallCancel, User: 1, RequestID: "r", Outcome: OutcomeCancelled, Sent: 26 * time.Second, Answered: 27 * time.Second})
		}, ServedYes, 2.9},
		{"a unit comes back, and no buyer gets it", func(e *Evidence) {
			e.Initial, e.Snapshot.Stock.Initial, e.Snapshot.Stock.Num = 5, 5, 1
			e.Snapshot.Orders[0].Status = Cancelled
			e.Told = append(e.Told, Told{Call: CallCancel, User: 1, RequestID: "r", Outcome: OutcomeCancelled, Sent: 9 * time.Second, Answered: 10 * time.Second})
		}, ServedBlocked, 19.9},
	} {
		e := stall()
		test.change(&e)
		r := Judge(e)
		if s := r.Served; s.State != test.want || s.LongestMs != test.longest*1000 {
			t.Errorf("%s: %+v, want %s with %v s (%v)", test.name, s, test.want, test.longest, broken(r))
		}
	}
	s := Judge(stall()).Served
	if s.FromMs != 5000 || s.Asked != 25 || s.Left != 5 || s.Calls != 30 || s.Answers[OutcomeBusy] != 25 || s.Rate(OutcomeSold) != 5.0/30 {
		t.Errorf("%+v", s)
	}
	both := Sum([]Report{Judge(stall()), {Verdict: Held, Served: &Served{State: ServedYes, LongestMs: 1, Calls: 2, Answers: map[Outcome]int{OutcomeSold: 2}}}})
	if !both.Served.Blocked() || both.Served.Calls != 32 || both.Served.Answers[OutcomeSold] != 7 || both.Served.LongestMs != s.LongestMs {
		t.Errorf("the sum of two: %+v", both.Served)
	}
}
