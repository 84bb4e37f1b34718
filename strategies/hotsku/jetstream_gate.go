package hotsku

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A jetGate is a SKU's stream, one for each run: a message is a purchase that
// may go to the row. A purchase of several units is one message, too: no
// publish of several is atomic here, and the row counts the units. A new run
// has a new subject, so no stream takes the message of a late buyer.
type jetGate struct {
	nats   *backend.JetStreamClient
	store  *ledger.Store
	deps   catalog.Deps
	sales  jetSales
	tidies sync.Mutex // one buyer of a process is enough
}

func newJetGate(d catalog.Deps) *jetGate {
	return &jetGate{nats: d.JetStream, store: d.Ledger, deps: d,
		sales: jetSales{of: map[int64]jetSale{}}}
}

// A jetSale names the stream of one run.
type jetSale struct {
	database string // whose run it is
	sku, run int64
}

func (s jetSale) stream() string {
	return fmt.Sprintf("seckill-%s-%d-%d", s.database, s.sku, s.run)
}

func (s jetSale) subject() string { return s.of(strconv.FormatInt(s.run, 10)) }

func (s jetSale) of(run string) string {
	return fmt.Sprintf("seckill.stock.%s.%d.%s", s.database, s.sku, run)
}

// A jetPlace is a purchase's message.
type jetPlace struct {
	jetSale
	backend.Ack
}

// A jetClaim is what a message says.
type jetClaim struct {
	User    int64     `json:"user"`
	Request string    `json:"request"`
	At      time.Time `json:"at"` // by the clock of its process
}

func jetClaimOf(p seckill.Purchase, now time.Time) []byte {
	data, _ := json.Marshal(jetClaim{p.User, p.RequestID, now})
	return data
}

// jetID is known again by the stream, while its window lasts: a copy of a
// request finds the first one's message, and takes no second place.
func jetID(p seckill.Purchase) string {
	return fmt.Sprint(p.User, " ", p.RequestID)
}

// jetSales are the runs that this process sells. One that is out of date is
// noticed: its stream is gone, or the row refuses it.
type jetSales struct {
	mu sync.Mutex
	of map[int64]jetSale
}

func (s *jetSales) known(sku int64) (jetSale, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sale, ok := s.of[sku]
	return sale, ok
}

func (s *jetSales) set(sale jetSale) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[sale.sku] = sale
}

func (s *jetSales) forget(sku, run int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[sku].run == run {
		delete(s.of, sku)
	}
}

// sale is the run to sell from; it may be an earlier one than the row's.
func (s *jetGate) sale(ctx context.Context, sku int64) (jetSale, error) {
	if sale, ok := s.sales.known(sku); ok {
		return sale, nil
	}
	sale, _, err := s.current(ctx, sku)
	return sale, err
}

func (s *jetGate) current(
	ctx context.Context, sku int64,
) (sale jetSale, initial int64, err error) {
	var set struct{ Run, Initial int64 }
	err = s.store.Read(ctx, &set,
		"SELECT run, initial FROM stock WHERE id = ?", sku)
	if err != nil {
		return sale, 0, err
	}
	id, err := s.store.Identity(ctx)
	if err != nil {
		return sale, 0, err
	}
	sale = jetSale{id, sku, set.Run}
	s.sales.set(sale)
	return sale, set.Initial, nil
}

// make makes the stream of the row's run, unless it is there. One that NATS
// has lost is empty again: the row knows what was sold.
func (s *jetGate) make(ctx context.Context, sku int64) error {
	sale, initial, err := s.current(ctx, sku)
	if err != nil {
		return err
	}
	return jetDown(s.nats.CreateStream(ctx, backend.Stream{
		Name: sale.stream(), Subject: sale.subject(),
		PerSubject: max(1, initial), // 0 would be: as many as come
	}))
}

// Reset makes the stream of the run that the ledger has set, and removes those
// of earlier ones. A reset that was overtaken leaves one behind, for the next.
func (s *jetGate) Reset(ctx context.Context, sku, _ int64) error {
	if err := s.make(ctx, sku); err != nil {
		return err
	}
	sale, err := s.sale(ctx, sku)
	if err != nil {
		return err
	}
	names, err := s.nats.Streams(ctx, sale.of("*"))
	if err != nil {
		return jetDown(err)
	}
	for _, name := range names {
		text := name[strings.LastIndexByte(name, '-')+1:]
		if run, err := strconv.ParseInt(text, 10, 64); err != nil ||
			run >= sale.run {
			continue
		}
		if err := s.nats.DeleteStream(ctx, name); err != nil {
			return jetDown(err)
		}
	}
	return nil
}

// leave deletes the message of a purchase that was refused. A copy of a
// request leaves the first one's alone. What fails here is tidied up later.
func (s *jetGate) leave(ctx context.Context, place jetPlace) {
	if place.Duplicate {
		return
	}
	ctx, cancel := jetAfter(ctx)
	defer cancel()
	err := s.nats.Delete(ctx, place.stream(), place.Seq)
	if err != nil {
		s.deps.Log.WarnContext(ctx, "a message stays in the stream",
			"stream", place.stream(), "sequence", place.Seq, "error", err)
	}
}

// remove deletes the message of a cancelled order.
func (s *jetGate) remove(ctx context.Context, o ledger.Order) {
	ctx, cancel := jetAfter(ctx)
	defer cancel()
	id, err := s.store.Identity(ctx)
	sale := jetSale{id, o.SKUID, o.Run}
	wanted := jetID(seckill.Purchase{User: o.UserID, RequestID: o.RequestID})
	for from := uint64(1); err == nil; {
		var page []backend.StreamMessage
		page, err = s.nats.Messages(ctx, sale.stream(), from, jetPage)
		if len(page) == 0 {
			break
		}
		for _, m := range page {
			if m.ID == wanted {
				err = s.nats.Delete(ctx, sale.stream(), m.Seq)
			}
			from = m.Seq + 1
		}
	}
	if err != nil {
		s.deps.Log.WarnContext(ctx, "a cancelled order's message stays",
			"stream", sale.stream(), "order", o.PublicID, "error", err)
	}
}

// jetPage is how many messages are read at a time.
const jetPage = 256

// tidy deletes messages that have been there for a lease and have no active
// order: their buyers died, or their orders were cancelled. It is safe at any
// time, also while such a purchase still runs: the row decides about it.
func (s *jetGate) tidy(
	ctx context.Context, sale jetSale,
) (freed bool, err error) {
	if !s.tidies.TryLock() {
		return false, nil
	}
	defer s.tidies.Unlock()
	before := s.deps.Now().Add(-s.deps.Settings.LockLease)
	for from := uint64(1); ; {
		page, err := s.nats.Messages(ctx, sale.stream(), from, jetPage)
		if err != nil || len(page) == 0 {
			return freed, jetDown(err)
		}
		from = page[len(page)-1].Seq + 1
		old := map[string]uint64{}
		var requests []string
		for _, m := range page {
			var c jetClaim
			if json.Unmarshal(m.Data, &c) == nil && c.At.Before(before) {
				old[m.ID] = m.Seq
				requests = append(requests, c.Request)
			}
		}
		if len(old) == 0 {
			return freed, nil // those after it are younger
		}
		if err := s.spare(ctx, sale, requests, old); err != nil {
			return freed, err
		}
		for _, seq := range old {
			if err := s.nats.Delete(ctx, sale.stream(), seq); err != nil {
				return freed, jetDown(err)
			}
			freed = true
		}
	}
}

// spare takes the messages that have an active order out of old.
func (s *jetGate) spare(
	ctx context.Context, sale jetSale, requests []string,
	old map[string]uint64,
) error {
	var orders []ledger.Order
	err := s.store.DB(ctx).Raw("SELECT user_id, request_id FROM orders "+
		"WHERE sku_id = ? AND run = ? AND status = ? AND request_id IN ?",
		sale.sku, sale.run, ledger.Active, requests).Scan(&orders).Error
	if err != nil {
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	for _, o := range orders {
		delete(old, jetID(seckill.Purchase{User: o.UserID,
			RequestID: o.RequestID}))
	}
	return nil
}

// jetDown is said before the row is touched, so nothing was taken.
func jetDown(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: NATS JetStream: %w", seckill.ErrUnavailable, err)
}

// jetAfter is for what a buyer leaves to be done.
func jetAfter(ctx context.Context) (context.Context, context.CancelFunc) {
	return tap.WithTimeout(context.WithoutCancel(ctx), afterwards)
}
