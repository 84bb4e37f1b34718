package explore

import (
	"math"
	"slices"
	"strings"
	"testing"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/seckill"
)

// Each case is a schedule of two buyers, written by hand, with the rules that the schedule breaks.
func TestProblems(t *testing.T) {
	a, b := Buyer{Name: "A", Action: Buys}, Buyer{Name: "B", Action: Buys}
	lost := judge.Report{Violations: []judge.Violation{{Rule: judge.RuleLostUpdate}, {Rule: judge.RuleNothingSold}}}
	step := func(who string, f Fault) Step { return Step{Choice: Choice{Who: who, Fault: f}} }
	ends, leaves, dies := step("A", LeaseEnds), step("A", Leaves), step("A", Dies)
	ends.Command = "SET"
	for name, c := range map[string]struct {
		schedule Schedule
		want     string
	}{
		"nothing":                             {Schedule{Buyers: []Outcome{{Buyer: a, Ended: 1}, {Buyer: b, Err: seckill.ErrSoldOut}}}, ""},
		"of the audit":                        {Schedule{Audit: lost}, "lost_update nothing_sold"},
		"nothing sold by one who died":        {Schedule{Audit: lost, Steps: []Step{dies}}, "lost_update"},
		"the audit of locks alone":            {Schedule{Audit: lost, Scenario: &Scenario{Buyers: []Buyer{{Action: Locks}}}}, ""},
		"a lock that was taken away":          {Schedule{Buyers: []Outcome{{Buyer: a, Err: lock.ErrNotHeld}}}, "stolen unknown"},
		"a lock whose lease has ended":        {Schedule{Steps: []Step{ends}, Buyers: []Outcome{{Buyer: a, Err: lock.ErrNotHeld, Expired: true}}}, ""},
		"who waits for ever":                  {Schedule{Steps: []Step{dies}, Buyers: []Outcome{{Buyer: b, GaveUp: true}}}, "blocked"},
		"who waits for a lease":               {Schedule{Buyers: []Outcome{{Buyer: b, WaitedFor: 1}}}, "blocked"},
		"who waits for the lease of the dead": {Schedule{Steps: []Step{dies}, Buyers: []Outcome{{Buyer: b, WaitedFor: 1}}}, ""},
		"who waits for one who has left":      {Schedule{Steps: []Step{leaves}, Buyers: []Outcome{{Buyer: b, WaitedFor: 1}, {Buyer: a, WaitedFor: 1}}}, "blocked"},
		"who waits after a leaving and more":  {Schedule{Steps: []Step{leaves, ends}, Buyers: []Outcome{{Buyer: b, WaitedFor: 1}}}, ""},
		"a backend's error":                   {Schedule{Buyers: []Outcome{{Buyer: a, Err: seckill.ErrUnavailable}}}, "error"},
		"an error of those who stayed":        {Schedule{Steps: []Step{leaves}, Buyers: []Outcome{{Buyer: b, Err: seckill.ErrUnknown}, {Buyer: a, Err: seckill.ErrUnknown}}}, "error"},
		"an error after a death":              {Schedule{Steps: []Step{dies}, Buyers: []Outcome{{Buyer: b, Err: seckill.ErrUnknown}}}, ""},
		"an outcome that is not known":        {Schedule{Steps: []Step{step("A", TimePasses), step("A", LeaseEnds)}, Buyers: []Outcome{{Buyer: a, Err: seckill.ErrUnknown}}}, "unknown"},
		"another SKU": {Schedule{Buyers: []Outcome{{Buyer: a, Waited: true}, {Buyer: Buyer{Name: "B", Other: true}},
			{Buyer: Buyer{Name: NextBuyer}, Waited: true}}}, "hindered"},
		"before the start": {Schedule{Steps: []Step{step("A", ""), step("B", ""), step("C", "")},
			Buyers: []Outcome{{Buyer: a, Ended: 0}, {Buyer: a, Err: seckill.ErrNotStarted}, {Buyer: a, Dead: true},
				{Buyer: Buyer{Name: "B", Action: Starts}, Ended: 1}, {Buyer: Buyer{Name: "C", Action: Buys}, Ended: 2}}}, "early"},
	} {
		s := c.schedule
		s.names = NewNormalizer(1, 2)
		if s.Scenario == nil {
			s.Scenario = &Scenario{Buyers: []Buyer{a, b}}
		}
		var found []string
		for _, p := range findProblems(&s) {
			found = append(found, p.Rule)
		}
		slices.Sort(found)
		labtest.Same(t, strings.Join(found, " "), c.want, "%s: found", name)
	}
}

// A hash is a random value, also if it is short or its digits look like a time. The row of a restock
// has such a hash as its user.
func TestHashesAreNormalized(t *testing.T) {
	for _, hash := range []int64{-math.MaxInt64, -123456789012345678, -1799999999999999999, -1700000000} {
		n := NewNormalizer(41)
		n.markHash(hash)
		text := "user_id = " + formatArgument(hash) + ", sku_id = 41, quantity = 2"
		labtest.Same(t, n.Normalize(text), "user_id = -t1, sku_id = 1, quantity = 2", "%d", hash)
	}
}
