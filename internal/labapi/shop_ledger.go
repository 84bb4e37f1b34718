package labapi

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// A book is the ledger of the shop's sale as it was read last. It is read whole,
// because a cancelled order changes what the others mean; all pages share one
// reading, and reading takes a fifth of the time at most.
type book struct {
	mu      sync.Mutex
	read    time.Time
	took    time.Duration
	page    ledgerPage
	orders  []ledger.Order
	holders *ledger.Holders
	err     error
}

const (
	bookPace = 400 * time.Millisecond
	// shownOrders are the latest; a page shows no more.
	shownOrders = 60
)

// A ledgerPage is what pages are told of the sale. Order ids are left out: they
// are for the buyer alone, who can cancel with them.
type ledgerPage struct {
	Run       int64 `json:"run"`
	Initial   int64 `json:"initial"`
	Sold      int64 `json:"sold"`      // Σ quantity of active orders, without
	Reserved  int64 `json:"reserved"`  // that of reservations which are not paid yet
	Orders    int   `json:"orders"`    // active ones, reservations too
	Cancelled int   `json:"cancelled"` // those whose units were given back: cancelled ones, and
	Expired   int   `json:"expired"`   // reservations that were not paid in time
	// Twice is how many units have two holders or more. Known: holders are
	// counted; not so once units were given back and may be sold again.
	Twice  int64       `json:"twice"`
	Known  bool        `json:"holders_known"`
	Latest []shopOrder `json:"latest"`          // newest first
	Yours  *shopOrder  `json:"yours,omitempty"` // the active order of the user who was asked for
}

// A shopOrder is one of the sale.
type shopOrder struct {
	Place     int    `json:"place"` // in the order of writing, from 1
	User      int64  `json:"user_id"`
	Quantity  int64  `json:"quantity"`
	Remaining int64  `json:"remaining"`
	Status    string `json:"status"`
	// Reservation is its state, if the order began as one.
	Reservation seckill.ReservationState `json:"reservation,omitempty"`
	Holders     int                      `json:"holders"` // of its units, with itself; 0: not known
	At          time.Time                `json:"at"`
}

// shopLedger answers with the sale's latest orders, and with that of one user.
func (s *Server) shopLedger(c *gin.Context) error {
	query, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return web.BadRequest("The query is not well-formed.")
	}
	user := int64(0)
	if text := query.Get("user_id"); text != "" {
		if user, err = web.ParseInteger("user_id", text, 1, web.MaxID); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), readingSale) // others want the reading, too
	defer cancel()
	s.shop.mu.Lock()
	stock := s.shop.strategy.Stock
	s.shop.mu.Unlock()
	page, err := s.shop.book.open(ctx, s.readShop, stock, user)
	if err == nil {
		c.JSON(http.StatusOK, page)
	}
	return err
}

// open is the page for a user, read anew if it is old.
func (b *book) open(ctx context.Context, read func(context.Context) (ledger.Snapshot, error), stock ledger.StockStore, user int64) (ledgerPage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if begun := time.Now(); begun.Sub(b.read) >= max(bookPace, 5*b.took) {
		snap, err := read(ctx)
		b.read, b.took, b.err = time.Now(), time.Since(begun), err
		b.write(snap, stock)
	}
	page := b.page
	for i := range b.orders {
		if o := &b.orders[i]; o.UserID == user && o.Status == ledger.Active {
			yours := b.order(i)
			page.Yours = &yours
			break
		}
	}
	return page, b.err
}

func (b *book) write(snap ledger.Snapshot, stock ledger.StockStore) {
	b.orders, b.holders = snap.Orders, ledger.HoldersOf(snap.Orders, stock)
	b.page = ledgerPage{Run: snap.Stock.Run, Initial: snap.Stock.Initial, Twice: b.holders.Twice(), Known: b.holders.Known(),
		Latest: []shopOrder{}}
	for i := range snap.Orders {
		switch o := &snap.Orders[i]; {
		case o.Status == ledger.Active && stateOf(o) == seckill.Reserved:
			b.page.Orders++
			b.page.Reserved += o.Quantity
		case o.Status == ledger.Active:
			b.page.Orders++
			b.page.Sold += o.Quantity
		case o.Status == ledger.Expired:
			b.page.Expired++
		default:
			b.page.Cancelled++
		}
	}
	for i := len(b.orders) - 1; i >= 0 && len(b.page.Latest) < shownOrders; i-- {
		b.page.Latest = append(b.page.Latest, b.order(i))
	}
}

func (b *book) order(i int) shopOrder {
	o := b.orders[i]
	return shopOrder{Place: i + 1, User: o.UserID, Quantity: o.Quantity, Remaining: o.Remaining, Status: o.Status,
		Reservation: stateOf(&o), Holders: b.holders.Of(o), At: o.CreatedAt}
}

func stateOf(o *ledger.Order) seckill.ReservationState {
	if o.Reservation == nil {
		return ""
	}
	return o.Reservation.State
}
