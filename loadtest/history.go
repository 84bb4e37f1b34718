package loadtest

import (
	"math"
	"slices"
	"time"

	"seckill/internal/ledger"
)

// A record is one call as its buyer saw it. Who they were and what they asked
// for follows from the request's index (see plan), so it holds only what came
// of it, in 32 bytes; an order's id is kept apart, because most calls have
// none.
type record struct {
	sent, answered int64  // nanoseconds since the start of the run; answered 0: no answer
	index          uint32 // of the request
	remaining      int32
	id             uint32 // where the order's id is (see diary)
	idSize         uint16
	outcome        uint8 // an index of outcomes
	flags          uint8
}

const (
	flagCancel  = 1 << iota // a cancellation; else a purchase
	flagSeveral             // its request was sent more than once
)

func (r *record) is(flag uint8) bool { return r.flags&flag != 0 }

// A diary is what one worker keeps. It grows by whole pages: a slice that
// doubled would be copied again and again, and hold twice what is in it.
type diary struct {
	pages [][]record
	ids   [][]byte
}

const (
	pageSize = 512
	idBits   = 14 // a page of ids has 16 KiB
	mostID   = math.MaxUint16
)

// next is a record that is to be filled in.
func (d *diary) next() *record {
	last := len(d.pages) - 1
	if last < 0 || len(d.pages[last]) == pageSize {
		d.pages = append(d.pages, make([]record, 0, pageSize))
		last++
	}
	d.pages[last] = append(d.pages[last], record{})
	return &d.pages[last][len(d.pages[last])-1]
}

// keep writes an order's id down for r.
func (d *diary) keep(r *record, id []byte) {
	if len(id) == 0 {
		return
	}
	id = id[:min(len(id), mostID)]
	last := len(d.ids) - 1
	if last < 0 || len(d.ids[last])+len(id) > cap(d.ids[last]) {
		d.ids = append(d.ids, make([]byte, 0, max(1<<idBits, len(id))))
		last++
	}
	r.id, r.idSize = uint32(last<<idBits|len(d.ids[last])), uint16(len(id))
	d.ids[last] = append(d.ids[last], id...)
}

func (d *diary) idOf(r *record) []byte {
	if r.idSize == 0 {
		return nil
	}
	at := r.id & (1<<idBits - 1)
	return d.ids[r.id>>idBits][at : at+uint32(r.idSize)]
}

// note writes a call down. What remains is clamped to 32 bits: no stock is
// larger, so a number beyond is wrong in any case.
func (d *diary) note(p purchase, r reply, flags uint8, sent, answered time.Duration) *record {
	if r.silent() {
		answered = 0
	}
	n := d.next()
	*n = record{index: uint32(p.index), sent: int64(sent), answered: int64(answered), outcome: outcomeIndex(r.outcome), flags: flags,
		remaining: int32(min(max(r.remaining, math.MinInt32), math.MaxInt32))}
	d.keep(n, r.orderID)
	return n
}

// A history is every call of a run.
type history []*diary

// told is what the judge needs to know, by SKU from the first.
func (h history) told(p *plan) [][]ledger.Told {
	all := make([][]ledger.Told, p.SKUs)
	for k, n := range h.perSKU(p) {
		all[k] = make([]ledger.Told, 0, n) // nil would mean that nobody knows
	}
	var key []byte
	for d, r := range h.records {
		asked := p.purchase(int(r.index))
		key = p.key(key[:0], asked.index, asked.sku)
		k := asked.sku - p.SKU
		t := ledger.Told{RequestID: string(key), User: asked.user, Quantity: asked.quantity, Outcome: recorded[r.outcome],
			OrderID: string(d.idOf(r)), Remaining: int64(r.remaining), Sent: time.Duration(r.sent), Answered: time.Duration(r.answered)}
		if r.is(flagCancel) {
			t.Call = ledger.CallCancel
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
			k = p.shelf(p.original(int(r.index)))
		}
		n[k]++
	}
	return n
}

// records ranges over the calls, each with the diary that has its order's id.
func (h history) records(yield func(*diary, *record) bool) {
	for _, d := range h {
		for _, page := range d.pages {
			for i := range page {
				if !yield(d, &page[i]) {
					return
				}
			}
		}
	}
}

func outcomeIndex(o ledger.Outcome) uint8 { return uint8(slices.Index(recorded, o)) }
