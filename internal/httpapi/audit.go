package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/catalog"
	"seckill/internal/ledger"
)

// audit judges the run from the ledger and the counters alone. What buyers
// were told is known to whoever sent them, and to nobody here. A sale from
// Redis is closed by it: its row is written from its orders.
func (s *Server) audit(c *gin.Context) error {
	q, err := readQuery(c, "sku_id")
	if err != nil {
		return err
	}
	if !q.Has("sku_id") {
		return invalid("sku_id", "is missing: say which SKU is to be judged")
	}
	sku, err := queryInteger(q, "sku_id", 0, 1, maxID)
	if err != nil {
		return err
	}
	ctx, cancel := s.deadline(c)
	defer cancel()
	sellers := s.catalogued()
	snap, err := catalog.Snapshot(ctx, s.Ledger, sku, sellers)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, ledger.Judge(ledger.Evidence{
		Snapshot: snap, Initial: snap.Stock.Initial, Run: snap.Stock.Run, HomeOf: catalog.HomeOf(sellers),
	}))
	return nil
}

// catalogued is what the judge must know of the strategies here.
func (s *Server) catalogued() []catalog.Seller {
	all := make([]catalog.Seller, len(s.sellers))
	for i, sl := range s.sellers {
		all[i] = catalog.Seller{Info: sl.info, Strategy: sl.strategy}
	}
	return all
}
