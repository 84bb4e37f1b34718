package explore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/wire"
)

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
		var o Outcome
		ask(ctx, p.service, seckill.Purchase{SKU: w.sku, User: strangeUser, Quantity: w.stock + 1, RequestID: fmt.Sprintf("warm-%d-%d", b.Process, w.sku)}, &o)
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
	told: func(w *World, o Outcome) []ledger.Told {
		if o.Dead && len(o.Told) > 0 { // the last answer was not heard
			o.Told[len(o.Told)-1].Outcome = ledger.OutcomeUnknown
		}
		return o.Told
	},
	answer: sold,
}

// The judge compares times. Those of a schedule are its steps, each shorter than
// what it grants a call on its way. What happens beside each other, within one
// step, counts as answered before it was sent: then it proves nothing.
func (r *run) answers() time.Duration { return time.Duration(r.steps.Load()+1) * time.Microsecond }
func (r *run) sends() time.Duration   { return r.answers() + time.Microsecond/2 }

// strangeUser is no actor's.
const strangeUser = 98

// ask sends one request and reads its answer: what its buyer knows, and whether a
// client sends it again.
func ask(ctx context.Context, service http.Handler, p seckill.Purchase, o *Outcome) (told ledger.Told, again bool) {
	body := fmt.Sprintf(`{"sku_id":%d,"user_id":%d,"quantity":%d}`, p.SKU, p.User, p.Quantity)
	req := httptest.NewRequestWithContext(ctx, http.MethodPost, "/api/v1/seckill", bytes.NewBufferString(body))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", p.RequestID)
	rec := httptest.NewRecorder()
	service.ServeHTTP(rec, req)

	o.Receipt, o.Err = seckill.Receipt{}, nil
	if rec.Code == http.StatusOK && json.Unmarshal(rec.Body.Bytes(), &o.Receipt) == nil {
		return wire.Told(p, o.Receipt, nil), false
	}
	var problem struct{ Code, Detail string }
	_ = json.Unmarshal(rec.Body.Bytes(), &problem) // without a code nothing is known
	r, known := wire.Coded(problem.Code)
	if !known {
		r = wire.Internal
	}
	refusal := r.Err
	switch r.Outcome {
	case ledger.OutcomeInProgress:
		refusal, again = seckill.ErrBusy, true
	case ledger.OutcomeUnknown:
		refusal, again = seckill.ErrUnknown, true
	default:
		again = r.Outcome == ledger.OutcomeBusy || r.Outcome == ledger.OutcomeConflict || errors.Is(r.Err, seckill.ErrUnavailable)
	}
	o.Err = fmt.Errorf("%w: %s (%s)", refusal, problem.Detail, problem.Code)
	told = wire.Told(p, o.Receipt, r.Err)
	return told, again
}
