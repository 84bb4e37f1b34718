package httpapi

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"seckill/internal/gate"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// gates stand behind the claim of the idempotency key, which answers copies of a
// request that has its order, and in front of the strategy.
type gates struct {
	gate.Gates
	refused map[string]prometheus.Counter // by gate
}

func (s *Server) openGates() (err error) {
	if s.gates.Gates, err = gate.Open(s.Config.Gates); err != nil {
		return err
	}
	s.gates.refused = map[string]prometheus.Counter{}
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "seckill_gate_refusals_total",
		Help: "Purchases that a gate refused, so that they did not reach the strategy."}, []string{"gate"})
	for _, name := range s.Config.Gates.Gates {
		s.gates.refused[name] = refused.WithLabelValues(name)
	}
	s.metrics.registry.MustRegister(refused, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "seckill_gate_waiting",
		Help: "Tickets of the waiting room."}, func() float64 { return float64(s.gates.Waiting()) }))
	return nil
}

// pass lets the gates refuse a purchase, and otherwise has the strategy sell.
// came is a time before the request's order was looked up.
func (s *Server) pass(ctx context.Context, sl *seller, p seckill.Purchase, came time.Time, by way) (r seckill.Receipt, err error) {
	if len(s.gates.Gates) == 0 {
		return sl.deduct(ctx, p, by)
	}
	ended, refusal := s.gates.Enter(gate.Request{Strategy: sl.info.Name, SKU: p.SKU, User: p.User, Quantity: p.Quantity})
	if refusal != nil {
		s.gates.refused[refusal.Gate].Inc()
		return r, closed(sl, refusal, came)
	}
	err = seckill.ErrUnknown // of a panic
	defer func() { ended(err) }()
	r, err = sl.deduct(ctx, p, by)
	return r, err
}

// errSettled marks a refusal that no order of the request can follow.
var errSettled = errors.New("the request has no order")

// closed is the answer of a gate.
//
// A request that is sold out may have an order that an earlier attempt left, so
// refusals are checked (afterRefusal). There is no need where the stock row had
// too few units before this request was looked up: an attempt that had not
// committed by then finds too few as well, and one that had was found. (If units
// come back for it in between, no look finds that either.) In other stores the
// units are taken before the order is written.
func closed(sl *seller, r *gate.Refusal, came time.Time) error {
	p := refused(r, r.Detail)
	p.Position = r.Position
	if r.RetryAfter > 0 {
		p.RetryAfter = max(1, int64(math.Ceil(r.RetryAfter.Seconds())))
	}
	if sl.info.Stock == ledger.InRow && !r.Since.IsZero() && r.Since.Before(came) {
		p.Err = errors.Join(errSettled, r)
	}
	return p
}
