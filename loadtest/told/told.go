// Package told reads what a load generator of any kind recorded of a sale: what
// was set, and what each call was told. seckill judge compares it with the ledger.
package told

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A Sale is one SKU's sale as a load generator recorded it.
type Sale struct {
	SKU      int64
	Stock    int64  // that was set
	Run      int64  // 0: the ledger's current one
	Strategy string // "": not said
	Told     []ledger.Told
	Began    time.Time // what the times of Told count from; zero: no call has a time
}

const longestLine = 64 << 10

// Read reads what buyers were told: JSON lines, the first of which says what
// was set for the run, {"sku_id","stock","run","strategy"} (the last two may be
// left out), each other one call:
//
//	{"call":"buy|cancel|pay","request_id","user_id","sku_id","quantity","outcome",
//	 "order_id","remaining","sent_at","answered_at"}
//
// call is buy if it is left out, sku_id the one that was set. Times are RFC 3339
// with as many digits as there are; both may be left out. A purchase has
// request_id, user_id and quantity, a sale order_id and remaining besides; a
// cancellation and a payment have user_id, and order_id or request_id. A purchase
// that is told "reserved" is paid by a call to pay that is told "sold". A sale of several SKUs
// has a line that sets each, before its calls. Errors name the line.
func Read(r io.Reader) ([]*Sale, error) { return read(r, true) }

// ReadForTotals is Read for books that are totals: order_id and remaining
// of a sale may be left out, as no order is compared with them.
func ReadForTotals(r io.Reader) ([]*Sale, error) { return read(r, false) }

func read(r io.Reader, receipts bool) ([]*Sale, error) {
	f := file{receipts: receipts}
	lines := bufio.NewReaderSize(r, longestLine)
	for n := 1; ; n++ {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, fmt.Errorf("line %d is longer than %d bytes", n, longestLine)
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("read what buyers were told, line %d: %w", n, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := f.line(line); err != nil {
				return nil, fmt.Errorf("line %d: %s", n, short(err.Error()))
			}
		}
		if err == io.EOF {
			break
		}
	}
	if len(f.sales) == 0 {
		return nil, errors.New(`there is no line at all: the first says what was set, such as {"sku_id":1,"stock":100}`)
	}
	f.count()
	return f.sales, nil
}

// short cuts an error that quotes what the file says: a line may be long.
func short(text string) string {
	const most = 300 // characters
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// A line is any line; pointers tell what is there.
type line struct {
	SKU      *int64 `json:"sku_id"`
	Stock    *int64 `json:"stock"`
	Run      *int64 `json:"run"`
	Strategy string `json:"strategy"`

	Call      ledger.Call    `json:"call"`
	RequestID string         `json:"request_id"`
	User      *int64         `json:"user_id"`
	Quantity  *int64         `json:"quantity"`
	Outcome   ledger.Outcome `json:"outcome"`
	OrderID   string         `json:"order_id"`
	Remaining *int64         `json:"remaining"`
	Sent      *time.Time     `json:"sent_at"`
	Answered  *time.Time     `json:"answered_at"`
}

type file struct {
	sales    []*Sale
	receipts bool // a sale must have its order and what remained
}

// Kept once, however many lines name them.
var (
	calls    = []ledger.Call{ledger.CallBuy, ledger.CallCancel, ledger.CallPay}
	outcomes = []ledger.Outcome{ledger.OutcomeSold, ledger.OutcomeReserved, ledger.OutcomeSoldOut, ledger.OutcomeBusy, ledger.OutcomeDuplicate,
		ledger.OutcomeConflict, ledger.OutcomeInProgress, ledger.OutcomeAccepted, ledger.OutcomeExpired, ledger.OutcomeCancelled,
		ledger.OutcomeUnknown, ledger.OutcomeError}
)

func (f *file) line(text []byte) error {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return fmt.Errorf("%w (want one JSON object a line; times as 2026-11-11T00:00:00.123Z)", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("there is text after the JSON object: one object a line")
	}
	if l.Stock != nil {
		return f.set(l)
	}
	if len(f.sales) == 0 {
		return errors.New(`the first line must say what was set, such as {"sku_id":1,"stock":100}; it has no "stock"`)
	}
	return f.call(l)
}

func (f *file) set(l line) error {
	s := &Sale{Stock: *l.Stock, Strategy: l.Strategy, Told: []ledger.Told{}}
	switch {
	case l.SKU == nil || *l.SKU < 1:
		return errors.New(`"sku_id" must be a number from 1`)
	case *l.Stock < 0:
		return errors.New(`"stock" must not be negative`)
	case *l.Stock > seckill.MaxStock:
		return fmt.Errorf(`"stock" must be at most %d`, seckill.MaxStock)
	case l.Run != nil && *l.Run < 1:
		return errors.New(`"run" must be a number from 1, or be left out`)
	case l.User != nil || l.Outcome != "" || l.Call != "":
		return errors.New(`a line with "stock" says what was set, and has nothing of a call`)
	case f.sale(*l.SKU) != nil:
		return fmt.Errorf("SKU %d was set by an earlier line: a file is about one run of each", *l.SKU)
	}
	if s.SKU = *l.SKU; l.Run != nil {
		s.Run = *l.Run
	}
	f.sales = append(f.sales, s)
	return nil
}

func (f *file) sale(sku int64) *Sale {
	for _, s := range f.sales {
		if s.SKU == sku {
			return s
		}
	}
	return nil
}

func (f *file) call(l line) error {
	sale := f.sales[0]
	if l.SKU != nil {
		sale = f.sale(*l.SKU)
	} else if len(f.sales) > 1 {
		return errors.New(`"sku_id" is missing, and several SKUs were set`)
	}
	call := slices.Index(calls, l.Call)
	if l.Call == "" {
		call = 0
	}
	outcome := slices.Index(outcomes, l.Outcome)
	switch buys := call == 0; {
	case sale == nil:
		return fmt.Errorf("no line before says what was set for SKU %d", *l.SKU)
	case l.Run != nil || l.Strategy != "":
		return errors.New(`"run" and "strategy" belong into the line that says what was set`)
	case call < 0:
		return fmt.Errorf(`"call" is %q: there are buy, cancel and pay`, l.Call)
	case outcome < 0:
		return fmt.Errorf(`"outcome" is %q: there are %v`, l.Outcome, outcomes)
	case l.User == nil:
		return errors.New(`"user_id" is missing`)
	case buys && l.RequestID == "":
		return errors.New(`"request_id" is missing: the Idempotency-Key of the purchase`)
	case buys && (l.Quantity == nil || *l.Quantity < 1):
		return errors.New(`"quantity" must be a number from 1`)
	case l.Quantity != nil && (*l.Quantity < 0 || *l.Quantity > seckill.MaxQuantity):
		return fmt.Errorf(`"quantity" must be from 0 to %d`, seckill.MaxQuantity)
	case l.Remaining != nil && (*l.Remaining < -seckill.MaxStock || *l.Remaining > seckill.MaxStock):
		return fmt.Errorf(`"remaining" must be from -%[1]d to %[1]d`, seckill.MaxStock)
	case !counts(l.Sent) || !counts(l.Answered):
		return errors.New(`"sent_at" and "answered_at" must be of the years 1970 to 2200`)
	case buys && l.Outcome == ledger.OutcomeCancelled:
		return errors.New(`a purchase is not told "cancelled": say "call":"cancel"`)
	case calls[call] == ledger.CallCancel && l.Outcome == ledger.OutcomeSold, !buys && l.Outcome == ledger.OutcomeReserved:
		return fmt.Errorf(`a call to %s is not told %q`, l.Call, l.Outcome)
	case buys && f.receipts && (l.Outcome == ledger.OutcomeSold || l.Outcome == ledger.OutcomeReserved) && (l.OrderID == "" || l.Remaining == nil):
		return errors.New(`a sale needs "order_id" and "remaining", as they were told`)
	case !buys && l.OrderID == "" && l.RequestID == "":
		return fmt.Errorf(`a call to %s needs the "order_id", or the "request_id" of the purchase`, l.Call)
	case l.Answered != nil && l.Sent == nil:
		return errors.New(`"answered_at" without "sent_at"`)
	case l.Answered != nil && l.Answered.Before(*l.Sent):
		return errors.New(`"answered_at" is before "sent_at"`)
	}
	t := ledger.Told{Call: calls[call], RequestID: l.RequestID, User: *l.User, Outcome: outcomes[outcome], OrderID: l.OrderID}
	if l.Quantity != nil {
		t.Quantity = *l.Quantity
	}
	if l.Remaining != nil {
		t.Remaining = *l.Remaining
	}
	if l.Sent != nil { // since 1970 for now
		t.Sent = time.Duration(l.Sent.UnixNano())
		if l.Answered != nil {
			t.Answered = time.Duration(l.Answered.UnixNano())
		}
	}
	sale.Told = append(sale.Told, t)
	return nil
}

// counts reports whether a time fits into 64 bits of nanoseconds; nil does.
func counts(t *time.Time) bool { return t == nil || t.UTC().Year() >= 1970 && t.UTC().Year() <= 2200 }

// count has all times count from a moment before the first call of the file.
func (f *file) count() {
	first := time.Duration(math.MaxInt64)
	for _, s := range f.sales {
		for _, t := range s.Told {
			if t.Sent != 0 {
				first = min(first, t.Sent)
			}
		}
	}
	if first == math.MaxInt64 {
		return
	}
	first -= time.Microsecond // 0 means: not known
	for _, s := range f.sales {
		s.Began = time.Unix(0, int64(first))
		for i := range s.Told {
			if t := &s.Told[i]; t.Sent != 0 {
				if t.Sent -= first; t.Answered != 0 {
					t.Answered -= first
				}
			}
		}
	}
}
