package compare

import (
	"slices"

	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

// Metrics of a turn, by name. Times are in milliseconds but for SellOut.
const (
	Answers    = "answers"     // certain ones a second, of all buyers
	Sales      = "sales"       // a second, until a sale's last one
	SellOut    = "sell_out"    // seconds from the first request to the last sale, if all was sold
	BoughtP50  = "bought_p50"  // of buyers who got a unit
	BoughtP99  = "bought_p99"  //
	RefusedP50 = "refused_p50" // of buyers who were told sold out, busy, conflict or duplicate
	RefusedP99 = "refused_p99" //
	Commands   = "commands"    // to the backends, for each purchase
	Services   = "services"    // processor time of a request: of the service processes,
	Servers    = "servers"     // and of the servers behind them
)

// A metric sums up the sales of one turn; false: it is not known.
type metric struct {
	id     string
	column string // its name in CSV, with the unit
	of     func(sales []*loadtest.Result) (float64, bool)
}

var metrics = []metric{
	{Answers, "answers_per_second", rate(func(r *loadtest.Result) float64 { return float64(r.Requests - r.Uncertain()) },
		func(r *loadtest.Result) float64 { return r.Seconds })},
	{Sales, "sales_per_second", rate(sold, func(r *loadtest.Result) float64 { return r.SellingSeconds })},
	{SellOut, "sell_out_s", sellOut},
	{BoughtP50, "bought_p50_ms", percentile(func(r *loadtest.Result) int64 { return r.SoldLatency.P50 })},
	{BoughtP99, "bought_p99_ms", percentile(func(r *loadtest.Result) int64 { return r.SoldLatency.P99 })},
	{RefusedP50, "refused_p50_ms", percentile(func(r *loadtest.Result) int64 { return r.RefusedLatency.P50 })},
	{RefusedP99, "refused_p99_ms", percentile(func(r *loadtest.Result) int64 { return r.RefusedLatency.P99 })},
	{Commands, "commands_per_purchase", rate(func(r *loadtest.Result) (n float64) {
		for _, c := range r.Commands {
			n += c.PerPurchase
		}
		return n
	}, func(r *loadtest.Result) float64 { // sales of which it is known
		return float64(min(1, len(r.Commands)))
	})},
	{Services, "services_cpu_ms_per_request", perRequest(func(p loadtest.Processor) *float64 { return p.Services })},
	{Servers, "servers_cpu_ms_per_request", perRequest(func(p loadtest.Processor) *float64 { return p.Servers })},
}

func requests(r *loadtest.Result) float64 { return float64(r.Requests) }

// sold counts sales; what is reserved is sold when it is paid.
func sold(r *loadtest.Result) float64 {
	return float64(r.Counts[ledger.OutcomeSold] + r.Reservations.Paid)
}

// rate divides sums over all sales; nothing is not known.
func rate(part, whole func(*loadtest.Result) float64) func([]*loadtest.Result) (float64, bool) {
	return func(sales []*loadtest.Result) (float64, bool) {
		a, b := 0.0, 0.0
		for _, r := range sales {
			a, b = a+part(r), b+whole(r)
		}
		if a == 0 || b == 0 {
			return 0, false
		}
		return a / b, true
	}
}

// percentile is the median over the sales that have one.
func percentile(of func(*loadtest.Result) int64) func([]*loadtest.Result) (float64, bool) {
	return func(sales []*loadtest.Result) (float64, bool) {
		var all []float64
		for _, r := range sales {
			if us := of(r); us > 0 {
				all = append(all, float64(us)/1000)
			}
		}
		return measure.SpreadOf(all).Median, all != nil
	}
}

func perRequest(of func(loadtest.Processor) *float64) func([]*loadtest.Result) (float64, bool) {
	return func(sales []*loadtest.Result) (float64, bool) {
		if slices.ContainsFunc(sales, func(r *loadtest.Result) bool { return of(r.Processor) == nil }) {
			return 0, false
		}
		return rate(func(r *loadtest.Result) float64 { return 1000 * *of(r.Processor) }, requests)(sales)
	}
}

func sellOut(sales []*loadtest.Result) (float64, bool) {
	took := 0.0
	for _, r := range sales {
		if r.Audit == nil || r.Audit.Sold < r.Audit.Initial {
			return 0, false
		}
		took += r.SellingSeconds
	}
	return took / float64(len(sales)), true
}
