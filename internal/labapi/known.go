package labapi

import (
	"fmt"

	"seckill/internal/fault"
	"seckill/internal/ledger"
)

// readKnown reads the counterexamples of the guarantee matrix. Without one, no
// order is known.
func (s *Server) readKnown() (fault.Counterexamples, error) {
	if s.Guarantees == nil {
		return nil, nil
	}
	f, err := s.Guarantees.Open("matrix.json")
	if err != nil {
		return nil, fmt.Errorf("the guarantee matrix cannot be read: %w", err)
	}
	defer f.Close()
	return fault.ReadCounterexamples(f)
}

// known are the orders that break the strategy of a lane, if it held all the
// same.
func (s *Server) known(r Run, lane int) []fault.Known {
	l := r.Lanes[lane]
	if l.Result == nil || l.Result.Verdict != ledger.Held {
		return nil
	}
	var met []fault.Name
	for _, f := range r.Faults {
		elsewhere := PlannedFault{Kind: f.Kind}.atHolder() && f.Strategy != "" && f.Strategy != l.Strategy
		if f.Effect != nil && f.Effect.Matters && !elsewhere {
			met = append(met, f.Kind)
		}
	}
	return s.counterexamples.Breaking(l.Strategy, r.Settings.Services, met...)
}
