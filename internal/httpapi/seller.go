package httpapi

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A seller is a strategy as this server offers it.
type seller struct {
	info     catalog.Info
	missing  []string         // why it cannot run here, and how it could
	strategy seckill.Strategy // nil if anything is missing
	commands tap.Counter      // what its purchases cost the backends
	// purchases counts those that reached the strategy and have been decided.
	purchases atomic.Int64
	notReset  sync.Map // SKUs whose last reset here failed for it, and the run that began then
}

func (s *Server) newSeller(info catalog.Info) *seller {
	sl := &seller{info: info, missing: info.Missing(s.Instance)}
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
	sl, err := s.find(name)
	if err == nil && sl.strategy == nil {
		return nil, refused(judge.ErrStrategyUnavailable,
			fmt.Sprintf("The strategy %s cannot run here: %s.", sl.info.Name, strings.Join(sl.missing, "; ")))
	}
	return sl, err
}

// find finds a strategy by its name, or by another name that people use.
func (s *Server) find(name string) (*seller, error) {
	if sl := s.byName[name]; sl != nil {
		return sl, nil
	}
	if info, found := catalog.Find(s.Infos, name); found {
		return s.byName[info.Name], nil
	}
	return nil, refused(judge.ErrUnknownStrategy, fmt.Sprintf("There is no strategy %.64q.%s There are: %s.",
		name, catalog.DidYouMean(s.Infos, name), s.names()))
}

func (s *Server) names() string {
	names := make([]string, len(s.sellers))
	for i, sl := range s.sellers {
		names[i] = sl.info.Name
	}
	return strings.Join(names, ", ")
}
