package compare

import (
	"fmt"
	"slices"
	"strings"

	"seckill/internal/ledger"
)

// A Claim is a sentence of an article, and what was measured. It is not judged:
// "fast" is true of a machine and a day.
type Claim struct {
	Article  string `json:"article"`
	Says     string `json:"says"`
	Measured string `json:"measured"`
	Command  string `json:"command"` // that measures this alone
}

var words = []struct {
	article, says string
	strategies    []string
}{
	{"A", "a pessimistic lock suits low concurrency", []string{"for-update", "version", "conditional"}},
	{"B", "four choices by concurrency and consistency",
		[]string{"lock-table-segmented", "mysql-counter", "redis-counter", "redis-counter-mysql", "redis-lock-mysql"}},
}

// Claimed are those of the chosen strategies whose comparison answers some of
// the articles' words; they run with few buyers at a time, too.
func Claimed(chosen []string) (all []string) {
	for _, w := range words {
		if !slices.ContainsFunc(w.strategies, func(name string) bool { return !slices.Contains(chosen, name) }) {
			all = append(all, w.strategies...)
		}
	}
	return all
}

// claims answers those whose strategies all ran.
func (r *Result) claims() []Claim {
	all := []Claim{}
	for _, w := range words {
		var parts []string
		for _, name := range w.strategies {
			few, many := r.sparse(name), r.Entry(name)
			if few == nil || many == nil || few.Sales.Median == 0 || many.Sales.Median == 0 {
				break
			}
			parts = append(parts, fmt.Sprintf("%s %s → %s (p99 %s → %s ms)%s", name,
				number(few.Sales.Median), number(many.Sales.Median),
				number(few.P99.Median), number(many.P99.Median), unless(worst(few.Verdict, many.Verdict))))
		}
		if len(parts) < len(w.strategies) {
			continue
		}
		few, many := r.sparse(w.strategies[0]).Concurrency, r.Settings.Concurrency
		all = append(all, Claim{w.article, w.says,
			fmt.Sprintf("sales/s with %d → %d buyers at a time: %s", few, many, strings.Join(parts, "; ")),
			fmt.Sprintf("seckill compare --strategies %s --few %d --concurrency %d", strings.Join(w.strategies, ","), few, many)})
	}
	return all
}

func unless(v ledger.Verdict) string {
	if v == ledger.Held {
		return ""
	}
	return ", " + strings.ReplaceAll(string(v), "_", " ")
}

func (r *Result) sparse(strategy string) *Entry {
	for _, e := range r.Sparse {
		if e.Strategy == strategy {
			return e
		}
	}
	return nil
}
