package httpapi_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"gorm.io/gorm"

	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
)

// A counter is a fake that keeps the stock in a variable.
type counter struct {
	*fake
	left int64
}

func (c *counter) Count(context.Context, int64) (int64, error) { return c.left, nil }

// counts is a fake that sells from a counter and writes the order.
func counts() (*counter, catalog.Info) {
	c := &counter{fake: sells()}
	c.reset = func(_ context.Context, _, stock int64) error {
		c.left = stock
		return nil
	}
	c.deduct = func(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
		c.left -= p.Quantity
		err = c.ledger.Tx(ctx, func(tx *gorm.DB) error {
			r, err = c.ledger.Record(tx, p, ledger.AnyRun, c.left)
			return err
		})
		return r, err
	}
	info := c.info()
	info.Stock = ledger.InRedis
	info.New = func(d catalog.Deps) (seckill.Strategy, error) {
		c.ledger = d.Ledger
		return c, nil
	}
	return c, info
}

type shelf struct {
	Num         int64                       `json:"num"`
	StockStores map[ledger.StockStore]int64 `json:"homes"`
}

// A sale from a counter: the SKU shows it, the audit changes nothing, and closing
// writes the row from the orders.
func TestStockOutsideTheRow(t *testing.T) {
	c, info := counts()
	s := serverWith(t, nil, httpapi.Config{Infos: []catalog.Info{info}, Default: fakeName})
	if r := ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":10}`); r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	shows := func(what string, num, counted int64) {
		t.Helper()
		var got shelf
		ask(t, s, "GET", "/api/v1/skus/1", "").into(t, &got)
		if got.Num != num || got.StockStores[ledger.InRedis] != counted {
			t.Errorf("%s: %+v, want %d in the row and %d counted", what, got, num, counted)
		}
	}
	judged := func(what string, remaining int64, rules ...string) {
		t.Helper()
		var got ledger.Report
		ask(t, s, "GET", "/api/v1/audit?sku_id=1", "").into(t, &got)
		var broken []string
		for _, v := range got.Violations {
			broken = append(broken, v.Rule)
		}
		if got.StockStore != ledger.InRedis && got.Orders > 0 || got.Remaining != remaining || !slices.Equal(broken, rules) {
			t.Errorf("%s: %+v, want %d left and %v broken", what, got, remaining, rules)
		}
	}
	shows("after the reset", 10, 10)
	judged("nothing sold", 10)
	c.left = 8
	judged("units taken, and no order at all", 10, ledger.RuleUnusedCounter)
	c.left = 10
	for user := range 3 {
		ask(t, s, "POST", "/api/v1/seckill", fmt.Sprintf(`{"sku_id":1,"user_id":%d,"quantity":2}`, user+1))
	}
	shows("before the audit", 10, 4)
	judged("three orders", 4)
	shows("after the audit", 10, 4)
	if r := ask(t, s, "POST", "/api/v1/skus/1/close", ""); r.status != 200 {
		t.Fatalf("closing: %d %s", r.status, r.body)
	}
	shows("after closing", 4, 4)
	c.left = 3
	judged("a unit vanished", 3, ledger.RuleCounterDisagrees, ledger.RuleLostUnits)
	c.left = 5
	judged("a unit came from nowhere", 5, ledger.RuleCounterDisagrees, ledger.RuleLostUpdate)
}
