package labapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/internal/seckill"
	"seckill/internal/web"
	"seckill/loadtest"
)

// Rivals are the buyers of a run that joins the shop's sale: they want the same
// units, from the same stock, as the visitors who press its button. Everything else
// of their run is like any other's: progress, end, verdict, history.
const (
	usualRivals   = 2000
	leastRivals   = 100
	mostRivals    = 5000
	rivalsAtATime = 64

	// usualNotice is how long after they were sent rivals come, so that a visitor can
	// get ready.
	usualNotice = 3 * time.Second
	// longestWait is how long before the start of the sale they may be sent.
	longestWait = time.Minute
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
	if within(p, "buyers", int64(buyers), leastRivals, mostRivals); p.Errors != nil {
		return p
	}
	sale, err := s.shopSale(c.Request.Context())
	if err != nil {
		return err
	}
	comes := time.Now().Add(s.notice)
	if sale.StartsAt != nil && sale.StartsAt.Time().After(comes) {
		comes = sale.StartsAt.Time()
	}
	if time.Until(comes) > longestWait {
		return &web.Problem{Code: "not_started", Status: http.StatusConflict, Detail: fmt.Sprintf(
			"The sale starts at %s: send them in the last minute before.", comes.UTC().Format(time.RFC3339))}
	}
	s.shop.mu.Lock()
	defer s.shop.mu.Unlock()
	info := s.shop.strategy
	if s.strategy("strategy", info.Name, p); p.Errors != nil {
		return p
	}
	e, err := s.begin(c, s.rivalsSettings(info, sale, buyers), numbers.Count(buyers, "rival"), func(r *Run) {
		r.Shop, r.ComesAt, r.Lanes[0].SKU = true, comes, shopSKU
	})
	if err == nil {
		s.shop.rivals, s.shop.joined = e, sale.Run
	}
	return err
}

// shopSale is the stock row of the shop, if there is anything to be sold and a
// service process that sells it.
func (s *Server) shopSale(ctx context.Context) (ledger.Stock, error) {
	if len(s.live()) == 0 {
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
	snap, err := s.Ledger.Snapshot(ctx, shopSKU)
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

// rivalsSettings are the run's settings, as the lab lists them and runs them again.
func (s *Server) rivalsSettings(info catalog.Info, sale ledger.Stock, buyers int) Settings {
	return Settings{Strategies: []string{info.Name}, Stock: sale.Initial, Quantity: 1, Profile: loadtest.Closed,
		Buyers: buyers, Concurrency: rivalsAtATime, Seed: newSeed(), ServiceSettings: s.Lab.ServiceSettings(), Faults: []fault.Planned{}}
}

// await waits until the rivals come, or the run is stopped.
func (r Run) await(ctx context.Context) {
	timer := time.NewTimer(time.Until(r.ComesAt))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// lastRivals of this lab; nil: there were none. The caller holds shop.mu.
func (s *Server) lastRivals() *Run {
	if s.shop.rivals == nil {
		return nil
	}
	r := s.runs.read(s.shop.rivals).summary()
	if r.State == Removed {
		return nil
	}
	return &r
}
