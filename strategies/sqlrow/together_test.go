package sqlrow

import (
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/catalog/saletest"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/tap/taptest"
)

// Each holds by itself: the one does not raise the version that the other compares.
func TestTwoStrategiesOnOneSaleOversell(t *testing.T) {
	in := labtest.Instance(t, Version.Uses()...)
	s := saletest.Open(t, Version, 1, catalog.Deps{Instance: in})
	other, err := catalog.Build(Conditional, catalog.Deps{Instance: in, Ledger: s.Store})
	labtest.Must(t, err)
	_, err = s.Buy(taptest.Before(t.Context(), "UPDATE", func() {
		_, err := other.Deduct(t.Context(), s.Purchase(2, 1))
		labtest.Must(t, err)
	}), 1, 1)
	labtest.Must(t, err)
	orders, err := s.Store.Orders(t.Context(), ledger.Filter{SKU: s.SKU})
	if err != nil || len(orders) != 2 {
		t.Errorf("%d orders of one unit (%v), want 2", len(orders), err)
	}
}
