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
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// An Action says what an actor does, such as buying or cancelling.
type Action string

// These are the actions. The table actorKinds defines what each of them does.
const (
	Buys     Action = "buys"
	Cancels  Action = "cancels"
	Locks    Action = "locks"
	Resets   Action = "resets"
	Starts   Action = "starts"
	Forgets  Action = "forgets"
	Accepts  Action = "accepts"
	Asks     Action = "asks"
	Pays     Action = "pays"
	Releases Action = "releases"
	PaysLate Action = "pays late"
	Sweeps   Action = "sweeps"
	Comes    Action = "comes later"
	Reserves Action = "asks to reserve"
	Repeats  Action = "asks again"
	Restocks Action = "restocks"
)

type actorKind struct {
	nextAction Action // the action of the buyer that Scenario.Next adds; "" stands for Buys
	// supports reports whether a strategy can perform the action. It is nil if every strategy can.
	supports func(catalog.Info) bool
	// prepare creates data that the action needs, such as an order, before the first actor starts. It may be nil.
	prepare func(ctx context.Context, w *World, first *process, b Buyer) error
	perform performFunc
	// calls returns the actor's requests and their answers for package judge. It is nil if the judge needs none of
	// these requests.
	calls func(*World, Outcome) []judge.Call
	// answer is the text of a success. If it is "", the text is made from the receipt.
	answer string
}

type performFunc = func(ctx context.Context, w *World, p *process, o *Outcome)

var actorKinds = map[Action]actorKind{
	// An actor that Buys makes one purchase: it calls the strategy's Deduct once.
	Buys: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.Receipt, o.Err = p.Strategy.Deduct(ctx, w.purchase(o.Buyer))
		},
		calls: purchaseCalls,
	},
	// A buyer that Comes first makes a step without a command, and then buys. So it can arrive after other buyers have
	// sent commands. Without this step, a strategy that merges purchases would put all buyers of a process into one
	// batch.
	Comes: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			if o.Err = takeStep(ctx, "comes"); o.Err == nil {
				o.Receipt, o.Err = p.Strategy.Deduct(ctx, w.purchase(o.Buyer))
			}
		},
		calls: purchaseCalls,
	},
	// An actor that Locks takes the lock, works for one step, and frees the lock. It does so
	// 1+Buyer.Again times, and buys nothing.
	Locks: {
		nextAction: Locks,
		supports:   func(i catalog.Info) bool { return i.Locker != nil },
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			for n := 0; n <= o.Again && o.Err == nil; n++ {
				o.Err = w.holdLock(ctx, p)
			}
		},
		answer: "had the lock",
	},
	// An actor that Resets starts a new sale of the SKU. If several actors do so, each sets a different stock.
	Resets: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.Err = p.Reset(ctx, w.sku, skuName, w.stock+w.extraUnits[o.Name])
		},
		answer: "the sale was set anew",
	},
	// An actor that Restocks adds units to the sale, under an idempotency key of its own. It repeats a failed call up
	// to Buyer.Again times.
	Restocks: {
		perform: restock,
		calls:   asks.calls,
		answer:  "the units were added",
	},
	// An actor that Starts begins the sale: it moves the start time from the future into the past.
	Starts: {
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			started := p.In.DB.WithContext(ctx).Exec("UPDATE stock SET starts_at = 1 WHERE id = ?", w.sku)
			if started.Error != nil {
				o.Err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, started.Error)
			}
		},
		answer: "the sale has begun",
	},
	// An actor that Forgets deletes the keys of the sale from Redis, as if Redis had lost its data, and then buys.
	// Both happen in one step. The purchase makes the strategy restore the keys from the stock row.
	Forgets: {
		supports: func(i catalog.Info) bool { return i.Stock == seckill.InRowAndRedis },
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.Err = takeStep(ctx, "loses its data")
			untapped := context.Background()
			for _, key := range w.info.Stored.RedisKeys(w.sku) {
				if o.Err == nil {
					o.Err = p.In.Redis.Del(untapped, key).Err()
				}
			}
			if o.Err == nil {
				o.Receipt, o.Err = p.Strategy.Deduct(untapped, w.purchase(o.Buyer))
			}
		},
		calls: purchaseCalls,
	},
	// An actor that Accepts buys, and the strategy accepts the purchase at once and writes the order later. If the
	// answer was lost, the actor repeats the request with the same key, up to Buyer.Again times. The buyer that
	// Scenario.Next adds starts after the lease has ended, and writes the orders that are still missing.
	Accepts: {
		supports: func(i catalog.Info) bool { return i.Accepts },
		perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
			o.retry(ctx, func() (final bool) {
				var written bool
				o.Receipt, written, o.Err = p.Strategy.(seckill.Acceptor).Accept(ctx, w.purchase(o.Buyer))
				o.Accepted = o.Err == nil && !written
				return o.Err == nil || seckill.NothingTaken(o.Err) && !errors.Is(o.Err, seckill.ErrUnavailable)
			})
		},
		calls: purchaseCalls,
	},
	Asks: asks,
	// An actor that Reserves does the same as one that Asks, but asks for a reservation instead of a purchase.
	Reserves: {supports: func(i catalog.Info) bool { return i.Reserves },
		prepare: asks.prepare, perform: asks.perform, calls: asks.calls},

	// An actor that Repeats sends a request that the service has already answered with an order. The service gets and
	// answers this request before the schedule begins. The actor then repeats it in the same way as one that Asks.
	Repeats: {
		prepare: func(ctx context.Context, w *World, first *process, b Buyer) error {
			if err := asks.prepare(ctx, w, first, b); err != nil {
				return err
			}
			o := Outcome{Buyer: b}
			ask(ctx, w.processes[b.Process].service, w.purchase(b), &o)
			w.placed[b.Name] = o.Receipt
			return o.Err
		},
		perform: asks.perform,
		calls: func(w *World, o Outcome) []judge.Call {
			before := judge.CallOf(w.purchase(o.Buyer), w.placed[o.Name], nil)
			before.Sent, before.Answered = 1, 2 // these times, 1 and 2 ns, are before the first step
			return append([]judge.Call{before}, asks.calls(w, o)...)
		},
	},

	// The following actors act on an order or a reservation that exists before the first step. Several actors may
	// act on the same order (Buyer.Same). After a failure they try again, up to Buyer.Again times.
	Cancels: atOrder(judge.OutcomeSold, "cancelled", judge.CallCancel, requestOn(seckill.Strategy.Restore)),
	Pays: atReservation("paid", judge.CallPay,
		requestOn(seckill.Reserver.Pay, seckill.ErrExpired, seckill.ErrCancelled)),
	PaysLate: atReservation("paid", judge.CallPay, payLate),
	Releases: atReservation("cancelled", judge.CallCancel, requestOn(seckill.Reserver.Release, seckill.ErrPaid)),
	Sweeps:   atReservation("swept", "", sweepReservations),
}

// retry calls send until send returns true, which means that the answer is final. It calls send at
// most 1+Buyer.Again times.
func (o *Outcome) retry(ctx context.Context, send func() bool) {
	for n := 0; n <= o.Again && ctx.Err() == nil; n++ {
		if send() {
			return
		}
	}
}

func purchaseCalls(w *World, o Outcome) []judge.Call {
	return []judge.Call{callOf(w.purchase(o.Buyer), o)}
}

// callOf returns the purchase and its answer for the judge. If the buyer has died, a refusal counts as unknown,
// because the buyer did not receive it.
func callOf(p seckill.Purchase, o Outcome) judge.Call {
	t := judge.CallOf(p, o.Receipt, o.Err)
	switch {
	case o.Dead && o.Err != nil:
		t.Outcome = judge.OutcomeUnknown
	case o.Accepted && !o.Dead:
		t.Outcome, t.OrderID, t.Remaining = judge.OutcomeAccepted, "", 0
	}
	return t
}

// Work stands in place of a backend's name in a step that sends no command, such as the work under a lock.
const Work = "work"

// takeStep waits for a step of the schedule in which no command is sent. The step shows text in place of a command.
func takeStep(ctx context.Context, text string) error {
	_, err := tap.Do(ctx, Work, func() *tap.Command { return &tap.Command{Name: text, Text: text} },
		func(context.Context) (struct{}, error) { return struct{}{}, nil }, nil)
	return err
}

func (w *World) holdLock(ctx context.Context, p *process) error {
	lease, err := p.Locker.Acquire(ctx, w.probes.Key(w.sku), w.info.LockOptions(w.settings))
	if err != nil {
		return err
	}
	err = takeStep(lease.Context(), "works under the lock")
	if left := lease.Release(context.WithoutCancel(ctx)); err == nil {
		err = left
	}
	return err
}

func restock(ctx context.Context, w *World, p *process, o *Outcome) {
	r, wanted := tap.From(ctx).(*thread).run, w.purchase(o.Buyer)
	units := ledger.Restock{SKU: wanted.SKU, Units: wanted.Quantity, Key: wanted.RequestID}
	call := judge.Call{Kind: judge.CallRestock, RequestID: units.Key, User: judge.OperatorOf(units.Key), Quantity: units.Units}
	o.retry(ctx, func() bool {
		call.Sent = r.sentAt()
		_, _, o.Err = ledger.AddUnits(ctx, p.Store.For(w.info.Name), p.Strategy, units)
		call.Answered, call.Outcome = r.answeredAt(), judge.OutcomeUnknown
		switch {
		case o.Err == nil:
			call.Outcome = judge.OutcomeRestocked
		case seckill.NothingTaken(o.Err):
			call.Outcome = judge.OutcomeError
		}
		o.Calls = append(o.Calls, call)
		return o.Err == nil
	})
}

// requestOn returns a function that calls send with the id of the actor's order. It repeats a failed call up to
// Buyer.Again times, unless the error is one of the errors in final.
func requestOn[S any](send func(S, context.Context, string) error, final ...error) performFunc {
	return func(ctx context.Context, w *World, p *process, o *Outcome) {
		o.retry(ctx, func() bool {
			o.Err = send(p.Strategy.(S), ctx, w.placed[o.owner()].OrderID)
			return o.Err == nil || slices.ContainsFunc(final, func(f error) bool { return errors.Is(o.Err, f) })
		})
	}
}

func payLate(ctx context.Context, w *World, p *process, o *Outcome) {
	if o.Err = w.passDeadline(ctx, p); o.Err == nil {
		requestOn(seckill.Reserver.Pay)(ctx, w, p, o)
	}
}

// sweepReservations moves the deadlines into the past, and then lets the strategy expire the reservations.
func sweepReservations(ctx context.Context, w *World, p *process, o *Outcome) {
	err := w.passDeadline(ctx, p)
	if err == nil {
		err = p.Strategy.(seckill.Reserver).Expire(ctx)
	}
	if err != nil && !seckill.NothingTaken(err) {
		err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	o.Err = err
}

// passDeadline moves the deadlines of all open reservations into the past.
func (w *World) passDeadline(ctx context.Context, p *process) error {
	return p.In.DB.WithContext(ctx).Exec("UPDATE reservations SET ends_at = '2000-01-01' "+
		"WHERE sku_id = ? AND state = 'reserved' AND ends_at > '2000-01-02'", w.sku).Error
}

// atReservation does the same as atOrder for a reservation. The deadline is far in the future until an actor calls
// passDeadline. So the order of the steps decides whether a payment is in time.
func atReservation(answer string, asked judge.CallKind, perform performFunc) actorKind {
	d := atOrder(judge.OutcomeReserved, answer, asked, perform)
	d.nextAction = Sweeps // the last buyer expires the reservations that dead actors left open
	d.supports = func(i catalog.Info) bool { return i.Reserves }
	return d
}

// atOrder returns the kind of an actor that acts on an existing order. The parameter placed is the outcome of the
// purchase or reservation that made the order. The parameter asked is the kind of judge.Call for the actor's request,
// or "" if the judge does not get the request. The parameter answer is the text of a success.
func atOrder(placed judge.Outcome, answer string, asked judge.CallKind, perform performFunc) actorKind {
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
				return fmt.Errorf("place the order that %s %s: %w", b.Name, b.Action, err)
			}
			w.placed[b.owner()] = r
			return nil
		},
		calls: func(w *World, o Outcome) (told []judge.Call) {
			if o.Name == NextBuyer {
				return nil
			}
			t := callOf(w.purchase(o.Buyer), Outcome{Receipt: w.placed[o.owner()]})
			// Several actors may share the order. Only the actor that placed it reports the purchase.
			if o.Same == "" {
				t.Outcome = placed
				told = append(told, t)
			}
			if asked == "" {
				return told
			}
			t.Kind, t.Outcome, t.Late = asked, judge.OutcomeUnknown, o.Action == PaysLate
			switch {
			case o.Err == nil && asked == judge.CallPay:
				t.Outcome = judge.OutcomeSold
			case o.Err == nil:
				t.Outcome = judge.OutcomeCancelled
			case o.Dead: // the actor died before it received a refusal, so the outcome stays unknown
			case errors.Is(o.Err, seckill.ErrExpired):
				t.Outcome = judge.OutcomeExpired
			case seckill.NothingTaken(o.Err):
				t.Outcome = judge.OutcomeError
			}
			return append(told, t)
		},
	}
}

// findUntold is called when all actors are done. It looks up the result of each request that was answered
// "accepted", and returns a problem for each request without a result.
func (w *World) findUntold(ctx context.Context, p *process, s *Schedule) []Problem {
	var list []Problem
	for _, o := range s.Buyers {
		if !o.Accepted || o.Dead || s.mayBeOfEarlierSale(o) {
			continue
		}
		buy := w.purchase(o.Buyer)
		_, err := p.Store.FindRequest(ctx, buy.SKU, buy.User, buy.RequestID)
		if errors.Is(err, seckill.ErrUnknownOrder) {
			err = p.Strategy.(seckill.Acceptor).Became(ctx, buy.SKU, buy.User, buy.RequestID)
		}
		refused := seckill.NothingTaken(err) && !errors.Is(err, seckill.ErrUnknownOrder) &&
			!errors.Is(err, seckill.ErrUnavailable)
		if err != nil && !refused {
			message := fmt.Sprintf("%s was told accepted, and the look-up says: %v", o.Name, err)
			list = append(list, Problem{RuleUntold, message})
		}
	}
	return list
}

// asks is the kind of an actor that sends a purchase with an Idempotency-Key to the whole service. The actor repeats
// the request with the same key until the answer is final, up to Buyer.Again times. Two actors may send the same
// request (Buyer.Same).
var asks = actorKind{
	prepare: func(ctx context.Context, w *World, _ *process, b Buyer) error {
		p, err := w.process(ctx, b.Process)
		if err != nil {
			return err
		}
		if p.service == nil {
			s, err := httpapi.New(httpapi.Config{Instance: p.In,
				Infos: []catalog.Info{p.Info}, Default: p.Info.Name, Settings: w.settings,
				Now: func() time.Time { return w.processTime(p) }, PurchaseTimeout: time.Minute})
			if err != nil {
				return err
			}
			p.service = s.Handler
		}
		// The service reads the SKU from the database at its first request without calling a tap.Tap. So prepare sends
		// a request before the schedule begins. This request asks for more than the stock and thus sells nothing.
		o, sku := Outcome{Buyer: b}, w.purchase(b).SKU
		ask(ctx, p.service, seckill.Purchase{SKU: sku, User: unusedUser, Quantity: w.stock + 1,
			RequestID: fmt.Sprintf("warm-%d-%d", b.Process, sku)}, &o)
		if !errors.Is(o.Err, seckill.ErrSoldOut) {
			return fmt.Errorf("asking for more than the stock was answered: %w", o.Err)
		}
		return nil
	},
	perform: func(ctx context.Context, w *World, p *process, o *Outcome) {
		r := tap.From(ctx).(*thread).run
		o.retry(ctx, func() (final bool) {
			sent := r.sentAt()
			told, again := ask(ctx, p.service, w.purchase(o.Buyer), o)
			told.Sent, told.Answered = sent, r.answeredAt()
			o.Calls = append(o.Calls, told)
			return !again
		})
	},
	calls: func(w *World, o Outcome) []judge.Call {
		if o.Dead && len(o.Calls) > 0 { // the actor died before the last answer, so the outcome is unknown
			o.Calls[len(o.Calls)-1].Outcome = judge.OutcomeUnknown
		}
		return o.Calls
	},
}

// answeredAt and sentAt return the time of an answer or a request in the current step. The judge compares these times.
// Each step counts as a microsecond. An answer counts as earlier than a request in the same step, so the judge does not
// take the two for concurrent.
func (r *run) answeredAt() time.Duration { return time.Duration(r.steps.Load()+1) * time.Microsecond }
func (r *run) sentAt() time.Duration     { return r.answeredAt() + time.Microsecond/2 }

const unusedUser = 98

// ask sends one request to the service and reads the answer. It returns the request with its answer for package
// judge, and reports whether a client would send the request again.
func ask(ctx context.Context, service http.Handler, p seckill.Purchase, o *Outcome) (told judge.Call, again bool) {
	body := fmt.Sprintf(`{"sku_id":%d,"user_id":%d,"quantity":%d}`, p.SKU, p.User, p.Quantity)
	path := "/api/v1/seckill"
	if o.Action == Reserves {
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
	_ = json.Unmarshal(rec.Body.Bytes(), &problem) // without a code in the body, the outcome is unknown
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
		again = r.Outcome == judge.OutcomeBusy || r.Outcome == judge.OutcomeConflict ||
			errors.Is(r.Err, seckill.ErrUnavailable)
	}
	o.Err = fmt.Errorf("%w: %s (%s)", refusal, problem.Detail, problem.Code)
	told = judge.CallOf(p, o.Receipt, r.Err)
	told.ThisCall = problem.Ask != "" || errors.Is(r.Err, seckill.ErrMismatch)
	return told, again
}
