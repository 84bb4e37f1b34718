package loadtest

import (
	"math"
	"slices"
	"strings"
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

// A logged call is a record, and the log that has its order's id.
type loggedCall struct {
	*record
	log *callLog
}

// bySKU sorts the calls by what they asked for, from the first SKU on.
func (h history) bySKU(p *plan) [][]loggedCall {
	counts, all := make([]int, p.SKUs), make([][]loggedCall, p.SKUs)
	skuOf := func(r *record) int {
		if p.SKUs == 1 {
			return 0
		}
		return p.skuIndex(p.original(int(r.index)))
	}
	for _, r := range h.records {
		counts[skuOf(r)]++
	}
	for k, n := range counts {
		all[k] = make([]loggedCall, 0, n)
	}
	for l, r := range h.records {
		k := skuOf(r)
		all[k] = append(all[k], loggedCall{r, l})
	}
	return all
}

// told is what the judge needs to know of the calls for one SKU.
func told(p *plan, calls []loggedCall) []ledger.Told {
	all := make([]ledger.Told, 0, len(calls)) // nil would mean: not known
	// One text holds the ids of all calls: a million small ones take half as much
	// again, and long to collect.
	var ids strings.Builder
	keep := func(id []byte) string {
		from := ids.Len()
		ids.Write(id)
		return ids.String()[from:]
	}
	var key []byte
	for i, c := range calls {
		asked := p.purchase(int(c.index))
		key = p.key(key[:0], asked.index, asked.sku)
		if i == 0 {
			ids.Grow(len(calls) * (len(key) + keyGrows))
		}
		t := ledger.Told{RequestID: keep(key), User: asked.user, Quantity: asked.quantity, Outcome: recorded[c.outcome],
			OrderID: keep(c.log.idOf(c.record)), Remaining: int64(c.remaining), Sent: time.Duration(c.sent), Answered: time.Duration(c.answered)}
		switch {
		case c.is(flagCancel):
			t.Call = ledger.CallCancel
		case c.is(flagPay):
			t.Call, t.Late, t.Early = ledger.CallPay, c.is(flagLate), c.is(flagEarly)
		}
		all = append(all, t)
	}
	return all
}

// keyGrows is by how much later keys may be longer than the first.
const keyGrows = 7

// records ranges over the calls, each with its log.
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
