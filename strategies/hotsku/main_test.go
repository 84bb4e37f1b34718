package hotsku

import (
	"os"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/strategies/saletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// A sale is one SKU with its strategy in two processes.
type sale struct{ *saletest.Sale }

func open(t *testing.T, i catalog.Info, stock int64) *sale {
	t.Helper()
	s := &sale{}
	settings := catalog.DefaultSettings()
	settings.QueueAtOnce, settings.LockWait = 1, 30*time.Second // also where the machine is busy
	d := catalog.Deps{Settings: settings}
	s.Sale = saletest.Open(t, i, stock, d, d)
	return s
}

// another is a user's further request.
func (s *sale) another(user, quantity int64) seckill.Purchase {
	p := s.Purchase(user, quantity)
	p.RequestID += " again"
	return p
}
