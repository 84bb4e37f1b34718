package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/internal/ledger"
)

// audit judges the run from the ledger alone. What buyers were told is known
// to whoever sent them, and to nobody here.
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
	snap, err := s.Ledger.Snapshot(ctx, sku)
	if err != nil {
		return err
	}
	c.JSON(http.StatusOK, ledger.Judge(ledger.Evidence{
		Snapshot: snap, Initial: snap.Stock.Initial, Run: snap.Stock.Run, HomeOf: s.homeOf,
	}))
	return nil
}

func (s *Server) homeOf(strategy string) (ledger.Home, bool) {
	sl := s.byName[strategy]
	if sl == nil {
		return "", false
	}
	return sl.info.Stock, true
}
