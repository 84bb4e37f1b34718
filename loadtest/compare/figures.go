package compare

import (
	"fmt"
	"io"

	"seckill/internal/ledger"
	"seckill/internal/measure"
)

// Figures are what the lessons read of a comparison: medians with the lowest and the
// highest round.
type Figures struct {
	measure.Run
	AtOnce     int                     `json:"at_once"`
	Strategies map[string]SalesFigures `json:"strategies"`
}

// SalesFigures are those of one strategy.
type SalesFigures struct {
	Verdict ledger.Verdict `json:"verdict"`
	Rate    [3]float64     `json:"sales_per_second"`
	P50     [3]float64     `json:"p50_ms"`
	P99     [3]float64     `json:"p99_ms"`
	Share   [3]float64     `json:"of_transaction"` // of the same transaction without HTTP
	Sent    float64        `json:"commands"`       // per purchase
}

// Figures extracts them.
func (r *Result) Figures() Figures {
	f := Figures{Run: r.run(), AtOnce: r.Settings.Concurrency, Strategies: map[string]SalesFigures{}}
	for _, e := range r.Strategies {
		f.Strategies[e.Strategy] = SalesFigures{e.Verdict, e.Sales.Short(), e.P50.Short(), e.P99.Short(),
			e.Ratios[BaselineTransaction].Short(), measure.Digits(e.CommandsEach())}
	}
	return f
}

func (r *Result) run() measure.Run { return measure.RunOf(r.Command, r.Begun, r.Machine, r.Servers) }

// WriteTable writes the table of the strategies for a page, and where it comes from.
func (r *Result) WriteTable(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "\n%s; %d buyers at a time.\n\n", r.run(), r.Settings.Concurrency); err != nil {
		return err
	}
	return measure.WriteMarkdown(w, []measure.Table{r.strategyTable()})
}
