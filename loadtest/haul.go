package loadtest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// A Haul is what one worker of several brings back: what it counted, and by Calls
// what each of its buyers was told.
type Haul struct {
	Requests, Copies, Retries, Late, Dropped int
	Counts, Calls                            [12]int
	Answers                                  []Answer
	Sums                                     []ledger.Sums
	Silent                                   []bool
	Left                                     []int64
	Units                                    int64
	Cancels                                  Cancellations
	Reserved                                 Reservations
	LastSale, Last, Took                     time.Duration // since its start
	Steps                                    TwoSteps
	LastAccepted                             time.Duration
	// Histograms in their own compressed form, by name.
	Histograms map[string][]byte
	Generator  *float64 // seconds of processor time
	Cores      float64
	Bottleneck string // why the worker itself was; "": it was not
}

// histograms are those of a tally by their names in a Haul.
func (t *tally) histograms() map[string]*hdrhistogram.Histogram {
	all := map[string]*hdrhistogram.Histogram{"all": t.all, "sold": t.sold, "service": t.service, "lag": t.lag}
	if t.steps.accepted != nil {
		all["accepted"], all["ordered"] = t.steps.accepted, t.steps.ordered
	}
	return all
}

// haul takes a tally along.
func (t *tally) haul(took time.Duration) (*Haul, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := &Haul{Requests: t.requests, Copies: t.copies, Retries: t.retries, Late: t.late, Dropped: t.dropped, Counts: t.counts, Calls: t.calls,
		Sums: t.sums, Silent: t.silent, Left: t.left, Units: t.units, Cancels: t.cancels, Reserved: t.reserved, LastSale: t.lastSale, Last: t.last, Took: took,
		Steps: t.steps.TwoSteps, LastAccepted: t.steps.last, Histograms: map[string][]byte{}}
	for _, a := range t.answers {
		h.Answers = append(h.Answers, *a)
	}
	for name, one := range t.histograms() {
		data, err := one.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
		if err != nil {
			return nil, fmt.Errorf("encode the latencies: %w", err)
		}
		h.Histograms[name] = data
	}
	return h, nil
}

// add takes over what a worker counted.
func (t *tally) add(h *Haul) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(h.Sums) != len(t.sums) || len(h.Silent) != len(t.silent) || len(h.Left) != len(t.left) {
		return fmt.Errorf("it counted %d SKUs, and there are %d", len(h.Sums), len(t.sums))
	}
	for name, one := range t.histograms() {
		if len(h.Histograms[name]) == 0 {
			return fmt.Errorf("the latencies %q are missing", name)
		}
		other, err := hdrhistogram.Decode(h.Histograms[name])
		if err != nil {
			return fmt.Errorf("the latencies %q: %w", name, err)
		}
		one.Merge(other)
	}
	t.requests, t.copies, t.retries = t.requests+h.Requests, t.copies+h.Copies, t.retries+h.Retries
	t.late, t.dropped, t.units = t.late+h.Late, t.dropped+h.Dropped, t.units+h.Units
	for i := range t.counts {
		t.counts[i] += h.Counts[i]
		t.calls[i] += h.Calls[i]
	}
	for _, a := range h.Answers {
		if known := t.answers[a.Code]; known != nil {
			known.Count += a.Count
		} else {
			t.answers[a.Code] = &a
		}
	}
	for k := range t.sums {
		t.sums[k] = addSums(t.sums[k], h.Sums[k])
		t.silent[k] = t.silent[k] || h.Silent[k]
		t.left[k] = min(t.left[k], h.Left[k])
	}
	c, r := &t.cancels, &t.reserved
	c.Done, c.Refused, c.Unknown, c.Retries = c.Done+h.Cancels.Done, c.Refused+h.Cancels.Refused, c.Unknown+h.Cancels.Unknown, c.Retries+h.Cancels.Retries
	r.Paid, r.Forgotten, r.Late = r.Paid+h.Reserved.Paid, r.Forgotten+h.Reserved.Forgotten, r.Late+h.Reserved.Late
	r.Expired, r.Refused, r.Unknown, r.Retries = r.Expired+h.Reserved.Expired, r.Refused+h.Reserved.Refused, r.Unknown+h.Reserved.Unknown, r.Retries+h.Reserved.Retries
	t.lastSale, t.last = max(t.lastSale, h.LastSale), max(t.last, h.Last)
	s := &t.steps
	s.Accepted, s.Ordered, s.Refused, s.Open = s.Accepted+h.Steps.Accepted, s.Ordered+h.Steps.Ordered, s.Refused+h.Steps.Refused, s.Open+h.Steps.Open
	s.last = max(s.last, h.LastAccepted)
	return nil
}

// addSums adds up what two workers were told of one SKU.
func addSums(a, b ledger.Sums) ledger.Sums {
	least := func(x, y int64) int64 {
		if x == 0 || y == 0 {
			return max(x, y)
		}
		return min(x, y)
	}
	return ledger.Sums{Requests: a.Requests + b.Requests, Wanted: least(a.Wanted, b.Wanted), Sold: a.Sold + b.Sold, Unknown: a.Unknown + b.Unknown,
		Cancelled: a.Cancelled + b.Cancelled, MaybeCancelled: a.MaybeCancelled + b.MaybeCancelled, Accepted: a.Accepted + b.Accepted,
		SoldOut: least(a.SoldOut, b.SoldOut)}
}

// unheard counts a request whose worker was lost: it may have been sent, and may
// have bought.
func (t *tally) unheard(p purchase) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests++
	t.counts[outcomeIndex(ledger.OutcomeUnknown)]++
	s := &t.sums[p.sku-t.firstSKU]
	s.Requests++
	s.Unknown += p.quantity
	if s.Wanted == 0 || p.quantity < s.Wanted {
		s.Wanted = p.quantity
	}
}

// packed is about how many bytes of calls go into one message.
const packed = 1 << 20

// pack writes the calls as bytes, several at a time: for each, as varints, the
// request, when it was sent and answered, what remained, the outcome, the flags, and
// the order's id with its length.
func (h history) pack(send func([]byte) error) error {
	var b []byte
	for l, r := range h.records {
		id := l.idOf(r)
		b = binary.AppendUvarint(b, uint64(r.index))
		b = binary.AppendUvarint(b, uint64(r.sent))
		b = binary.AppendUvarint(b, uint64(r.answered))
		b = binary.AppendVarint(b, int64(r.remaining))
		b = append(b, r.outcome, r.flags)
		b = binary.AppendUvarint(b, uint64(len(id)))
		b = append(b, id...)
		if len(b) >= packed {
			if err := send(b); err != nil {
				return err
			}
			b = b[:0]
		}
	}
	if len(b) == 0 {
		return nil
	}
	return send(b)
}

var errPacked = errors.New("what its buyers were told cannot be read")

// unpack adds packed calls. A worker's clock started between two moments of ours,
// so what it saw sent was sent at the earliest that much after the first of them, and
// what it saw answered was answered at the latest that much after the second.
func (l *callLog) unpack(b []byte, requests int, earliest, latest time.Duration) error {
	number := func() (x uint64, ok bool) {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, false
		}
		b = b[n:]
		return x, true
	}
	const longest = uint64(math.MaxInt64 / 4) // nanoseconds: no sum of two is too large
	for len(b) > 0 {
		index, ok1 := number()
		sent, ok2 := number()
		answered, ok3 := number()
		remaining, n := binary.Varint(b)
		if !ok1 || !ok2 || !ok3 || n <= 0 || len(b) < n+2 {
			return errPacked
		}
		outcome, flags := b[n], b[n+1]
		b = b[n+2:]
		size, ok := number()
		if !ok || size > mostID || uint64(len(b)) < size || index >= uint64(requests) || sent > longest || answered > longest ||
			int(outcome) >= len(recorded) || remaining < math.MinInt32 || remaining > math.MaxInt32 {
			return errPacked
		}
		r := l.next()
		*r = record{index: uint32(index), sent: int64(sent) + int64(earliest), remaining: int32(remaining), outcome: outcome, flags: flags}
		if answered > 0 {
			r.answered = int64(answered) + int64(latest)
		}
		l.keep(r, b[:size])
		b = b[size:]
	}
	return nil
}

// unheard records a request whose worker was lost as calls without an answer.
func (l *callLog) unheard(p purchase, sent time.Duration, reserves bool) {
	silent := adapter.Reply{Outcome: ledger.OutcomeUnknown}
	note := func(flags uint8) {
		r := l.next()
		*r = record{index: uint32(p.index), sent: int64(max(sent, 1)), outcome: outcomeIndex(silent.Outcome), flags: flags | flagSeveral}
	}
	note(0)
	if p.cancels {
		note(flagCancel)
	} else if reserves && !p.forgets {
		note(flagPay)
	}
}
