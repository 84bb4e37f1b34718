package httpapi

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"seckill/internal/catalog"
	"seckill/internal/fault/point"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/wire"
)

// A seller is a strategy as this server offers it.
type seller struct {
	info     catalog.Info
	missing  []string         // why it cannot run here, and how it could
	strategy seckill.Strategy // nil if anything is missing
	commands tap.Counter      // what its purchases cost the backends
	points   *point.Points    // where they can be stopped; nil: nowhere
}

func (s *Server) newSeller(info catalog.Info) *seller {
	sl := &seller{info: info, missing: info.Missing(s.Instance), points: s.Points}
	s.metrics.register(sl)
	if len(sl.missing) > 0 {
		return sl
	}
	deps := catalog.Deps{Instance: s.Instance, Ledger: s.ledger, Settings: s.Settings,
		Log: s.Log.With("strategy", info.Name), Now: s.Now}
	var err error
	if sl.strategy, err = catalog.Build(info, deps); err != nil {
		s.Log.Warn("a strategy cannot run", "strategy", info.Name, "error", err)
		sl.strategy, sl.missing = nil, []string{"it could not be started: the service's log says why"}
	}
	return sl
}

// available finds a strategy that can run.
func (s *Server) available(name string) (*seller, error) {
	sl := s.byName[name]
	switch {
	case sl == nil:
		return nil, refused(wire.ErrUnknownStrategy, fmt.Sprintf("There is no strategy %.64q; there are: %s.", name, s.names()))
	case sl.strategy == nil:
		return nil, refused(wire.ErrStrategyUnavailable,
			fmt.Sprintf("The strategy %s cannot run here: %s.", name, strings.Join(sl.missing, "; ")))
	}
	return sl, nil
}

func (s *Server) names() string {
	names := make([]string, len(s.sellers))
	for i, sl := range s.sellers {
		names[i] = sl.info.Name
	}
	return strings.Join(names, ", ")
}

// A deduction is how a purchase reaches its strategy. outcome is what it has come to;
// with an error, what it is if the ledger has its order.
type deduction func(context.Context, seckill.Purchase) (r seckill.Receipt, outcome string, err error)

// deduct counts the commands and the time that a deduction takes.
func (s *Server) deduct(ctx context.Context, sl *seller, p seckill.Purchase, by deduction) (seckill.Receipt, string, error) {
	begun := time.Now()
	defer func() { s.metrics.duration.WithLabelValues(sl.info.Name).Observe(time.Since(begun).Seconds()) }()
	return by(sl.points.Watch(tap.Counting(ctx, &sl.commands), sl.info.Name, sl.info.Key, p), p)
}

// Outcomes, as the metrics name them, beside the codes of problems.
const (
	outcomeSold     = "sold"
	outcomeReserved = "reserved"
	outcomeReplayed = "replayed" // answered again from the ledger
	outcomeAccepted = "accepted" // the order, or the refusal, comes later
	outcomeGone     = "gone"     // the buyer hung up before the answer
)

// register counts what the strategy costs the backends, and shows what is 0 so far.
func (m *metrics) register(sl *seller) {
	m.duration.WithLabelValues(sl.info.Name)
	for _, to := range []string{tap.SQL, tap.Redis, tap.ZooKeeper, tap.Etcd, tap.Waiting} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "seckill_backend_commands_total", Help: "Commands that the strategy sent for purchases, and its waits without a command. Claims of idempotency keys are not counted.",
			ConstLabels: prometheus.Labels{"strategy": sl.info.Name, "backend": to},
		}, func() float64 { return float64(sl.commands.Count(to)) }))
	}
}
