package ledger

import (
	"slices"
	"testing"

	"seckill/internal/seckill"
)

// reservations is a sale of 10 units in which every end of a reservation occurs:
//
//	user 1  paid 2                        user 4  cancelled 2
//	user 2  forgot, and 2 expired         user 5  has 2, and may pay yet
//	user 3  paid 2 late: told expired     user 6  bought 2 in one call
func reservations() *Evidence {
	e := &Evidence{Initial: 10, Run: 1, Snapshot: Snapshot{Stock: Stock{ID: 1, Initial: 10, Num: 4, Run: 1}}, Told: []Told{}}
	for user, r := range []struct {
		status  string
		state   seckill.ReservationState
		outcome Outcome
		call    Call // after the reservation
		told    Outcome
	}{
		{Active, seckill.Paid, OutcomeReserved, CallPay, OutcomeSold},
		{Expired, seckill.ReservationExpired, OutcomeReserved, "", ""},
		{Expired, seckill.ReservationExpired, OutcomeReserved, CallPay, OutcomeExpired},
		{Cancelled, seckill.ReservationReleased, OutcomeReserved, CallCancel, OutcomeCancelled},
		{Active, seckill.Reserved, OutcomeReserved, "", ""},
		{Active, seckill.Paid, OutcomeSold, "", ""},
	} {
		name := string(rune('1' + user))
		o := Order{PublicID: "o" + name, RequestID: "r" + name, Run: 1, UserID: int64(user + 1), SKUID: 1, Quantity: 2, Remaining: 8,
			Status: r.status, Strategy: "reserve", Reservation: &Reservation{State: r.state, Left: 1_000_000}}
		if r.status != Active {
			o.Reservation.Released = 2
		}
		e.Snapshot.Orders = append(e.Snapshot.Orders, o)
		t := Told{RequestID: o.RequestID, User: o.UserID, Quantity: 2, Outcome: r.outcome, OrderID: o.PublicID, Remaining: 8}
		e.Told = append(e.Told, t)
		if r.call != "" {
			t.Call, t.Outcome, t.Remaining = r.call, r.told, 0
			e.Told = append(e.Told, t)
		}
	}
	return e
}

// The places of what reservations tells.
const (
	toldPaid      = 1 // of user 1
	toldLate      = 4 // of user 3
	toldCancelled = 6 // of user 4
)

// set gives an order another end, with the stock to it.
func (e *Evidence) set(user int, status string, state seckill.ReservationState) {
	o := &e.Snapshot.Orders[user-1]
	was := o.Status
	o.Status, o.Reservation.State, o.Reservation.Released = status, state, 0
	if status != Active {
		o.Reservation.Released = o.Quantity
	}
	switch {
	case was == Active && status != Active:
		e.Snapshot.Stock.Num += o.Quantity
	case was != Active && status == Active:
		e.Snapshot.Stock.Num -= o.Quantity
	}
}

func TestJudgeReservations(t *testing.T) {
	if r := Judge(*reservations()); r.Verdict != Held || r.Sold != 4 || r.Reserved != 2 || r.Expired != 2 || r.Cancelled != 1 || r.Orders != 3 {
		t.Fatalf("the sale as it should be: %+v", r)
	}
	for _, test := range []struct {
		name   string
		change func(*Evidence)
		want   []string
	}{
		{"told paid, and expired", func(e *Evidence) { e.set(1, Expired, seckill.ReservationExpired) }, []string{RulePaidReleased}},
		{"told paid by its key, and expired", func(e *Evidence) {
			e.Told[toldPaid].OrderID = ""
			e.set(1, Expired, seckill.ReservationExpired)
		}, []string{RulePaidReleased}},
		{"bought in one call, and expired", func(e *Evidence) { e.set(6, Expired, seckill.ReservationExpired) }, []string{RulePaidReleased}},
		{"paid in the ledger, and given back", func(e *Evidence) {
			e.Told = nil
			e.Snapshot.Orders[0].Reservation.Released = 1
		}, []string{RulePaidReleased}},
		{"told paid, and not paid", func(e *Evidence) { e.set(1, Active, seckill.Reserved) }, []string{RuleNotPaid}},
		{"told paid, and never there", func(e *Evidence) {
			e.Told = append(e.Told, Told{Call: CallPay, User: 9, OrderID: "o9", Outcome: OutcomeSold})
		}, []string{RuleNotPaid}},
		{"paid when the deadline had passed", func(e *Evidence) { e.Told[toldPaid].Late = true }, []string{RulePaidLate}},
		{"told expired before the deadline", func(e *Evidence) { e.Told[toldLate].Early = true }, []string{RuleExpiredEarly}},
		{"told paid, and cancelled by the buyer later", func(e *Evidence) {
			e.set(1, Cancelled, seckill.ReservationReleased)
			again := e.Told[toldPaid]
			again.Call, again.Outcome = CallCancel, OutcomeCancelled
			e.Told = append(e.Told, again)
		}, nil},
		{"told paid, and cancelled by no one", func(e *Evidence) { e.set(1, Cancelled, seckill.ReservationReleased) }, []string{RuleCancelledUnasked}},
		{"forgotten, and paid", func(e *Evidence) { e.set(2, Active, seckill.Paid) }, []string{RulePaidUnasked}},
		{"a payment without an answer, and paid", func(e *Evidence) { e.Told[toldPaid].Outcome = OutcomeUnknown }, nil},
		{"a payment without an answer, and expired", func(e *Evidence) {
			e.Told[toldPaid].Outcome = OutcomeUnknown
			e.set(1, Expired, seckill.ReservationExpired)
		}, nil},
		{"told expired, and paid", func(e *Evidence) { e.set(3, Active, seckill.Paid) }, []string{RuleExpiredHeld}},
		{"told expired, and still held", func(e *Evidence) { e.set(3, Active, seckill.Reserved) }, []string{RuleExpiredHeld}},
		{"past its deadline for a moment", func(e *Evidence) { e.Snapshot.Orders[4].Reservation.Left = -1_000_000 }, nil},
		{"past its deadline for long", func(e *Evidence) { e.Snapshot.Orders[4].Reservation.Left = -6_000_000 }, []string{RuleExpiredHeld}},
		{"told cancelled, and expired", func(e *Evidence) { e.set(4, Expired, seckill.ReservationExpired) }, nil},
		{"told cancelled, and held", func(e *Evidence) { e.set(4, Active, seckill.Reserved) }, []string{RuleNotCancelled}},
		{"cancelled, and the cancellation was refused", func(e *Evidence) { e.Told[toldCancelled].Outcome = OutcomeBusy }, []string{RuleCancelledUnasked}},
		{"given back twice", func(e *Evidence) {
			e.Snapshot.Orders[1].Reservation.Released = 4
			e.Snapshot.Stock.Num += 2
		}, []string{RuleReleasedTwice, RuleLostUpdate}},
		{"expired, and nothing came back", func(e *Evidence) { e.Snapshot.Stock.Num -= 2 }, []string{RuleLostUnits}},
		{"more reserved than there is", func(e *Evidence) {
			e.set(2, Active, seckill.Reserved)
			e.set(3, Active, seckill.Reserved)
			e.set(4, Active, seckill.Reserved)
			e.Told[toldLate].Outcome, e.Told[toldCancelled].Outcome = OutcomeUnknown, OutcomeUnknown
		}, []string{RuleOversold, RuleNegative}},
		{"reserved, and not there", func(e *Evidence) {
			e.Snapshot.Orders, e.Snapshot.Stock.Num = slices.Delete(e.Snapshot.Orders, 4, 5), 6
		}, []string{RuleMissingOrder}},
		{"told sold out while reservations expired", func(e *Evidence) {
			e.Told = append(e.Told, Told{RequestID: "r9", User: 9, Quantity: 4, Outcome: OutcomeSoldOut})
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := reservations()
			test.change(e)
			var got []string
			for _, v := range Judge(*e).Violations {
				got = append(got, v.Rule)
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if !slices.Equal(got, test.want) {
				t.Errorf("broke %v, want %v: %+v", got, test.want, Judge(*e).Violations)
			}
		})
	}
}
