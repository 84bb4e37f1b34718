package labapi

import (
	"fmt"
	"slices"
	"strings"

	"seckill/internal/fault"
	"seckill/internal/ledger"
	"seckill/internal/web"
	"seckill/loadtest"
)

// checkFault finds what is wrong with a fault, and sets how long it lasts; at
// goes before the names of its fields.
func (s *Server) checkFault(at string, f *fault.Planned, of Settings, p *web.Problem) {
	all := s.Lab.Faults()
	i := slices.IndexFunc(all, func(here fault.Status) bool { return here.Kind == f.Kind })
	switch {
	case i < 0:
		var kinds []string
		for _, here := range all {
			kinds = append(kinds, string(here.Kind))
		}
		p.Blame(at+"kind", "one_of", map[string]any{"values": kinds}, "give one of "+strings.Join(kinds, ", "))
	case !all[i].Available:
		p.Blame(at+"kind", "fault_unavailable", map[string]any{"kind": f.Kind, "why": all[i].Missing, "lack": all[i].Lack},
			"cannot be had here: "+all[i].Missing)
	}
	known, _ := fault.Find(f.Kind)
	switch {
	case known.Holder && (f.Service == anyService || f.Service == 0):
		f.Service = 0
	case known.Holder:
		p.Blame(at+"service", "unused", map[string]any{"kind": f.Kind}, "the fault hits the process that has a holder: leave it out")
	case f.Service == anyService:
		f.Service = 1
	default:
		within(p, at+"service", int64(f.Service), 1, int64(max(1, of.Services)))
	}
	if known.Holder && f.Strategy == "" && len(of.Strategies) > 1 {
		f.Strategy = of.Strategies[0]
	}
	if f.Strategy != "" && !slices.Contains(of.Strategies, f.Strategy) {
		p.Blame(at+"strategy", "one_of", map[string]any{"values": of.Strategies}, "give one of the run's: "+strings.Join(of.Strategies, ", "))
	}
	within(p, at+"at_ms", int64(f.At), 0, int64(limits.At))
	switch {
	case known.Lasts && f.For == 0:
		f.For = min(of.Lease+beyond, limits.For)
	case known.Lasts:
		within(p, at+"for_ms", int64(f.For), 1, int64(limits.For))
	case f.For != 0:
		p.Blame(at+"for_ms", "unused", map[string]any{"kind": f.Kind}, "it has no end of its own: leave it out")
	}
}

// anyService means that the request names none.
const anyService = -1

// readKnown reads the counterexamples of the guarantee matrix, if there is one.
func (s *Server) readKnown() (loadtest.Counterexamples, error) {
	if s.Guarantees == nil {
		return nil, nil
	}
	f, err := s.Guarantees.Open("matrix.json")
	if err != nil {
		return nil, fmt.Errorf("the guarantee matrix cannot be read: %w", err)
	}
	defer f.Close()
	return loadtest.ReadCounterexamples(f)
}

// known are the schedules that break the strategy of a lane that held.
func (s *Server) known(r Run, lane int) []loadtest.Known {
	l := r.Lanes[lane]
	if l.Result == nil || l.Result.Verdict != ledger.Held {
		return nil
	}
	asked := map[string]string{}
	for _, f := range slices.Backward(r.Faults) {
		kind, _ := fault.Find(f.Kind)
		elsewhere := kind.Holder && f.Strategy != "" && f.Strategy != l.Strategy
		if f.Effect != nil && f.Effect.Matters && !elsewhere {
			asked[kind.Question] = string(f.Kind)
		}
	}
	return s.counterexamples.Breaking(l.Strategy, r.Settings.Services, asked)
}
