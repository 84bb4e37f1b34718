package explore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// Does is what an actor does.
type Does string

// What actors do.
const (
	Buys     Does = "buys"
	Cancels  Does = "cancels"
	Locks    Does = "locks"
	Resets   Does = "resets"
	Starts   Does = "starts"
	Forgets  Does = "forgets"
	Accepts  Does = "accepts"
	Asks     Does = "asks"
	Pays     Does = "pays"
	Releases Does = "releases"
	PaysLate Does = "pays late"
	Sweeps   Does = "sweeps"
	Comes    Does = "comes later"
	Reserves Does = "asks to reserve"
	Repeats  Does = "asks again"
)

// An actorKind is one kind of actor.
type actorKind struct {
	next Does // what the next buyer does, after all others are done; "": buys
	// can: a strategy can be asked to; nil: every one can.
	can func(catalog.Info) bool
	// prepare is what must be there before the actors come.
	prepare func(ctx context.Context, w *World, first *process, b Buyer) error
	perform performs
	// told is what the actor knows, for the ledger's judge; nil: nothing.
	told func(*World, Outcome) []judge.Call
	// answer is what it was told, in words, when it worked; "": what it was sold.
	answer string
}

type performs = func(ctx context.Context, w *World, p *process, o *Outcome)

var actorKinds = map[Does]actorKind{
	// It calls the strategy's Deduct.
	Buys: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.Receipt, o.Err = p.Strategy.Deduct(ctx, w.purchase(o.Buyer))
		},
		told: tellPurchase,
	},
	// It buys, and when it comes is a step of its own: buyers of one process who come without one are there when the
	// first command goes, and so in one batch.
	Comes: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.Err = tap.Do(ctx, Work, func() *tap.Command { return &tap.Command{Name: "comes", Text: "comes"} },
				func(context.Context) error { return nil })
			if o.Err == nil {
				o.Receipt, o.Err = p.Strategy.Deduct(ctx, w.purchase(o.Buyer))
			}
		},
		told: tellPurchase,
	},
	// It takes the lock, works a step, and frees it, and again (Buyer.Again): no stock.
	Locks: {
		next: Locks,
		can:  func(i catalog.Info) bool { return i.Locker != nil },
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			for n := 0; n <= o.Again && o.Err == nil; n++ {
				o.Err = w.hold(ctx, p)
			}
		},
		answer: "had the lock",
	},
	// It sets the sale anew.
	Resets: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.Err = p.Reset(ctx, w.sku, skuName, w.stock)
		},
		answer: "the sale was set anew",
	},
	// It is the moment at which the sale begins: until then it is scheduled for later.
	Starts: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			if err := p.In.DB.WithContext(ctx).Exec("UPDATE stock SET starts_at = 1 WHERE id = ?", w.sku).Error; err != nil {
				o.Err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
			}
		},
		answer: "the sale has begun",
	},
	// It is a Redis that comes back without its data, where the row has the last word, and
	// a buyer for whom the number is made anew, all in one step.
	Forgets: {
		can: func(i catalog.Info) bool { return i.Stock == seckill.InRowAndRedis },
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.Err = tap.Do(ctx, Work, func() *tap.Command {
				return &tap.Command{Name: "loses its data", Text: "loses its data"}
			}, func(context.Context) (err error) {
				untapped, number := context.Background(), fmt.Sprintf("seckill:stock:%d", w.sku)
				for _, key := range []string{number, "{" + number + "}:run", "{" + number + "}:buyers", "{" + number + "}:open"} {
					err = errors.Join(err, p.In.Redis.Del(untapped, key).Err())
				}
				if err == nil {
					o.Receipt, err = p.Strategy.Deduct(untapped, w.purchase(o.Buyer))
				}
				return err
			})
		},
		told: tellPurchase,
	},
	Accepts: accepts,
	Asks:    asks,
	// It is Asks for a reservation.
	Reserves: {can: func(i catalog.Info) bool { return i.Reserves }, prepare: asks.prepare, perform: asks.perform, told: asks.told},

	// It is Asks of a request that has its order, and was told so, before the actors came.
	Repeats: {
		prepare: func(ctx context.Context, w *World, first *process, b Buyer) error {
			if err := asks.prepare(ctx, w, first, b); err != nil {
				return err
			}
			o := Outcome{Buyer: b}
			ask(ctx, w.numbers[b.Process].service, w.purchase(b), &o)
			w.placed[b.Name] = o.Receipt
			return o.Err
		},
		perform: asks.perform,
		told: func(w *World, o Outcome) []judge.Call {
			before := judge.CallOf(w.purchase(o.Buyer), w.placed[o.Name], nil)
			before.Sent, before.Answered = 1, 2 // before any step
			return append([]judge.Call{before}, asks.told(w, o)...)
		},
	},

	// These are at one order, or reservation, that was placed before they came. Several may
	// be at the same (Buyer.Same). They ask again when that failed (Buyer.Again).
	Cancels:  atOrder(judge.OutcomeSold, "cancelled", judge.CallCancel, asking(seckill.Strategy.Restore)),
	Pays:     atReservation("paid", judge.CallPay, asking(seckill.Reserver.Pay, seckill.ErrExpired, seckill.ErrCancelled)),
	PaysLate: atReservation("paid", judge.CallPay, payLate),
	Releases: atReservation("cancelled", judge.CallCancel, asking(seckill.Reserver.Release, seckill.ErrPaid)),
	Sweeps:   atReservation("swept", "", sweep),
}

// ask sends a request, and sends it again while its answer is not final (Buyer.Again).
func (o *Outcome) ask(ctx context.Context, send func() (final bool)) {
	for n := 0; n <= o.Again && ctx.Err() == nil; n++ {
		if send() {
			return
		}
	}
}

func tellPurchase(w *World, o Outcome) []judge.Call {
	return []judge.Call{tell(w.purchase(o.Buyer), o)}
}

// tell is what a buyer knows of a purchase. Who has died has heard no refusal.
func tell(p seckill.Purchase, o Outcome) judge.Call {
	t := judge.CallOf(p, o.Receipt, o.Err)
	switch {
	case o.Dead && o.Err != nil:
		t.Outcome = judge.OutcomeUnknown
	case o.Accepted && !o.Dead:
		t.Outcome, t.OrderID, t.Remaining = judge.OutcomeAccepted, "", 0
	}
	return t
}

// Work is the backend of a step that is no command of one backend: what a buyer does
// under a lock that protects nothing.
const Work = "work"

func (w *World) hold(ctx context.Context, p *process) error {
	lease, err := p.Locker.Acquire(ctx, w.probes.Key(w.sku), w.info.LockOptions(w.settings))
	if err != nil {
		return err
	}
	err = tap.Do(lease.Context(), Work, func() *tap.Command {
		return &tap.Command{Name: "work", Text: "works under the lock"}
	}, func(context.Context) error { return nil })
	if left := lease.Release(context.WithoutCancel(ctx)); err == nil {
		err = left
	}
	return err
}

// asking asks something of the order, and again when that failed for another reason than
// one of those that are final.
func asking[S any](of func(S, context.Context, string) error, final ...error) performs {
	return func(ctx context.Context, w *World, p *process, o *Outcome) {
		o.ask(ctx, func() bool {
			o.Err = of(p.Strategy.(S), ctx, w.placed[o.owner()].OrderID)
			return o.Err == nil || slices.ContainsFunc(final, func(f error) bool { return errors.Is(o.Err, f) })
		})
	}
}

// payLate pays when the deadline has passed.
func payLate(ctx context.Context, w *World, p *process, o *Outcome) {
	if o.Err = w.overdue(ctx, p); o.Err == nil {
		asking(seckill.Reserver.Pay)(ctx, w, p, o)
	}
}

// sweep has the deadline pass, and sweeps.
func sweep(ctx context.Context, w *World, p *process, o *Outcome) {
	err := w.overdue(ctx, p)
	if err == nil {
		_, err = p.Strategy.(seckill.Reserver).Expire(ctx)
	}
	if err != nil && !seckill.NothingTaken(err) {
		err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	o.Err = err
}

// overdue has the deadline of what is still reserved pass.
func (w *World) overdue(ctx context.Context, p *process) error {
	return p.In.DB.WithContext(ctx).Exec("UPDATE reservations SET ends_at = '2000-01-01' "+
		"WHERE sku_id = ? AND state = 'reserved' AND ends_at > '2000-01-02'", w.sku).Error
}

// atReservation is an actor at a reservation. Its deadline is far away until an actor has
// the time pass: so the scheduler decides what is in time.
func atReservation(answer string, asked judge.CallKind, perform performs) actorKind {
	d := atOrder(judge.OutcomeReserved, answer, asked, perform)
	d.next = Sweeps // what a dead sweeper has left is given back
	d.can = func(i catalog.Info) bool { return i.Reserves }
	return d
}

// atOrder is an actor at an order whose buyer was told placed. asked is what it asks of
// it, and answer what it is told when that worked.
func atOrder(placed judge.Outcome, answer string, asked judge.CallKind, perform performs) actorKind {
	return actorKind{
		perform: perform,
		answer:  answer,
		prepare: func(ctx context.Context, w *World, first *process, b Buyer) (err error) {
			if _, there := w.placed[b.owner()]; there {
				return nil
			}
			var r seckill.Receipt
			if placed == judge.OutcomeReserved {
				r, err = first.Strategy.(seckill.Reserver).Reserve(ctx, w.purchase(b), time.Hour)
			} else {
				r, err = first.Strategy.Deduct(ctx, w.purchase(b))
			}
			if err != nil {
				return fmt.Errorf("place the order that %s %s: %w", b.Name, b.Does, err)
			}
			w.placed[b.owner()] = r
			return nil
		},
		told: func(w *World, o Outcome) (told []judge.Call) {
			if o.Name == NextBuyer {
				return nil
			}
			t := tell(w.purchase(o.Buyer), Outcome{Receipt: w.placed[o.owner()]})
			if o.Same == "" { // the order, once
				t.Outcome = placed
				told = append(told, t)
			}
			if asked == "" {
				return told
			}
			t.Kind, t.Outcome, t.Late = asked, judge.OutcomeUnknown, o.Does == PaysLate
			switch {
			case o.Err == nil && asked == judge.CallPay:
				t.Outcome = judge.OutcomeSold
			case o.Err == nil:
				t.Outcome = judge.OutcomeCancelled
			case o.Dead: // and has heard no refusal
			case errors.Is(o.Err, seckill.ErrExpired):
				t.Outcome = judge.OutcomeExpired
			case seckill.NothingTaken(o.Err):
				t.Outcome = judge.OutcomeError
			}
			return append(told, t)
		},
	}
}

// accepts buys and does not wait for the order, and asks again, with the same
// key, when the answer was lost (Buyer.Again). The next buyer of such a
// scenario comes a lease later, and writes what others have left.
var accepts = actorKind{
	can: func(i catalog.Info) bool { return i.Accepts },
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
		o.ask(ctx, func() (final bool) {
			var written bool
			o.Receipt, written, o.Err = p.Strategy.(seckill.Acceptor).Accept(ctx, w.purchase(o.Buyer))
			o.Accepted = o.Err == nil && !written
			return o.Err == nil || seckill.NothingTaken(o.Err) && !errors.Is(o.Err, seckill.ErrUnavailable)
		})
	},
	told: tellPurchase,
}

// untold asks what became of those who were told accepted, when all is over.
func (w *World) untold(ctx context.Context, p *process, s *Schedule) (list []Problem) {
	for _, o := range s.Buyers {
		if !o.Accepted || o.Dead || s.mayBeOver(o) {
			continue
		}
		buy := w.purchase(o.Buyer)
		_, err := p.Store.FindRequest(ctx, buy.SKU, buy.User, buy.RequestID)
		if errors.Is(err, seckill.ErrUnknownOrder) {
			err = p.Strategy.(seckill.Acceptor).Became(ctx, buy.SKU, buy.User, buy.RequestID)
		}
		if err != nil && (!seckill.NothingTaken(err) || errors.Is(err, seckill.ErrUnknownOrder) || errors.Is(err, seckill.ErrUnavailable)) {
			list = append(list, Problem{RuleUntold, fmt.Sprintf("%s was told accepted, and the look-up says: %v", o.Name, err)})
		}
	}
	return list
}

// asks sends a purchase with an Idempotency-Key through the whole service, and
// sends it again, with the same key, while it is not told for good what became
// of it (Buyer.Again). Two may send the same request (Buyer.Same).
var asks = actorKind{
	prepare: func(ctx context.Context, w *World, _ *process, b Buyer) error {
		p, err := w.process(ctx, b.Process)
		if err != nil {
			return err
		}
		if p.service == nil {
			s, err := httpapi.New(httpapi.Config{Instance: p.In, Infos: []catalog.Info{p.Info}, Default: p.Info.Name, Settings: w.settings,
				Now: func() time.Time { return w.now(p) }, PurchaseTimeout: time.Minute})
			if err != nil {
				return err
			}
			p.service = s.Handler()
		}
		// A buyer who asks for too much makes the service read the SKU now: in the
		// schedule it would do so past the tap.
		o, sku := Outcome{Buyer: b}, w.purchase(b).SKU
		ask(ctx, p.service, seckill.Purchase{SKU: sku, User: strangeUser, Quantity: w.stock + 1, RequestID: fmt.Sprintf("warm-%d-%d", b.Process, sku)}, &o)
		if !errors.Is(o.Err, seckill.ErrSoldOut) {
			return fmt.Errorf("asking for more than the stock was answered: %w", o.Err)
		}
		return nil
	},
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
		r := tap.From(ctx).(*actor).run
		o.ask(ctx, func() (final bool) {
			sent := r.sends()
			told, again := ask(ctx, p.service, w.purchase(o.Buyer), o)
			told.Sent, told.Answered = sent, r.answers()
			o.Told = append(o.Told, told)
			return !again
		})
	},
	told: func(w *World, o Outcome) []judge.Call {
		if o.Dead && len(o.Told) > 0 { // the last answer was not heard
			o.Told[len(o.Told)-1].Outcome = judge.OutcomeUnknown
		}
		return o.Told
	},
}

// The judge compares times. Those of a schedule are its steps. What happens beside each
// other, within one step, counts as answered before it was sent: then it proves nothing.
func (r *run) answers() time.Duration { return time.Duration(r.steps.Load()+1) * time.Microsecond }
func (r *run) sends() time.Duration   { return r.answers() + time.Microsecond/2 }

// strangeUser is no actor's.
const strangeUser = 98

// ask sends one request and reads its answer: what its buyer knows, and whether a
// client sends it again.
func ask(ctx context.Context, service http.Handler, p seckill.Purchase, o *Outcome) (told judge.Call, again bool) {
	body := fmt.Sprintf(`{"sku_id":%d,"user_id":%d,"quantity":%d}`, p.SKU, p.User, p.Quantity)
	path := "/api/v1/seckill"
	if o.Does == Reserves {
		path = "/api/v1/reservations"
	}
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, path, bytes.NewBufferString(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", p.RequestID)
	rec := httptest.NewRecorder()
	service.ServeHTTP(rec, req)

	o.Receipt, o.Err = seckill.Receipt{}, nil
	var got struct {
		seckill.Receipt
		Reservation string `json:"reservation_id"`
		State       seckill.ReservationState
	}
	if rec.Code == http.StatusOK && json.Unmarshal(rec.Body.Bytes(), &got) == nil {
		o.Receipt = got.Receipt
		o.Receipt.OrderID = cmp.Or(got.OrderID, got.Reservation)
		told = judge.CallOf(p, o.Receipt, nil)
		if got.State == seckill.Reserved {
			told.Outcome = judge.OutcomeReserved
		}
		told.Replayed = rec.Header().Get("Idempotency-Replayed") == "true"
		return told, false
	}
	var problem struct{ Code, Detail, Ask string }
	_ = json.Unmarshal(rec.Body.Bytes(), &problem) // without a code nothing is known
	r, known := judge.FindCode(problem.Code)
	if !known {
		r = judge.InternalError
	}
	refusal := r.Err
	switch r.Outcome {
	case judge.OutcomeInProgress:
		refusal, again = seckill.ErrBusy, true
	case judge.OutcomeUnknown:
		refusal, again = seckill.ErrUnknown, true
	default:
		again = r.Outcome == judge.OutcomeBusy || r.Outcome == judge.OutcomeConflict || errors.Is(r.Err, seckill.ErrUnavailable)
	}
	o.Err = fmt.Errorf("%w: %s (%s)", refusal, problem.Detail, problem.Code)
	told = judge.CallOf(p, o.Receipt, r.Err)
	told.ThisCall = problem.Ask != "" || errors.Is(r.Err, seckill.ErrMismatch)
	return told, again
}
