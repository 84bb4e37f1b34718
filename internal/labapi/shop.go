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
	"seckill/internal/judge"
	"seckill/internal/seckill"
	"seckill/internal/tables"
	"seckill/internal/web"
)

// A shop holds the part of the shop's state that the lab keeps for all pages. The service keeps the stock and the time
// of the sale's start.
type shop struct {
	mu       sync.Mutex
	strategy catalog.Info
	// rivals is the latest run of rivals, which are automatic buyers that compete with visitors; nil if there was none.
	rivals *entry[Run]
	joined int64         // the number of the sale (judge.Stock.Run) that the latest run of rivals has joined
	notice time.Duration // the time from the call of startRivals to the first purchase of a rival

	ledger ledgerCache
}

func (s *Server) showShop(c *gin.Context) {
	s.shop.mu.Lock()
	defer s.shop.mu.Unlock()
	s.answerShop(c)
}

// answerShop answers with the state of the shop. The caller holds shop.mu.
func (s *Server) answerShop(c *gin.Context) {
	info := s.shop.strategy
	c.JSON(http.StatusOK, gin.H{"now": time.Now(), "rivals": s.lastRivals(), "joined": s.shop.joined,
		"sku_id": seckill.ShopSKU, "strategy": info.Name, "stock": visibleStock(info), "reserves": info.Reserves})
}

// visibleStock returns the stock store that holds the number of units shown to buyers.
func visibleStock(i catalog.Info) seckill.StockStore {
	if i.Stock == seckill.InRowAndRedis || i.Stock == seckill.InStream {
		return seckill.InRow
	}
	return i.Stock
}

// setShop changes the strategy of future purchases. The operator must then reset the SKU, because a sale whose units
// come from two stock stores cannot be judged. setShop refuses the change while rivals (automatic buyers) buy.
// Otherwise some rivals would buy in the next sale.
func (s *Server) setShop(c *gin.Context) error {
	var body struct {
		Strategy string `json:"strategy"`
	}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	p := web.BadRequest("")
	info := s.findStrategy("strategy", body.Strategy, p)
	if err := asError(p); err != nil {
		return err
	}
	s.shop.mu.Lock()
	defer s.shop.mu.Unlock()
	if r := s.lastRivals(); r != nil && !r.State.Ended() {
		return &web.Problem{Code: "run_in_progress", Status: http.StatusConflict, Detail: fmt.Sprintf(
			"%s still buy. Stop them, or wait for their end.", tables.Count(r.Settings.Buyers, "rival"))}
	}
	s.shop.strategy = info
	s.answerShop(c)
	return nil
}

// Rivals are the buyers of a run that joins the shop's sale. They compete with the shop's visitors for the same stock.
const (
	defaultRivals = 2000
	minRivals     = 100
	maxRivals     = 5000

	defaultNotice = 3 * time.Second // the time in which visitors can get ready
	ledgerTimeout = 3 * time.Second
)

// startRivals starts a run whose buyers are rivals. They begin to buy when the time shop.notice has passed and the sale
// has started.
func (s *Server) startRivals(c *gin.Context) error {
	body := struct {
		Buyers int `json:"buyers"`
	}{defaultRivals}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	buyers, p := body.Buyers, web.BadRequest("")
	if err := web.Within("buyers", int64(buyers), minRivals, maxRivals); err != nil {
		return err
	}
	if len(s.liveServices()) == 0 {
		return noService
	}
	snap, err := s.readShop(c.Request.Context())
	sale := snap.Stock
	switch {
	case err != nil:
		return err
	case sale.Initial < 1:
		return nothingOnSale
	}
	comes := time.Now().Add(s.shop.notice)
	if sale.StartsAt != nil && sale.StartsAt.Time().After(comes) {
		comes = sale.StartsAt.Time()
	}
	s.shop.mu.Lock()
	defer s.shop.mu.Unlock()
	info := s.shop.strategy
	if s.findStrategy("strategy", info.Name, p); p.Errors != nil {
		return p
	}
	wanted := Settings{Strategies: []string{info.Name}, Scenario: defaultScenario(),
		ServiceSettings: s.Lab.ServiceSettings()}
	wanted.Stock, wanted.Buyers = sale.Initial, buyers
	run := s.newRun(wanted)
	run.Shop, run.ComesAt = true, comes
	run.Lanes[0].SKU, run.Lanes[0].Command = seckill.ShopSKU, "" // no command: `seckill load` cannot join this sale
	e, err := s.beginRun(c, run, tables.Count(buyers, "rival"))
	if err == nil {
		s.shop.rivals, s.shop.joined = e, sale.Run
	}
	return err
}

// readShop reads the ledger of the shop's sale. The read continues if the caller's page is closed, because other pages
// may also wait for the result. The error is nothingOnSale or noLedger.
func (s *Server) readShop(ctx context.Context) (judge.Snapshot, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerTimeout)
	defer cancel()
	snap, err := s.Ledger.Snapshot(ctx, seckill.ShopSKU)
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

// lastRivals returns the latest run of automatic buyers (rivals), or nil if there was none. The caller holds shop.mu.
func (s *Server) lastRivals() *Run {
	if s.shop.rivals == nil {
		return nil
	}
	r := s.runs.readEntry(s.shop.rivals).summary()
	return &r
}

// A ledgerCache holds the ledger of the shop's sale for all pages. It reads all orders each time, because the
// cancellation of one order changes the field Holders of the others.
type ledgerCache struct {
	mu     sync.Mutex
	readAt time.Time
	page   ledgerPage
	active map[int64]shopOrder // the first active order of each user
	err    error
}

const (
	ledgerInterval = 400 * time.Millisecond // the minimum time between two reads of the ledger
	maxLatest      = 60
)

// A ledgerPage is the state of the sale as pages show it. It has no order ids, because anyone who
// knows an order's id can cancel the order.
type ledgerPage struct {
	Run      int64 `json:"run"`
	Initial  int64 `json:"initial"`
	Sold     int64 `json:"sold"`     // units of active orders, except reservations that are not paid yet
	Reserved int64 `json:"reserved"` // units of reservations that are not paid yet
	Twice    int64 `json:"twice"`    // units that two or more orders hold
	// Known is false if Twice and shopOrder.Holders cannot be counted, for example because a unit was given back and
	// may be sold again.
	Known  bool        `json:"holders_known"`
	Latest []shopOrder `json:"latest"`          // the newest orders, newest first
	Yours  *shopOrder  `json:"yours,omitempty"` // the active order of the user in the query
}

type shopOrder struct {
	Place     int    `json:"place"` // 1 for the order that was written first, 2 for the next one, and so on
	User      int64  `json:"user_id"`
	Quantity  int64  `json:"quantity"`
	Remaining int64  `json:"remaining"`
	Status    string `json:"status"`
	// Reservation is the state of the reservation that began the order, or "" if there was none.
	Reservation seckill.ReservationState `json:"reservation,omitempty"`
	// Holders is the number of orders that hold one of this order's units; 0 if this number is not known.
	Holders int       `json:"holders"`
	At      time.Time `json:"at"`
}

func (s *Server) shopLedger(c *gin.Context) error {
	query, err := web.ReadQuery(c.Request, "user_id")
	if err != nil {
		return err
	}
	user, err := web.QueryInteger(query, "user_id", 0, 1, web.MaxID)
	if err != nil {
		return err
	}
	s.shop.mu.Lock()
	stock := s.shop.strategy.Stock
	s.shop.mu.Unlock()
	page, err := s.shop.ledger.pageFor(user, stock,
		func() (judge.Snapshot, error) { return s.readShop(c.Request.Context()) })
	return answerJSON(c, http.StatusOK, page, err)
}

// pageFor returns the page for a user. If the last read of the ledger is older than ledgerInterval, it first calls
// read.
func (l *ledgerCache) pageFor(user int64, stock seckill.StockStore,
	read func() (judge.Snapshot, error)) (ledgerPage, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if time.Since(l.readAt) >= ledgerInterval {
		snap, err := read()
		l.readAt, l.err = time.Now(), err
		l.setSnapshot(snap, stock)
	}
	page := l.page
	if yours, found := l.active[user]; found {
		page.Yours = &yours
	}
	return page, l.err
}

func (l *ledgerCache) setSnapshot(snap judge.Snapshot, stock seckill.StockStore) {
	holders := judge.HoldersOf(snap.Orders, stock)
	l.active = map[int64]shopOrder{}
	l.page = ledgerPage{Run: snap.Stock.Run, Initial: snap.Stock.Initial,
		Twice: holders.UnitsSoldTwice(), Known: holders.Known()}
	all := []shopOrder{}
	for _, o := range snap.Orders {
		if o.IsRestock() {
			continue
		}
		shown := shopOrder{Place: len(all) + 1, User: o.UserID, Quantity: o.Quantity, Remaining: o.Remaining,
			Status: o.Status, Holders: holders.CountSharing(o), At: o.CreatedAt}
		if o.Reservation != nil {
			shown.Reservation = o.Reservation.State
		}
		all = append(all, shown)
		if o.Status != judge.Active {
			continue
		}
		if shown.Reservation == seckill.Reserved {
			l.page.Reserved += o.Quantity
		} else {
			l.page.Sold += o.Quantity
		}
		if _, has := l.active[o.UserID]; !has {
			l.active[o.UserID] = shown
		}
	}
	slices.Reverse(all)
	l.page.Latest = all[:min(len(all), maxLatest)]
}
