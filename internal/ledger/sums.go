package ledger

import (
	"fmt"
	"maps"
)

// Rules about sums. They need no record of single requests: where one was
// kept, they are a second opinion from other numbers.
const (
	RuleFewerThanTold = "fewer_than_told" // Σ told sold ≤ Σ active
	RuleMoreThanTold  = "more_than_told"  // Σ active ≤ Σ told sold + Σ unknown
)

// Sums are what all buyers of one run were told, added up. Units are those
// that were asked for.
type Sums struct {
	Requests int64 `json:"requests"`
	Sold     int64 `json:"sold"`    // units told sold
	Unknown  int64 `json:"unknown"` // units of requests whose outcome is unknown
	// Accepted units are those of Unknown whose buyers were told accepted.
	Accepted int64 `json:"accepted,omitempty"`
	// Cancelled units were told sold and are told cancelled; MaybeCancelled
	// ones were told sold, and whether they were given back is unknown. Units
	// of unknown requests are in neither.
	Cancelled      int64 `json:"cancelled"`
	MaybeCancelled int64 `json:"maybe_cancelled"`
	// SoldOut is the smallest quantity that was refused as sold out; 0: none.
	SoldOut int64 `json:"least_sold_out"`
	// Wanted is the smallest quantity that was asked for.
	Wanted int64 `json:"least_wanted"`
}

// Least is how many units must have been sold, and Most how many may have.
func (s Sums) Least() int64 { return s.Sold - s.Cancelled - s.MaybeCancelled }
func (s Sums) Most() int64  { return s.Sold - s.Cancelled + s.Unknown }

// Totals are what a foreign service reports of one SKU.
type Totals struct {
	Initial   int64 `json:"initial"`
	Remaining int64 `json:"remaining"`
	Sold      int64 `json:"sold"` // units
}

// JudgeTotals judges a service whose orders cannot be read: from its totals
// after the run, those before, and what buyers were told. initial is the stock
// that was set for the run.
func JudgeTotals(sku, initial int64, before, after Totals, told Sums) Report {
	t := NewTrial(Evidence{Snapshot: Snapshot{Stock: Stock{ID: sku, Initial: after.Initial, Num: after.Remaining}},
		Initial: initial, Sums: &told})
	t.report.Sold, t.totalsOnly = after.Sold, true
	t.checkRun()
	t.checkBalance()
	t.checkSums(after.Sold - before.Sold)
	return t.conclude()
}

// checkSums compares what was sold during the run with what buyers were told.
func (t *Trial) checkSums(sold int64) {
	s := *t.Sums
	if least := s.Least(); sold < least {
		t.violate(RuleFewerThanTold, fmt.Sprintf("buyers were told of %d units sold, and %d were: %d fewer", least, sold, least-sold),
			Params{"told": least, "sold": sold}, examples{})
	}
	if most := s.Most(); sold > most {
		t.violate(RuleMoreThanTold, fmt.Sprintf("%d units were sold, and buyers were told of %d at most, with %d whose outcome is unknown: %d more",
			sold, most, s.Unknown, sold-most), Params{"sold": sold, "told": most, "unknown": s.Unknown}, examples{})
	}
	if t.Told != nil { // says the same of single buyers
		return
	}
	t.checkGivenBack()
	t.checkAcceptedSums(sold)
	// A stock only shrinks, but for cancellations, of which those of unknown
	// requests may be some.
	always := t.report.Remaining - max(t.gaveBack, s.Cancelled+s.MaybeCancelled) - t.expired
	if s.SoldOut > 0 && s.SoldOut <= always && !t.storesDiffer {
		t.violate(RuleUndersold, fmt.Sprintf("buyers who wanted %d were told sold out while at least %d units were there to the end",
			s.SoldOut, always), Params{"wanted": s.SoldOut, "left": always}, examples{})
	}
	if s.Requests > 0 && s.Wanted <= t.Initial && sold == 0 && t.gaveBack+t.expired == 0 && s.Cancelled+s.MaybeCancelled == 0 {
		t.violate(RuleNothingSold, fmt.Sprintf("%d requests for a stock of %d, and nothing was sold", s.Requests, t.Initial),
			Params{"requests": s.Requests, "stock": t.Initial}, examples{})
	}
}

// checkGivenBack compares the cancelled orders with what buyers were told of
// cancellations: an unknown purchase may hide a cancellation that never
// happened from the sums of what was sold, but not from these. An unknown
// purchase may have been cancelled besides.
func (t *Trial) checkGivenBack() {
	if t.totalsOnly { // which do not say what was given back
		return
	}
	s := *t.Sums
	if t.gaveBack < s.Cancelled {
		t.violate(RuleNotCancelled, fmt.Sprintf("buyers were told of %d units given back, and %d were: %d fewer",
			s.Cancelled, t.gaveBack, s.Cancelled-t.gaveBack), Params{"told": s.Cancelled, "back": t.gaveBack}, examples{})
	}
	if most := s.Cancelled + s.MaybeCancelled + s.Unknown; t.gaveBack > most {
		t.violate(RuleCancelledUnasked, fmt.Sprintf("%d units were given back, and buyers asked for %d at most: %d more",
			t.gaveBack, most, t.gaveBack-most), Params{"told": most, "back": t.gaveBack}, examples{})
	}
}

// Sum is the report on a sale of several SKUs: the worst verdict, and every
// violation with its SKU.
func Sum(reports []Report) Report {
	if len(reports) == 1 {
		return reports[0]
	}
	all := Report{Verdict: Held, Violations: []Violation{}}
	for i, r := range reports {
		if i == 0 {
			all.SKU, all.Run, all.StockStore = r.SKU, r.Run, r.StockStore
		}
		all.Initial += r.Initial
		all.Remaining += r.Remaining
		all.Sold += r.Sold
		all.Orders += r.Orders
		all.Cancelled += r.Cancelled
		all.Reserved += r.Reserved
		all.Expired += r.Expired
		all.Served = all.Served.and(r.Served)
		all.Accepted = all.Accepted.and(r.Accepted)
		if rank(r.Verdict) > rank(all.Verdict) {
			all.Verdict = r.Verdict
		}
		for _, v := range r.Violations {
			v.Message = fmt.Sprintf("SKU %d: %s", r.SKU, v.Message)
			v.Params = maps.Clone(v.Params)
			if v.Params == nil {
				v.Params = Params{}
			}
			v.Params["sku"] = r.SKU
			all.Violations = append(all.Violations, v)
		}
	}
	return all
}
