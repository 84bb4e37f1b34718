package httpapi

import (
	"fmt"
	"strings"

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
	metrics  sellerMetrics
}

func (s *Server) newSeller(info catalog.Info) (*seller, error) {
	sl := &seller{info: info, missing: info.Missing(s.Instance), points: s.Points}
	for n, reason := range sl.missing {
		sl.missing[n] = s.Instance.Public(reason)
	}
	s.metrics.register(sl)
	if len(sl.missing) > 0 {
		return sl, nil
	}
	deps := catalog.Deps{Instance: s.Instance, Ledger: s.Ledger, Settings: s.Settings,
		Observe: &sl.metrics, Log: s.Log.With("strategy", info.Name)}
	if s.Points != nil {
		deps.Now = s.Points.Now
	}
	strategy, err := catalog.Build(info, deps)
	if err != nil {
		return nil, fmt.Errorf("the strategy %s: %w", info.Name, err)
	}
	sl.strategy = strategy
	return sl, nil
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
