package ledger

import (
	"fmt"
	"maps"
	"slices"
)

// Judge is the one judge of the project. It is pure: the same evidence always
// gets the same report, with every violation in it, not only the first.
func Judge(e Evidence) Report {
	t := NewTrial(e)
	for i := range e.Snapshot.Orders {
		t.Order(&e.Snapshot.Orders[i])
	}
	return t.Report(e.Snapshot.StockStores)
}

// A Trial is Judge for a sale too large to hold: it takes the orders one by one,
// in the order of their ids, and keeps about 50 bytes of each.
type Trial struct {
	Evidence
	report       Report
	gaveBack     int64 // Σ quantity of cancelled orders
	expired      int64 // Σ quantity of expired orders
	others       int64 // Σ quantity of active orders that are not ours
	storesDiffer bool
	totalsOnly   bool                  // there are no orders to read
	holders      []int64               // users of active orders
	stockStores  map[StockStore]string // with a strategy that uses it
	storeOf      map[string]StockStore // what StockStoreOf said
	reserved     reserved              // what is wrong with reservations
	bad          examples              // orders that cannot be
	stragglers   examples              // orders of other runs
	beyond       examples              // orders past the initial stock
	units        unitBook              // the order that sold each unit
	buyers       *buyers               // nil without Told
}

// NewTrial begins with all evidence but the orders and what the counters say.
func NewTrial(e Evidence) *Trial {
	t := &Trial{Evidence: e, stockStores: map[StockStore]string{}, storeOf: map[string]StockStore{}}
	t.report = Report{Violations: []Violation{}, SKU: e.Snapshot.Stock.ID, Run: e.Snapshot.Stock.Run, Initial: e.Initial}
	if e.Told != nil {
		t.buyers = listen(e.Told, e.Patience)
	}
	return t
}

// Order takes the next order. It keeps nothing of o itself.
func (t *Trial) Order(o *Order) {
	if o.Run != t.Snapshot.Stock.Run {
		t.stragglers.add(orderOfRun, o.PublicID, o.Run)
	}
	t.stockStores[t.stockStore(o.Strategy)] = o.Strategy
	switch {
	case o.Quantity < 1 || o.Status != Active && o.Status != Cancelled && o.Status != Expired:
		t.bad.add(badOrder, o.PublicID, o.Quantity, o.Status)
	case o.Status == Cancelled:
		t.report.Cancelled++
		t.gaveBack += o.Quantity
	case o.Status == Expired:
		t.report.Expired++
		t.expired += o.Quantity
	default:
		t.report.Orders++
		if o.unpaid() {
			t.report.Reserved += o.Quantity
		} else {
			t.report.Sold += o.Quantity
		}
		t.holders = append(t.holders, o.UserID)
		if sold := t.taken(); sold > t.Initial {
			t.beyond.add(soldBeyond, o.PublicID, o.UserID, sold-o.Quantity+1, sold, t.Initial)
		}
	}
	t.units.add(o)
	t.reserved.order(o)
	ours := t.Ours == nil || t.Ours(o)
	if !ours && o.Status == Active {
		t.others += o.Quantity
	}
	switch {
	case t.buyers == nil:
	case ours:
		t.buyers.order(o)
	default:
		t.buyers.other(o)
	}
}

func (t *Trial) stockStore(strategy string) StockStore {
	if stockStore, ok := t.storeOf[strategy]; ok {
		return stockStore
	}
	stockStore, ok := InRow, true
	if t.StockStoreOf != nil {
		stockStore, ok = t.StockStoreOf(strategy)
	}
	if !ok {
		stockStore = StockStore("of " + strategy)
	}
	t.storeOf[strategy] = stockStore
	return stockStore
}

// Report ends the trial. stockStores is what the counters outside the row say is
// left, read after the orders.
func (t *Trial) Report(stockStores map[StockStore]int64) Report {
	t.Snapshot.StockStores = stockStores
	t.checkOrders()
	t.checkReserved()
	t.checkRun()
	t.checkBalance()
	if t.buyers != nil {
		t.checkTold()
		t.checkAccepted()
		t.report.Served = t.served()
	}
	if t.Sums != nil {
		t.checkSums(t.taken() - t.others)
	}
	return t.conclude()
}

// taken are the units that active orders hold, paid or not.
func (t *Trial) taken() int64 { return t.report.Sold + t.report.Reserved }

// conclude gives the verdict: that of the worst violation.
func (t *Trial) conclude() Report {
	t.report.Verdict = Held
	for _, v := range t.report.Violations {
		if rank(v.Verdict) > rank(t.report.Verdict) {
			t.report.Verdict = v.Verdict
		}
	}
	return t.report
}

// A run that proves nothing outranks what it seems to prove.
func rank(v Verdict) int {
	return slices.Index([]Verdict{Held, Lost, Oversold, NotValid}, v)
}

func (t *Trial) violate(rule, message string, params Params, e examples) {
	verdict, ok := verdictOf[rule]
	if !ok {
		verdict = Lost
	}
	t.report.Violations = append(t.report.Violations,
		Violation{Rule: rule, Verdict: verdict, Message: message, Params: params, Count: max(1, e.count), Examples: e.first, Cases: e.cases})
}

// breach is violate for rules that only examples can break.
func (t *Trial) breach(rule, message string, params Params, e examples) {
	if e.count > 0 {
		t.violate(rule, message, params, e)
	}
}

func (t *Trial) checkOrders() {
	t.breach(RuleBadOrder, "orders that cannot be: no units, or an unknown state", nil, t.bad)
	slices.Sort(t.holders)
	var twice examples
	for i, user := range t.holders {
		if i > 0 && user == t.holders[i-1] && (i == 1 || user != t.holders[i-2]) {
			twice.add(twoOrders, user)
		}
	}
	t.breach(RuleTwice, "users with more than one active order", nil, twice)
}

// checkRun asks whether the ledger is about one run of one kind at all.
func (t *Trial) checkRun() {
	s := t.Snapshot.Stock
	if s.Initial != t.Initial || t.Run != 0 && s.Run != t.Run {
		t.violate(RuleInitialChanged, fmt.Sprintf(
			"the sale was reset by another client: it was set to %d units in run %d, the ledger says %d units in run %d",
			t.Initial, t.Run, s.Initial, s.Run),
			Params{"initial": t.Initial, "run": t.Run, "found": s.Initial, "found_run": s.Run}, examples{})
	}
	t.breach(RuleStraggler, fmt.Sprintf("orders of other runs than %d", s.Run), Params{"run": s.Run}, t.stragglers)
	t.report.StockStore = InRow
	var used examples
	for _, stockStore := range slices.Sorted(maps.Keys(t.stockStores)) {
		t.report.StockStore = stockStore
		used.add(keepsStockIn, t.stockStores[stockStore], stockStore)
	}
	if t.storesDiffer = used.count > 1; t.storesDiffer {
		t.violate(RuleMixedStores, "strategies that keep their stock in different places sold in one run", nil, used)
	}
}

// checkBalance is the equation: what is left and what was sold make up what
// was there. What is left is what the run's stock store says: the row, or a counter.
//
// A counter is compared with the row besides, where each comparison can fail by
// itself. Where the row is written by every purchase (a lock table's count, the
// row behind a number in Redis) the two are two witnesses. Where the stock is
// sold aside from the row (Aside) no purchase touches it: it has what was
// set until the sale is closed, and what was left from then on. Anything else
// was written by others, or something was sold or given back after the close.
func (t *Trial) checkBalance() {
	t.report.Remaining = t.Snapshot.Stock.Num
	initial, sold := t.Initial, t.taken() // a reservation has taken its units
	if sold > initial {                   // wherever the stock is kept
		t.violate(RuleOversold, fmt.Sprintf("%d units sold out of %d: %d too many", sold, initial, sold-initial),
			Params{"sold": sold, "stock": initial}, t.beyond)
	}
	if t.storesDiffer {
		return
	}
	t.checkUnused()
	if c := t.report.StockStore.Counter(); c != "" {
		counted, ok := t.Snapshot.StockStores[c]
		if !ok {
			t.violate(RuleUnknownStore, fmt.Sprintf("what is left in %s could not be read", c), Params{"store": c}, examples{})
			return
		}
		row := t.Snapshot.Stock.Num
		untouched := t.report.StockStore.Aside() && row == t.Snapshot.Stock.Initial
		if counted != row && (t.Closed || !untouched) {
			t.violate(RuleCounterDisagrees, fmt.Sprintf("%s says that %d are left, the stock row says %d",
				c, counted, row), Params{"store": c, "counted": counted, "row": row}, examples{})
		}
		if t.report.StockStore != InRowAndRedis && t.report.StockStore != InStream { // there the row has the last word
			t.report.Remaining = counted
		}
	}
	left := t.report.Remaining
	if left < 0 {
		t.report.Witness = t.units.belowZero()
		t.violate(RuleNegative, fmt.Sprintf("the stock is %d", left), Params{"left": left}, examples{})
	}
	params := Params{"left": left, "sold": sold, "stock": initial}
	switch sum := left + sold; {
	case sum > initial:
		var twice examples
		if t.gaveBack+t.expired == 0 && !t.report.StockStore.Split() { // units that were given back may be sold again
			var witness *Witness
			if twice, witness = t.units.soldTwice(); witness != nil {
				t.report.Witness = witness
			}
		}
		t.violate(RuleLostUpdate, fmt.Sprintf(
			"%d left + %d sold = %d, %d more than the %d there were: deductions were overwritten, or units given back twice",
			left, sold, sum, sum-initial, initial), params, twice)
	case sum < initial:
		t.violate(RuleLostUnits, fmt.Sprintf(
			"%d left + %d sold = %d, %d fewer than the %d there were: units vanished without an order",
			left, sold, sum, initial-sum, initial), params, examples{})
	}
}

// checkUnused looks at the counters that no order of the run was sold from: a
// buyer who took units there and died before the order was written left no
// other trace.
func (t *Trial) checkUnused() {
	for _, stockStore := range slices.Sorted(maps.Keys(t.Snapshot.StockStores)) {
		if counted := t.Snapshot.StockStores[stockStore]; stockStore != t.report.StockStore.Counter() && counted != t.Initial {
			t.violate(RuleUnusedCounter, fmt.Sprintf("%s was set to %d and says %d, but no order of this run was sold from there",
				stockStore, t.Initial, counted), Params{"store": stockStore, "stock": t.Initial, "counted": counted}, examples{})
		}
	}
}
