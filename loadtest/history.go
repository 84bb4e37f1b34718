package loadtest

import (
	"math"
	"slices"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// A record is one call as its buyer saw it, in 32 bytes. Who the buyer is and
// what they asked for follows from the request's index (see plan); order ids are
// kept apart, because most calls have none.
type record struct {
	sent, answered int64  // nanoseconds since the start of the run; answered 0: no answer
	index          uint32 // of the request
	remaining      int32
	id             uint32 // where the order's id is (see callLog)
	idSize         uint16
	outcome        uint8 // an index of recorded
	flags          uint8
}

const (
	flagCancel  = 1 << iota // a cancellation; else a purchase
	flagSeveral             // its request was sent more than once
	flagPay                 // a payment
	flagLate                // … sent after the deadline
	flagEarly               // … told expired before it
)

func (r *record) is(flag uint8) bool { return r.flags&flag != 0 }

// A callLog is the calls of one worker. It grows by whole pages: a slice that
// doubles is copied again and again, and holds twice what is in it.
type callLog struct {
	pages [][]record
	ids   [][]byte
}

const (
	pageSize = 512
	idBits   = 14 // a page of ids has 16 KiB
	mostID   = math.MaxUint16
)

// next returns a record to fill in.
func (l *callLog) next() *record {
	last := len(l.pages) - 1
	if last < 0 || len(l.pages[last]) == pageSize {
		l.pages = append(l.pages, make([]record, 0, pageSize))
		last++
	}
	l.pages[last] = append(l.pages[last], record{})
	return &l.pages[last][len(l.pages[last])-1]
}

// keep stores the order's id of r.
func (l *callLog) keep(r *record, id []byte) {
	if len(id) == 0 {
		return
	}
	id = id[:min(len(id), mostID)]
	last := len(l.ids) - 1
	if last < 0 || len(l.ids[last])+len(id) > cap(l.ids[last]) {
		l.ids = append(l.ids, make([]byte, 0, max(1<<idBits, len(id))))
		last++
	}
	r.id, r.idSize = uint32(last<<idBits|len(l.ids[last])), uint16(len(id))
	l.ids[last] = append(l.ids[last], id...)
}

func (l *callLog) idOf(r *record) []byte {
	if r.idSize == 0 {
		return nil
	}
	at := r.id & (1<<idBits - 1)
	return l.ids[r.id>>idBits][at : at+uint32(r.idSize)]
}

// add records a call. Remaining is clamped to 32 bits: no stock is larger, so
// what is beyond is wrong anyway.
func (l *callLog) add(p purchase, r adapter.Reply, flags uint8, sent, answered time.Duration) *record {
	if r.Silent() {
		answered = 0
	}
	n := l.next()
	*n = record{index: uint32(p.index), sent: int64(sent), answered: int64(answered), outcome: outcomeIndex(r.Outcome), flags: flags,
		remaining: int32(min(max(r.Remaining, math.MinInt32), math.MaxInt32))}
	l.keep(n, r.OrderID)
	return n
}

// A history is every call of a run.
type history []*callLog

// told is what the judge needs to know, by SKU from the first.
func (h history) told(p *plan) [][]ledger.Told {
	all := make([][]ledger.Told, p.SKUs)
	for k, n := range h.perSKU(p) {
		all[k] = make([]ledger.Told, 0, n) // nil would mean: not known
	}
	var key []byte
	for l, r := range h.records {
		asked := p.purchase(int(r.index))
		key = p.key(key[:0], asked.index, asked.sku)
		k := asked.sku - p.SKU
		t := ledger.Told{RequestID: string(key), User: asked.user, Quantity: asked.quantity, Outcome: recorded[r.outcome],
			OrderID: string(l.idOf(r)), Remaining: int64(r.remaining), Sent: time.Duration(r.sent), Answered: time.Duration(r.answered)}
		switch {
		case r.is(flagCancel):
			t.Call = ledger.CallCancel
		case r.is(flagPay):
			t.Call, t.Late, t.Early = ledger.CallPay, r.is(flagLate), r.is(flagEarly)
		}
		all[k] = append(all[k], t)
	}
	return all
}

// perSKU counts the calls of each SKU.
func (h history) perSKU(p *plan) []int {
	n := make([]int, p.SKUs)
	for _, r := range h.records {
		k := 0
		if p.SKUs > 1 {
			k = p.skuIndex(p.original(int(r.index)))
		}
		n[k]++
	}
	return n
}

// records ranges over the calls, each with the log that has its order's id.
func (h history) records(yield func(*callLog, *record) bool) {
	for _, l := range h {
		for _, page := range l.pages {
			for i := range page {
				if !yield(l, &page[i]) {
					return
				}
			}
		}
	}
}

// recorded is what a record may hold: the outcomes of purchases, and those of
// cancellations and payments.
var recorded = append(slices.Clone(adapter.Outcomes), ledger.OutcomeCancelled, ledger.OutcomeExpired)

func outcomeIndex(o ledger.Outcome) uint8 { return uint8(slices.Index(recorded, o)) }
