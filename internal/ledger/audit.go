package ledger

import "time"

// A Verdict is the audit's judgement of one run.
type Verdict string

const (
	Held     Verdict = "held"      // nothing oversold, lost or invented
	Oversold Verdict = "oversold"  // more was sold than there was (also when both)
	Lost     Verdict = "lost"      // units or orders vanished, appeared from nowhere, or stayed unsold
	NotValid Verdict = "not_valid" // the run itself proves nothing
)

// Rules, by the names that violations carry.
const (
	RuleOversold         = "oversold"               // Σ active ≤ initial
	RuleNegative         = "negative_stock"         // remaining ≥ 0
	RuleLostUpdate       = "lost_update"            // remaining + Σ active ≤ initial
	RuleLostUnits        = "lost_units"             // remaining + Σ active ≥ initial
	RuleTwice            = "bought_twice"           // one active order a user
	RuleBadOrder         = "bad_order"              // an order has a quantity of at least 1 and a known state
	RuleMissingOrder     = "missing_order"          // every acknowledged sale has its order
	RuleWrongReceipt     = "wrong_receipt"          // … and the order says what the buyer was told
	RuleUnacknowledged   = "unacknowledged_order"   // every order was acknowledged or unknown
	RuleInvented         = "invented_order"         // every order was asked for
	RuleUndersold        = "undersold"              // no buyer is told sold out while their quantity stays
	RuleNothingSold      = "nothing_sold"           // demand without any order
	RuleInitialChanged   = "initial_changed"        // the ledger's initial stock is the one that was set
	RuleMixedStores      = "mixed_stocks"           // one run, one stock store
	RuleStraggler        = "straggler"              // orders belong to this run
	RuleUnknownStore     = "unknown_stock"          // the stock store's own count could be read
	RuleCounterDisagrees = "counter_and_row_differ" // a counter agrees with the row that follows it, or stands behind it
	RuleUnusedCounter    = "unused_counter_changed" // a counter that no order of the run used has what was set
	RuleNotLinearizable  = "not_linearizable"       // some order of the purchases, one at a time, explains every answer
	RuleTwoAnswers       = "two_answers"            // every acknowledgement of one request says the same
	RuleKeyRefused       = "key_refused"            // a request that has the order is not refused in a copy
	RuleFalseDuplicate   = "false_duplicate"        // a buyer told duplicate has another order
	RuleNotCancelled     = "not_cancelled"          // every acknowledged cancellation took place
	RuleCancelledUnasked = "cancelled_unasked"      // every cancelled order was cancelled by its buyer
	RuleLostRequest      = "lost_request"           // every accepted request has an order or a refusal in the end
	RulePaidReleased     = "paid_released"          // what was paid, or is told to be, does not expire
	RulePaidLate         = "paid_late"              // no payment succeeds after the deadline
	RuleNotPaid          = "not_paid"               // every acknowledged payment took place
	RulePaidUnasked      = "paid_unasked"           // every payment was asked for
	RuleExpiredEarly     = "expired_early"          // nothing expires before its deadline
	RuleExpiredHeld      = "expired_held"           // what has expired holds no units
	RuleReleasedTwice    = "released_twice"         // a reservation gives back what it held, and no more
)

// verdictOf names the rules whose breach is worse or other than Lost.
var verdictOf = map[string]Verdict{
	RuleOversold:    Oversold,
	RuleMixedStores: NotValid, RuleStraggler: NotValid, RuleUnknownStore: NotValid, RuleInitialChanged: NotValid,
}

// A Violation is one broken rule with a few examples.
type Violation struct {
	Rule     string   `json:"rule"`
	Verdict  Verdict  `json:"verdict"` // what this violation alone makes of the run
	Message  string   `json:"message"`
	Params   Params   `json:"params,omitempty"`
	Count    int      `json:"count"`
	Examples []string `json:"examples,omitempty"` // order ids, users, requests
	Cases    []Case   `json:"cases,omitempty"`    // each of Examples, in the same order
}

// Params are what a violation's message says, for callers that say it in another
// language: numbers, and the name of a stock store. Their names are fixed for each
// rule; "sku" is there when several were sold.
type Params map[string]any

// Evidence is everything the judge looks at.
type Evidence struct {
	Snapshot Snapshot
	// Initial is the stock that was *set* for this run, by its caller.
	Initial int64
	// Run is the number of the run that is judged; 0: whichever is current.
	Run int64
	// StockStoreOf says where a strategy keeps its stock.
	StockStoreOf func(strategy string) (StockStore, bool)
	// Closed: the sale was closed (catalog.Close) after it had come to rest, so the
	// row must say what was left, also where no purchase writes it.
	Closed bool
	// Told holds what buyers were told, call by call; nil when the ledger is
	// judged alone. An empty, non-nil slice is a run without demand.
	Told []Told
	// Sums add up what buyers were told, counted apart from Told; nil when
	// they were not counted.
	Sums *Sums
	// Ours tells the orders of Told's buyers from those of others who buy in the
	// same sale; nil: all are ours. Those of others are neither invented nor
	// unasked for, and count in the balance like any.
	Ours func(*Order) bool
	// Patience is the longest wait for a lock plus the longest lease (and what
	// else may rightly keep buyers waiting, such as an outage that was planned):
	// a sale that stands still for longer is blocked. 0: Report.Served is
	// ServedNotKnown.
	Patience time.Duration
	// Started is when the sale was on, by the clock of Told; 0: from the start
	// of the run. A sale with a start of its own (Stock.StartsAt) and Started 0
	// is looked at from its first order on.
	Started time.Duration
}

// A Report is the judge's finding.
type Report struct {
	Verdict   Verdict `json:"verdict"`
	SKU       int64   `json:"sku_id"`
	Run       int64   `json:"run"`
	Initial   int64   `json:"initial"`
	Remaining int64   `json:"remaining"`
	Sold      int64   `json:"sold"`      // Σ quantity of active orders, less Reserved
	Orders    int     `json:"orders"`    // active ones
	Cancelled int     `json:"cancelled"` // cancelled ones
	// Reserved are units of active orders that are not paid yet: neither sold nor
	// left. Expired counts the orders that were not paid in time.
	Reserved   int64      `json:"reserved,omitempty"`
	Expired    int        `json:"expired,omitempty"`
	StockStore StockStore `json:"stock_store"`
	// Served is the second axis: whether buyers who asked were served while there
	// were units. nil without Told.
	Served *Served `json:"served,omitempty"`
	// Accepted counts the requests that were told accepted; nil when none was, or
	// when single requests were not recorded.
	Accepted   *Accepteds  `json:"accepted,omitempty"`
	Violations []Violation `json:"violations"`
	// Witness are orders that show how the stock broke, if there are such.
	Witness *Witness `json:"witness,omitempty"`
}

// Add is r with a violation that was found in what the judge does not look at:
// the times of the answers.
func (r Report) Add(rule, message string, params Params) Report {
	t := &Trial{report: r}
	t.violate(rule, message, params, examples{})
	return t.conclude()
}
