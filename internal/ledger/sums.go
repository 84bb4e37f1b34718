package ledger

import "fmt"

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
	t := hear(Evidence{Snapshot: Snapshot{Stock: Stock{ID: sku, Initial: after.Initial, Num: after.Remaining}},
		Initial: initial, Sums: &told})
	t.report.Sold = after.Sold
	t.check()
	t.checkSums(after.Sold-before.Sold, true)
	return t.report
}

// checkSums compares what was sold during the run with what buyers were told.
func (t *hearing) checkSums(sold int64, totalsOnly bool) {
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
	t.checkGivenBack(totalsOnly)
	t.checkAcceptedSums(sold)
	// A stock only shrinks, but for cancellations, of which those of unknown
	// requests may be some.
	always := t.report.Remaining - max(t.cancelled, s.Cancelled+s.MaybeCancelled) - t.expired
	if s.SoldOut > 0 && s.SoldOut <= always && !t.mixed() {
		t.violate(RuleUndersold, fmt.Sprintf("buyers who wanted %d were told sold out while at least %d units were there to the end",
			s.SoldOut, always), Params{"wanted": s.SoldOut, "left": always}, examples{})
	}
	if s.Requests > 0 && s.Wanted <= t.Initial && sold == 0 && t.cancelled+t.expired == 0 && s.Cancelled+s.MaybeCancelled == 0 {
		t.violate(RuleNothingSold, fmt.Sprintf("%d requests for a stock of %d, and nothing was sold", s.Requests, t.Initial),
			Params{"requests": s.Requests, "stock": t.Initial}, examples{})
	}
}

// checkGivenBack compares the cancelled orders with what buyers were told of
// cancellations: an unknown purchase may hide a cancellation that never
// happened from the sums of what was sold, but not from these. An unknown
// purchase may have been cancelled besides.
func (t *hearing) checkGivenBack(totalsOnly bool) {
	if totalsOnly { // which do not say what was given back
		return
	}
	s := *t.Sums
	if t.cancelled < s.Cancelled {
		t.violate(RuleNotCancelled, fmt.Sprintf("buyers were told of %d units given back, and %d were: %d fewer",
			s.Cancelled, t.cancelled, s.Cancelled-t.cancelled), Params{"told": s.Cancelled, "back": t.cancelled}, examples{})
	}
	if most := s.Cancelled + s.MaybeCancelled + s.Unknown; t.cancelled > most {
		t.violate(RuleCancelledUnasked, fmt.Sprintf("%d units were given back, and buyers asked for %d at most: %d more",
			t.cancelled, most, t.cancelled-most), Params{"told": most, "back": t.cancelled}, examples{})
	}
}

// checkAcceptedSums looks for broken promises without a record of single requests.
func (t *hearing) checkAcceptedSums(sold int64) {
	promised := t.Sums.Accepted
	for _, r := range t.Snapshot.Refusals {
		promised -= r.Quantity
	}
	least := t.Sums.Least()
	if missing := least + promised - sold; promised > 0 && sold >= least && missing > 0 {
		t.violate(RuleLostRequest, fmt.Sprintf("%d units were accepted and have neither an order nor a refusal", missing),
			Params{"units": missing}, examples{})
	}
}

func (t *hearing) violate(rule, message string, params Params, _ examples) {
	t.report = t.report.Add(rule, message, params)
}

// ofOthers are the units of active orders that are not ours.
func (t *hearing) ofOthers() (units int64) {
	for _, o := range t.active {
		if t.Ours != nil && !t.Ours(o) {
			units += o.Quantity
		}
	}
	return units
}
