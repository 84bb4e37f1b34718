package labapi

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/internal/web"
)

// shopSKU is what the shop sells. The lab's runs remove the orders of their own
// SKUs.
const shopSKU = 2

// A shop is what all buyers' pages must agree on. Stock and start belong to the
// SKU, and so to the service.
type shop struct {
	mu       sync.Mutex
	strategy catalog.Info
	rivals   *runEntry // the last that were sent; nil: none
	joined   int64     // the run of the SKU that they joined

	book book
}

func (s *Server) openShop() {
	i := slices.IndexFunc(s.Strategies, func(i catalog.Info) bool { return i.Name == s.Strategy })
	if i < 0 && len(s.Strategies) > 0 {
		i = 0
	}
	if i >= 0 {
		s.shop.strategy = s.Strategies[i]
	}
}

func (s *Server) showShop(c *gin.Context) {
	s.shop.mu.Lock()
	defer s.shop.mu.Unlock()
	info := s.shop.strategy
	c.JSON(http.StatusOK, gin.H{"now": time.Now(), "rivals": s.lastRivals(), "joined": s.shop.joined, "sku_id": shopSKU, "strategy": info.Name,
		"stock": countedIn(info), "reserves": info.Reserves})
}

// changeStrategy waits for no rivals: they would go on in the next sale.
func (s *Server) changeStrategy(info catalog.Info) error {
	s.shop.mu.Lock()
	defer s.shop.mu.Unlock()
	if r := s.lastRivals(); r != nil && !r.State.Ended() {
		return &web.Problem{Code: "run_in_progress", Status: http.StatusConflict, Detail: fmt.Sprintf(
			"There are %s on. Stop them, or wait for their end.", numbers.Count(r.Settings.Buyers, "rival"))}
	}
	s.shop.strategy = info
	return nil
}

// countedIn is where the number of units that buyers see is kept.
func countedIn(i catalog.Info) ledger.StockStore {
	if i.Stock == ledger.InRowAndRedis || i.Stock == ledger.InStream {
		return ledger.InRow
	}
	return i.Stock
}

// setShop changes the strategy of future purchases. The SKU must be reset
// afterwards: a sale from two stock stores at once cannot be judged.
func (s *Server) setShop(c *gin.Context) error {
	var body struct {
		Strategy string `json:"strategy"`
	}
	if err := web.ReadJSON(c.Writer, c.Request, &body); err != nil {
		return err
	}
	p := web.BadRequest("")
	info := s.strategy("strategy", body.Strategy, p)
	if err := anyWrong(p); err != nil {
		return err
	}
	if err := s.changeStrategy(info); err != nil {
		return err
	}
	s.showShop(c)
	return nil
}
