package loadtest

import (
	"slices"
	"time"

	"seckill/internal/ledger"
)

// A record is one request as its buyer saw it. Who he was and what he asked
// for follows from its index (see plan), so it holds only what came of it.
// Times are nanoseconds since the start of the run.
type record struct {
	index            int
	outcome          uint8 // an index of outcomes
	cancel           cancelState
	remaining        int64
	orderID          string
	call, answered   int64
	cancelCall, back int64 // of the cancellation
}

type cancelState uint8

const (
	kept          cancelState = iota // never asked, or told that it was not cancelled
	gaveBack                         // told cancelled
	mayHaveBroken                    // unknown
)

// A diary is what one worker keeps. It grows by whole pages: a slice that
// doubled would be copied again and again, and hold twice what is in it.
type diary struct{ pages [][]record }

const pageSize = 512

func (d *diary) next() *record {
	last := len(d.pages) - 1
	if last < 0 || len(d.pages[last]) == pageSize {
		d.pages = append(d.pages, make([]record, 0, pageSize))
		last++
	}
	d.pages[last] = append(d.pages[last], record{})
	return &d.pages[last][len(d.pages[last])-1]
}

// A history is every request of a run.
type history []*diary

// told is what the judge needs to know, by SKU from the first.
func (h history) told(p *plan) [][]ledger.Told {
	all := make([][]ledger.Told, p.SKUs)
	for k := range all {
		all[k] = []ledger.Told{} // nil would mean that nobody knows
	}
	var key []byte
	for r := range h.records {
		asked := p.purchase(r.index)
		key = p.key(key[:0], r.index, asked.sku)
		k := asked.sku - p.SKU
		told := ledger.Told{RequestID: string(key), User: asked.user, Quantity: asked.quantity, Outcome: outcomes[r.outcome],
			OrderID: r.orderID, Remaining: r.remaining, Sent: time.Duration(r.call), Answered: time.Duration(r.answered)}
		all[k] = append(all[k], told)
		if r.cancel == kept {
			continue
		}
		told.Call, told.Outcome, told.Remaining = ledger.CallCancel, ledger.OutcomeCancelled, 0
		told.Sent, told.Answered = time.Duration(r.cancelCall), time.Duration(r.back)
		if r.cancel == mayHaveBroken {
			told.Outcome = ledger.OutcomeUnknown
		}
		all[k] = append(all[k], told)
	}
	return all
}

// records ranges over the requests.
func (h history) records(yield func(*record) bool) {
	for _, d := range h {
		for _, page := range d.pages {
			for i := range page {
				if !yield(&page[i]) {
					return
				}
			}
		}
	}
}

func outcomeIndex(o ledger.Outcome) uint8 { return uint8(slices.Index(outcomes, o)) }
