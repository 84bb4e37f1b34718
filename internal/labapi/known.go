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

// known are the orders that break the strategy of a lane under the faults of
// its run, if it held though one of them could have broken it.
func (s *Server) known(r Run, lane int) (known []fault.Known) {
	l := r.Lanes[lane]
	if l.Result == nil || l.Result.Verdict != ledger.Held {
		return nil
	}
	seen := map[fault.Name]bool{}
	for _, f := range r.Faults {
		elsewhere := PlannedFault{Kind: f.Kind}.atHolder() && f.Strategy != "" && f.Strategy != l.Strategy
		if f.Effect == nil || !f.Effect.Matters || elsewhere || seen[f.Kind] {
			continue
		}
		seen[f.Kind] = true
		known = append(known, s.counterexamples.Under(l.Strategy, f.Kind)...)
	}
	return known
}
