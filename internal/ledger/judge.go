package ledger

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Judge is the one judge of the project. It is pure: the same evidence always
// gets the same report, with every violation in it, not only the first.
func Judge(e Evidence) Report {
	j := &judge{Evidence: e}
	j.report = Report{Violations: []Violation{}, SKU: e.Snapshot.Stock.ID, Run: e.Snapshot.Stock.Run, Initial: e.Initial}
	j.sumOrders()
	j.checkRun()
	j.checkBalance()
	if e.Told != nil {
		j.checkTold()
	}
	if e.Sums != nil {
		j.checkSums(j.report.Sold)
	}
	return j.conclude()
}

// conclude gives the verdict: that of the worst violation.
func (j *judge) conclude() Report {
	j.report.Verdict = Held
	for _, v := range j.report.Violations {
		if rank(v.Verdict) > rank(j.report.Verdict) {
			j.report.Verdict = v.Verdict
		}
	}
	return j.report
}

// A run that proves nothing outranks what it seems to prove.
func rank(v Verdict) int {
	return slices.Index([]Verdict{Held, Lost, Oversold, NotValid}, v)
}

type judge struct {
	Evidence
	report      Report
	gaveBack    int64 // Σ quantity of cancelled orders
	homesDiffer bool
}

const maxExamples = 5

func (j *judge) violate(rule, message string, params Params, examples ...string) {
	verdict, ok := verdictOf[rule]
	if !ok {
		verdict = Lost
	}
	v := Violation{Rule: rule, Verdict: verdict, Message: message, Params: params, Count: max(1, len(examples)), Examples: examples}
	if len(v.Examples) > maxExamples {
		v.Examples = v.Examples[:maxExamples]
	}
	j.report.Violations = append(j.report.Violations, v)
}

func (j *judge) sumOrders() {
	var bad, twice []string
	holders := map[int64]int{}
	for _, o := range j.Snapshot.Orders {
		switch {
		case o.Quantity < 1 || o.Status != Active && o.Status != Cancelled:
			bad = append(bad, fmt.Sprintf("order %s: quantity %d, state %q", o.PublicID, o.Quantity, o.Status))
		case o.Status == Cancelled:
			j.report.Cancelled++
			j.gaveBack += o.Quantity
		default:
			j.report.Orders++
			j.report.Sold += o.Quantity
			if holders[o.UserID]++; holders[o.UserID] == 2 {
				twice = append(twice, "user "+strconv.FormatInt(o.UserID, 10))
			}
		}
	}
	if bad != nil {
		j.violate(RuleBadOrder, "orders that cannot be: no units, or an unknown state", nil, bad...)
	}
	if twice != nil {
		j.violate(RuleTwice, "users with more than one active order", nil, twice...)
	}
}

// checkRun asks whether the ledger is about one run of one kind at all.
func (j *judge) checkRun() {
	s := j.Snapshot.Stock
	if s.Initial != j.Initial || j.Run != 0 && s.Run != j.Run {
		j.violate(RuleInitialChanged, fmt.Sprintf(
			"the sale was reset by somebody else: it was set to %d units in run %d, the ledger says %d units in run %d",
			j.Initial, j.Run, s.Initial, s.Run),
			Params{"initial": j.Initial, "run": j.Run, "found": s.Initial, "found_run": s.Run})
	}
	var stragglers []string
	homes := map[Home]string{} // with a strategy that uses it
	for _, o := range j.Snapshot.Orders {
		if o.Run != s.Run {
			stragglers = append(stragglers, fmt.Sprintf("order %s of run %d", o.PublicID, o.Run))
		}
		home, ok := HomeRow, true
		if j.HomeOf != nil {
			home, ok = j.HomeOf(o.Strategy)
		}
		if !ok {
			home = Home("of " + o.Strategy)
		}
		homes[home] = o.Strategy
	}
	if stragglers != nil {
		j.violate(RuleStraggler, fmt.Sprintf("orders of other runs than %d", s.Run), Params{"run": s.Run}, stragglers...)
	}
	j.report.Home = HomeRow
	var used []string
	for home, strategy := range homes {
		j.report.Home = home
		used = append(used, fmt.Sprintf("%s keeps its stock in %s", strategy, home))
	}
	if len(used) > 1 {
		slices.Sort(used)
		j.homesDiffer = true
		j.violate(RuleMixedHomes, "strategies that keep their stock in different places sold in one run", nil, used...)
	}
}

// checkBalance is the equation: what is left and what was sold make up what
// was there. What is left is what the run's home says: the row, or a counter.
//
// A counter is compared with the row besides, and each comparison can fail by
// itself. Where the row is written by every purchase (a lock table's count, the
// row behind a number in Redis) the two are two witnesses. Where the counter
// alone is sold from (HomeRedis) the row was written from the orders, just
// before they were read: a row that differs then says in units of stock what
// the equation says in orders, and alone it says that somebody wrote the row
// besides, or went on selling.
func (j *judge) checkBalance() {
	j.report.Remaining = j.Snapshot.Stock.Num
	initial, sold := j.Initial, j.report.Sold
	if sold > initial { // wherever the stock is kept
		j.violate(RuleOversold, fmt.Sprintf("%d units sold out of %d: %d too many", sold, initial, sold-initial),
			Params{"sold": sold, "stock": initial}, j.beyond()...)
	}
	if j.homesDiffer {
		return
	}
	j.checkUnused()
	if c := j.report.Home.Counter(); c != "" {
		counted, ok := j.Snapshot.Homes[c]
		if !ok {
			j.violate(RuleUnknownHome, fmt.Sprintf("what is left in %s could not be read", c), Params{"home": c})
			return
		}
		if counted != j.Snapshot.Stock.Num {
			j.violate(RuleCounterDisagrees, fmt.Sprintf("%s says that %d are left, the stock row says %d",
				c, counted, j.Snapshot.Stock.Num), Params{"home": c, "counted": counted, "row": j.Snapshot.Stock.Num})
		}
		if j.report.Home != HomeRowRedis { // there the row has the last word
			j.report.Remaining = counted
		}
	}
	left := j.report.Remaining
	if left < 0 {
		j.violate(RuleNegative, fmt.Sprintf("the stock is %d", left), Params{"left": left})
	}
	switch sum := left + sold; {
	case sum > initial:
		j.violate(RuleLostUpdate, fmt.Sprintf(
			"%d left + %d sold = %d, %d more than the %d there were: deductions were overwritten, or units given back twice",
			left, sold, sum, sum-initial, initial), Params{"left": left, "sold": sold, "stock": initial}, j.soldTwice()...)
	case sum < initial:
		j.violate(RuleLostUnits, fmt.Sprintf(
			"%d left + %d sold = %d, %d fewer than the %d there were: units vanished without an order",
			left, sold, sum, initial-sum, initial), Params{"left": left, "sold": sold, "stock": initial})
	}
}

// checkUnused looks at the counters that no order of the run was sold from: a
// buyer who took units there and died before his order was written left no
// other trace.
func (j *judge) checkUnused() {
	for _, home := range slices.Sorted(maps.Keys(j.Snapshot.Homes)) {
		if counted := j.Snapshot.Homes[home]; home != j.report.Home.Counter() && counted != j.Initial {
			j.violate(RuleUnusedCounter, fmt.Sprintf("%s was set to %d and says %d, but no order of this run was sold from there",
				home, j.Initial, counted), Params{"home": home, "stock": j.Initial, "counted": counted})
		}
	}
}

// beyond names the orders past the initial stock, in the order of the ledger.
func (j *judge) beyond() (examples []string) {
	sold := int64(0)
	for _, o := range j.Snapshot.Orders {
		if o.Status != Active || o.Quantity < 1 {
			continue
		}
		if sold += o.Quantity; sold > j.Initial {
			examples = append(examples, fmt.Sprintf("order %s of user %d sold units %d to %d of %d",
				o.PublicID, o.UserID, sold-o.Quantity+1, sold, j.Initial))
		}
	}
	return examples
}

// soldTwice names orders that sold the same unit: who was told that r are left
// after his q got the units r+1 to r+q, counted from the last. Units that were
// given back may be sold again, so with cancellations this proves nothing.
func (j *judge) soldTwice() (examples []string) {
	if j.gaveBack > 0 {
		return nil
	}
	byUnit := slices.Clone(j.Snapshot.Orders)
	slices.SortStableFunc(byUnit, func(a, b Order) int {
		return cmp.Compare(b.Remaining+b.Quantity, a.Remaining+a.Quantity)
	})
	var last *Order // the one that went furthest down
	for i := range byUnit {
		o := &byUnit[i]
		if last != nil && o.Remaining+o.Quantity > last.Remaining {
			examples = append(examples, fmt.Sprintf("orders %s and %s both sold unit %d: they were told %d and %d left",
				last.PublicID, o.PublicID, min(o.Remaining+o.Quantity, last.Remaining+last.Quantity), last.Remaining, o.Remaining))
		}
		if last == nil || o.Remaining < last.Remaining {
			last = o
		}
	}
	return examples
}

// asked is one request with everything that was said about it; a buyer may
// send the same request again.
type asked struct {
	user      int64
	requestID string
}

// checkTold compares the ledger with what the buyers were told, both ways.
func (j *judge) checkTold() {
	orders := make(map[asked]*Order, len(j.Snapshot.Orders))
	for i := range j.Snapshot.Orders {
		o := &j.Snapshot.Orders[i]
		orders[asked{o.UserID, o.RequestID}] = o
	}
	settled := make(map[asked]bool, len(j.Told)) // acknowledged or unknown
	cancelled := map[asked]bool{}                // told cancelled, or unknown
	for _, t := range j.Told {
		if t.Call == CallCancel && (t.Outcome == OutcomeCancelled || t.Outcome == OutcomeUnknown) {
			cancelled[asked{t.User, t.RequestID}] = true
		}
	}
	demand, cancelledLater := false, int64(0)
	var missing, wrong []string
	for _, t := range j.Told {
		if !t.Call.Is(CallBuy) {
			continue
		}
		demand = demand || t.Quantity <= j.Initial
		k := asked{t.User, t.RequestID}
		settled[k] = settled[k] || t.Outcome == OutcomeSold || t.Outcome == OutcomeUnknown
		if cancelled[k] {
			cancelledLater += t.Quantity
		}
		if t.Outcome != OutcomeSold {
			continue
		}
		switch o := orders[k]; {
		case o == nil:
			missing = append(missing, fmt.Sprintf("user %d was given order %s", t.User, t.OrderID))
		case o.Status != Active && !cancelled[k]:
			missing = append(missing, fmt.Sprintf("order %s of user %d is %s, and he never cancelled it", t.OrderID, t.User, o.Status))
		case o.PublicID != t.OrderID || o.Quantity != t.Quantity || o.Remaining != t.Remaining:
			wrong = append(wrong, fmt.Sprintf("user %d was told order %s, %d units, %d left; the ledger has order %s, %d units, %d left",
				t.User, t.OrderID, t.Quantity, t.Remaining, o.PublicID, o.Quantity, o.Remaining))
		}
	}
	var unacknowledged, invented []string
	for i := range j.Snapshot.Orders {
		o := &j.Snapshot.Orders[i]
		switch ok, known := settled[asked{o.UserID, o.RequestID}]; {
		case !known:
			invented = append(invented, fmt.Sprintf("order %s of user %d", o.PublicID, o.UserID))
		case !ok:
			unacknowledged = append(unacknowledged, fmt.Sprintf("order %s of user %d", o.PublicID, o.UserID))
		}
	}
	// A stock only shrinks, but for cancellations: what is left at the end and
	// was not given back has been there all the time.
	always := j.report.Remaining - max(j.gaveBack, cancelledLater)
	var turnedAway []string
	for _, t := range j.Told {
		if t.Call.Is(CallBuy) && t.Outcome == OutcomeSoldOut && t.Quantity <= always && !j.homesDiffer {
			turnedAway = append(turnedAway, fmt.Sprintf("user %d wanted %d", t.User, t.Quantity))
		}
	}
	for _, v := range []struct {
		rule, message string
		params        Params
		examples      []string
	}{
		{RuleMissingOrder, "sales that buyers were told of and the ledger does not have", nil, missing},
		{RuleWrongReceipt, "sales that the ledger has otherwise than the buyer was told", nil, wrong},
		{RuleUnacknowledged, "orders of buyers who were told that they got nothing", nil, unacknowledged},
		{RuleInvented, "orders that no buyer of this run asked for", nil, invented},
		{RuleUndersold, fmt.Sprintf("buyers told sold out while at least %d units were there to the end", always), Params{"left": always}, turnedAway},
	} {
		if v.examples != nil {
			j.violate(v.rule, v.message, v.params, v.examples...)
		}
	}
	if demand && len(j.Snapshot.Orders) == 0 {
		j.violate(RuleNothingSold, fmt.Sprintf("%d requests for a stock of %d, and not one order", len(j.Told), j.Initial),
			Params{"requests": len(j.Told), "stock": j.Initial})
	}
}
