package compare

import (
	"fmt"
	"slices"
	"strings"

	"seckill/internal/ledger"
	"seckill/internal/measure"
)

// A Claim is a statement of an article, and what was measured.
type Claim struct {
	measure.Statement
	Measured string `json:"measured"`
	Command  string `json:"command"` // that measures this alone
}

// Claimed are those of the chosen strategies that answer a statement about
// concurrency; they also run with few buyers at a time.
func Claimed(chosen []string) (all []string) {
	for _, s := range measure.Purchases {
		if !slices.ContainsFunc(s.Strategies, func(name string) bool { return !slices.Contains(chosen, name) }) {
			all = append(all, s.Strategies...)
		}
	}
	return all
}

// claims answers the statements whose strategies all ran.
func (r *Result) claims() []Claim {
	all := []Claim{}
	for _, s := range measure.Purchases {
		var parts []string
		for _, name := range s.Strategies {
			few, many := r.sparse(name), r.Entry(name)
			if few == nil || many == nil || few.Sales.Median == 0 || many.Sales.Median == 0 {
				break
			}
			parts = append(parts, fmt.Sprintf("%s %s → %s (p99 %s → %s ms)%s", name,
				measure.Number(few.Sales.Median), measure.Number(many.Sales.Median),
				measure.Number(few.P99.Median), measure.Number(many.P99.Median), unless(worst(few.Verdict, many.Verdict))))
		}
		if len(parts) < len(s.Strategies) {
			continue
		}
		few, many := r.sparse(s.Strategies[0]).Concurrency, r.Settings.Concurrency
		all = append(all, Claim{s,
			fmt.Sprintf("sales/s with %d → %d buyers at a time: %s", few, many, strings.Join(parts, "; ")),
			fmt.Sprintf("seckill compare --strategies %s --few %d --concurrency %d", s.Names(), few, many)})
	}
	return all
}

func unless(v ledger.Verdict) string {
	if v == ledger.Held {
		return ""
	}
	return ", " + strings.ReplaceAll(string(v), "_", " ")
}

func (r *Result) sparse(strategy string) *Entry { return entry(r.Sparse, strategy) }
