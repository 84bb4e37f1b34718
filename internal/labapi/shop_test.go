package labapi

import (
	"testing"
	"testing/fstest"

	"seckill/internal/catalog"
)

func TestShop(t *testing.T) {
	_, h, _ := start(t, func(c *Config) {
		c.Strategy, c.Strategies = "conditional", []catalog.Info{{Name: "naive"}, {Name: "conditional", Reserves: true}}
		c.Page = fstest.MapFS{
			"index.html":      {Data: []byte("<!doctype html>lab")},
			"shop/index.html": {Data: []byte("<!doctype html>shop")},
		}
	})
	for _, c := range []struct {
		call   call
		status int
		says   string
	}{
		{call{"GET", "/shop", "", nil}, 200, "shop"},
		{call{"GET", "/shop/admin", "", nil}, 404, "not_found"},
		{call{"POST", "/shop", "", nil}, 405, "method_not_allowed"},
		{call{"GET", "/shop/?lang=zh", "", nil}, 200, "shop"}, // by way of /shop
		{call{"GET", "/api/lab/v1/shop", "", nil}, 200, `"reserves":true,"rivals":null,"sku_id":1000000,"stock":"","strategy":"conditional"`},
		{call{"PUT", "/api/lab/v1/shop", `{"strategy":"no-such"}`, nil}, 404, "unknown_strategy"},
		{call{"PUT", "/api/lab/v1/shop", `{"sku_id":7}`, nil}, 400, "is not a field"},
		{call{"PUT", "/api/lab/v1/shop", `{"strategy":"naive"}`, nil}, 200, `"strategy":"naive"`},
		{call{"GET", "/api/lab/v1/shop", "", nil}, 200, `"strategy":"naive"`},
	} {
		c.call.wants(t, h.URL, c.status, c.says)
	}
}
