package labapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/internal/seckill"
	"seckill/internal/web"
	"seckill/loadtest"
)

// A shop is what all buyers' pages must agree on. Stock and start belong to the
// SKU, and so to the service.
type shop struct {
	mu       sync.Mutex
	strategy catalog.Info
	rivals   *runEntry // the last that were sent; nil: none
	joined   int64     // the run of the SKU that they joined

	book book
}

func (s *Server) showShop(c *gin.Context) {
	s.shop.mu.Lock()
	defer s.shop.mu.Unlock()
	s.answerShop(c)
}

// answerShop is called with shop.mu locked.
func (s *Server) answerShop(c *gin.Context) {
	info := s.shop.strategy
	c.JSON(http.StatusOK, gin.H{"now": time.Now(), "rivals": s.lastRivals(), "joined": s.shop.joined, "sku_id": loadtest.ShopSKU, "strategy": info.Name,
		"stock": countedIn(info), "reserves": info.Reserves})
}

// countedIn is where the number of units that buyers see is kept.
func countedIn(i catalog.Info) ledger.StockStore {
	if i.Stock == ledger.InRowAndRedis || i.Stock == ledger.InStream {
		return ledger.InRow
	}
	return i.Stock
}

// setShop changes the strategy of future purchases. The SKU must be reset
// afterwards: a sale from two stock stores at once cannot be judged. Rivals would go
// on in the next sale, so it does not while they are on.
func (s *Server) setShop(c *gin.Context) error {
	var body struct {
		Strategy string `json:"strategy"`
	}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	p := web.BadRequest("")
	info := s.findStrategy("strategy", body.Strategy, p)
	if err := anyWrong(p); err != nil {
		return err
	}
	s.shop.mu.Lock()
	defer s.shop.mu.Unlock()
	if r := s.lastRivals(); r != nil && !r.State.Ended() {
		return &web.Problem{Code: "run_in_progress", Status: http.StatusConflict, Detail: fmt.Sprintf(
			"There are %s on. Stop them, or wait for their end.", measure.Count(r.Settings.Buyers, "rival"))}
	}
	s.shop.strategy = info
	s.answerShop(c)
	return nil
}

// Rivals are the buyers of a run that joins the shop's sale: they want the same
// units, from the same stock, as the visitors who press its button. Everything else
// of their run is like any other's: progress, end, verdict, history.
const (
	usualRivals = 2000
	leastRivals = 100
	mostRivals  = 5000

	// usualNotice is how long after they were sent rivals come, so that a visitor can
	// get ready.
	usualNotice = 3 * time.Second
	readingSale = 3 * time.Second
)

// startRivals sends them: soon, or at the start of the sale.
func (s *Server) startRivals(c *gin.Context) error {
	body := struct {
		Buyers int `json:"buyers"`
	}{usualRivals}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	buyers, p := body.Buyers, web.BadRequest("")
	if err := web.Within("buyers", int64(buyers), leastRivals, mostRivals); err != nil {
		return err
	}
	sale, err := s.shopSale(c.Request.Context())
	if err != nil {
		return err
	}
	comes := time.Now().Add(s.notice)
	if sale.StartsAt != nil && sale.StartsAt.Time().After(comes) {
		comes = sale.StartsAt.Time()
	}
	s.shop.mu.Lock()
	defer s.shop.mu.Unlock()
	info := s.shop.strategy
	if s.findStrategy("strategy", info.Name, p); p.Errors != nil {
		return p
	}
	wanted := Settings{Strategies: []string{info.Name}, Scenario: defaultScenario(), ServiceSettings: s.Lab.ServiceSettings()}
	wanted.Stock, wanted.Buyers = sale.Initial, buyers
	e, err := s.beginRun(c, wanted, measure.Count(buyers, "rival"), func(r *Run) {
		r.Shop, r.ComesAt = true, comes
		r.Lanes[0].SKU, r.Lanes[0].Command = loadtest.ShopSKU, "" // no command joins a sale
	})
	if err == nil {
		s.shop.rivals, s.shop.joined = e, sale.Run
	}
	return err
}

// shopSale is the stock row of the shop, if there is anything to be sold and a
// service process that sells it.
func (s *Server) shopSale(ctx context.Context) (ledger.Stock, error) {
	if len(s.liveServices()) == 0 {
		return ledger.Stock{}, noService
	}
	ctx, cancel := context.WithTimeout(ctx, readingSale)
	defer cancel()
	snap, err := s.readShop(ctx)
	if err == nil && snap.Stock.Initial < 1 {
		err = nothingOnSale
	}
	return snap.Stock, err
}

// readShop reads the ledger's whole account of the sale.
func (s *Server) readShop(ctx context.Context) (ledger.Snapshot, error) {
	if s.Ledger == nil {
		return ledger.Snapshot{}, noLedger
	}
	snap, err := s.Ledger.Snapshot(ctx, loadtest.ShopSKU)
	switch {
	case errors.Is(err, seckill.ErrUnknownSKU):
		err = nothingOnSale
	case err != nil:
		s.Log.Warn("the ledger of the shop cannot be read", "error", err)
		err = noLedger
	}
	return snap, err
}

var (
	nothingOnSale = &web.Problem{Code: "nothing_on_sale", Status: http.StatusConflict,
		Detail: "The shop has nothing on sale: start a sale first."}
	noLedger = &web.Problem{Code: "ledger_unavailable", Status: http.StatusServiceUnavailable,
		Detail: "The ledger's database does not answer. The lab's status says what runs."}
)

// lastRivals of this lab; nil: there were none. The caller holds shop.mu.
func (s *Server) lastRivals() *Run {
	if s.shop.rivals == nil {
		return nil
	}
	r := s.runs.readEntry(s.shop.rivals).summary()
	return &r
}

// A book is the ledger of the shop's sale as it was read last. It is read whole,
// because a cancelled order changes what the others mean; all pages share one
// reading.
type book struct {
	mu      sync.Mutex
	read    time.Time
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
	Run      int64 `json:"run"`
	Initial  int64 `json:"initial"`
	Sold     int64 `json:"sold"`     // Σ quantity of active orders, without
	Reserved int64 `json:"reserved"` // that of reservations which are not paid yet
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
	query, err := web.ReadQuery(c.Request, "user_id")
	if err != nil {
		return err
	}
	user, err := web.QueryInteger(query, "user_id", 0, 1, web.MaxID)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), readingSale) // others want the reading, too
	defer cancel()
	s.shop.mu.Lock()
	stock := s.shop.strategy.Stock
	s.shop.mu.Unlock()
	page, err := s.shop.book.readPage(ctx, s.readShop, stock, user)
	if err == nil {
		c.JSON(http.StatusOK, page)
	}
	return err
}

// readPage is the page for a user, read anew if it is old.
func (b *book) readPage(ctx context.Context, read func(context.Context) (ledger.Snapshot, error), stock ledger.StockStore, user int64) (ledgerPage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.read) >= bookPace {
		snap, err := read(ctx)
		b.read, b.err = time.Now(), err
		b.writeSnapshot(snap, stock)
	}
	page := b.page
	if i := slices.IndexFunc(b.orders, func(o ledger.Order) bool { return o.UserID == user && o.Status == ledger.Active }); i >= 0 {
		yours := b.orderAt(i)
		page.Yours = &yours
	}
	return page, b.err
}

func (b *book) writeSnapshot(snap ledger.Snapshot, stock ledger.StockStore) {
	b.orders, b.holders = snap.Orders, ledger.HoldersOf(snap.Orders, stock)
	b.page = ledgerPage{Run: snap.Stock.Run, Initial: snap.Stock.Initial, Twice: b.holders.Twice(), Known: b.holders.Known(), Latest: []shopOrder{}}
	for _, o := range snap.Orders {
		switch {
		case o.Status != ledger.Active:
		case o.Reservation != nil && o.Reservation.State == seckill.Reserved:
			b.page.Reserved += o.Quantity
		default:
			b.page.Sold += o.Quantity
		}
	}
	for i := len(b.orders) - 1; i >= 0 && len(b.page.Latest) < shownOrders; i-- {
		b.page.Latest = append(b.page.Latest, b.orderAt(i))
	}
}

func (b *book) orderAt(i int) shopOrder {
	o := b.orders[i]
	shown := shopOrder{Place: i + 1, User: o.UserID, Quantity: o.Quantity, Remaining: o.Remaining, Status: o.Status, Holders: b.holders.Of(o), At: o.CreatedAt}
	if o.Reservation != nil {
		shown.Reservation = o.Reservation.State
	}
	return shown
}
