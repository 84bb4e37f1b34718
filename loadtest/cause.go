package loadtest

import "fmt"

// A Cause is one of a run's problems as a code, with what it is about, for
// those who have sentences of their own.
type Cause struct {
	Code   string         `json:"code"` // empty: there is only the sentence in English
	Params map[string]any `json:"params,omitempty"`
}

// Codes of Causes, with their parameters. An error is text of the system's.
const (
	CauseLedgerUnread  = "ledger_unread"     // source, error
	CauseStillRunning  = "still_running"     // seconds
	CauseOtherStrategy = "other_strategy"    // count, found, strategy
	CauseUnusable      = "target_unusable"   // target, error
	CauseNotReset      = "not_reset"         // sku, error
	CauseNoStrategies  = "strategies_unread" // target, error
	CauseStockUnread   = "stock_unread"      // sku, where, error
	CauseDisagree      = "ledgers_disagree"  // target, sku, stock, run, where, left, found, found_run
	CauseInterrupted   = "interrupted"       // sent, of
	CauseLate          = "generator_late"    // lag_ms, latency_ms
	CauseProcessors    = "generator_full"    // used, of
	CauseNeverSent     = "never_sent"        // count, seconds
	CauseNoAnswer      = "no_answer"
	CauseNonsense      = "nonsense" // count, sample
)

// problem adds a reason why the run proves nothing.
func (r *run) problem(format string, args ...any) { r.problemOf("", nil, format, args...) }

// problemOf is problem with its code.
func (r *run) problemOf(code string, params map[string]any, format string, args ...any) {
	r.result.Problems = append(r.result.Problems, fmt.Sprintf(format, args...))
	r.result.Causes = append(r.result.Causes, Cause{code, params})
}

type params = map[string]any
