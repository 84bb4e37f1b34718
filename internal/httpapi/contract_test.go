package httpapi_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/httpapi"
	"seckill/internal/ledger"
	"seckill/strategies"
)

type sale struct {
	OrderID   string `json:"order_id"`
	SKU       int64  `json:"sku_id"`
	Quantity  int64  `json:"quantity"`
	Remaining int64  `json:"remaining"`
	Strategy  string `json:"strategy"`
}

type orders struct {
	Orders []ledger.Order `json:"orders"`
	Next   string         `json:"next"`
}

func purchase(user, quantity int) string {
	return fmt.Sprintf(`{"sku_id":1,"user_id":%d,"quantity":%d}`, user, quantity)
}

// One sale from its beginning to its audit, as a buyer and an admin see it.
func TestASale(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{})
	const buy, skus = "/api/v1/seckill", "/api/v1/skus"

	ask(t, s, "POST", buy, good).want(t, "buying before the sale is set", 404, "unknown_sku")
	var stock ledger.Stock
	ask(t, s, "PUT", skus+"/1", `{"name":"Ein Fahrrad — 自行车","stock":5}`).into(t, &stock)
	if stock.ID != 1 || stock.Name != "Ein Fahrrad — 自行车" || stock.Num != 5 || stock.Initial != 5 || stock.Run != 1 {
		t.Errorf("setting the sale gave %+v", stock)
	}
	ask(t, s, "PUT", skus+"/2", `{"stock":0}`).into(t, &stock)
	if stock.Name != "SKU 2" {
		t.Errorf("a SKU without a name is called %q", stock.Name)
	}
	var list struct{ SKUs []ledger.Stock }
	ask(t, s, "GET", skus, "").into(t, &list)
	if len(list.SKUs) != 2 || list.SKUs[0].ID != 1 || list.SKUs[1].ID != 2 {
		t.Errorf("the SKUs are %+v, want 1 and 2", list.SKUs)
	}

	var first sale
	ask(t, s, "POST", buy, purchase(1, 3)).into(t, &first)
	if first.OrderID == "" || first.SKU != 1 || first.Quantity != 3 || first.Remaining != 2 || first.Strategy != "conditional" {
		t.Errorf("buying 3 of 5 gave %+v", first)
	}
	ask(t, s, "POST", buy, purchase(1, 1)).want(t, "the same user again", 409, "duplicate")
	ask(t, s, "POST", buy, purchase(2, 3)).want(t, "more than there are", 409, "sold_out")
	ask(t, s, "POST", buy, `{"sku_id":3,"user_id":1}`).want(t, "another SKU", 404, "unknown_sku")
	var second sale
	ask(t, s, "POST", buy+"?strategy=version", purchase(2, 2)).into(t, &second)
	if second.Strategy != "version" || second.Remaining != 0 {
		t.Errorf("buying by version gave %+v", second)
	}

	for range 2 {
		var o ledger.Order
		ask(t, s, "DELETE", "/api/v1/orders/"+second.OrderID, "").into(t, &o)
		if o.Status != ledger.Cancelled || o.PublicID != second.OrderID {
			t.Errorf("cancelling gave %+v", o)
		}
		ask(t, s, "GET", skus+"/1", "").into(t, &stock)
		if stock.Num != 2 {
			t.Errorf("%d are left after cancelling, want 2", stock.Num)
		}
	}
	var report ledger.Report
	ask(t, s, "GET", "/api/v1/audit?sku_id=1", "").into(t, &report)
	if report.Verdict != ledger.Held || report.Sold != 3 || report.Orders != 1 || report.Cancelled != 1 || report.Initial != 5 {
		t.Errorf("the audit says %+v", report)
	}
	ask(t, s, "PUT", skus+"/1", `{"stock":9}`).into(t, &stock)
	if stock.Num != 9 || stock.Run != 2 || stock.Name != "Ein Fahrrad — 自行车" {
		t.Errorf("resetting gave %+v", stock)
	}
	ask(t, s, "DELETE", "/api/v1/orders/"+first.OrderID, "").want(t, "an order of the sale before", 404, "unknown_order")
}

func TestListingOrders(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{})
	ask(t, s, "PUT", "/api/v1/skus/1", `{"stock":500}`)
	for user := 1; user <= 250; user++ {
		r := ask(t, s, "POST", "/api/v1/seckill", purchase(user, 1), fmt.Sprintf("Idempotency-Key: key/%d&x=1", user%125))
		if r.status != http.StatusOK {
			t.Fatalf("user %d: %s", user, r.body)
		}
	}
	for query, want := range map[string]int{
		"?sku_id=1":                         100, // the usual page
		"?sku_id=1&limit=250":               250,
		"?sku_id=2":                         0,
		"?user_id=7":                        1,
		"?request_id=key/7%26x=1&sku_id=1":  2, // of two users
		"?request_id=key/7%26x=1&user_id=7": 1,
		"?request_id=key/7&user_id=7":       0,
	} {
		var p orders
		r := ask(t, s, "GET", "/api/v1/orders"+query, "")
		if r.into(t, &p); len(p.Orders) != want || strings.Contains(string(r.body), `"orders":null`) {
			t.Errorf("%q lists %d orders, want %d", query, len(p.Orders), want)
		}
	}
	var users []int64
	for after, pages := "", 0; ; pages++ {
		var p orders
		query := "/api/v1/orders?sku_id=1&limit=125"
		if after != "" {
			query += "&after=" + after
		}
		ask(t, s, "GET", query, "").into(t, &p)
		for _, o := range p.Orders {
			users = append(users, o.UserID)
		}
		if after = p.Next; after == "" {
			if pages != 1 {
				t.Errorf("250 orders by 125 make %d pages", pages+1)
			}
			break
		}
	}
	slices.Sort(users)
	if len(users) != 250 || len(slices.Compact(users)) != 250 {
		t.Errorf("the pages hold %d users, want each of 250 once", len(users))
	}
}

func TestStrategies(t *testing.T) {
	s := serverWith(t, nil, httpapi.Config{})
	type strategy struct {
		Name, Title, Family, Source, Idea, Promises, Breaks, Stock string
		Guarantees                                                 catalog.Guarantees
		Needs, Missing                                             []string
		Options                                                    []struct{ Flag, Doc string }
		Broken, Available, Default                                 bool
		Files                                                      []struct{ Name, Content string }
		Titles, Lesson                                             map[string]string
	}
	var list struct{ Strategies []strategy }
	ask(t, s, "GET", "/api/v1/strategies", "").into(t, &list)
	if len(list.Strategies) != len(strategies.All()) {
		t.Fatalf("%d strategies are listed, want %d", len(list.Strategies), len(strategies.All()))
	}
	for i, info := range strategies.All() {
		got := list.Strategies[i]
		if got.Name != info.Name || got.Title != info.Title || got.Idea == "" || got.Promises == "" || got.Breaks == "" ||
			got.Stock != string(info.Stock) || got.Broken != info.Broken() || got.Default != (info.Name == "conditional") ||
			!maps.Equal(got.Guarantees, info.Guarantees) || len(got.Options) != len(info.Options) ||
			got.Titles["en"] != info.Title || got.Titles["zh"] == "" || got.Titles["zh"] != info.TitleIn("zh") ||
			got.Files != nil || got.Lesson != nil {
			t.Errorf("%s is listed as %+v", info.Name, got)
		}
		// SQLite has no row locks, and nothing else is configured.
		available := !slices.ContainsFunc(info.Needs, func(c backend.Capability) bool { return c != backend.SQL })
		if got.Available != available || got.Available != (len(got.Missing) == 0) {
			t.Errorf("%s: available %t because of %q, want %t", info.Name, got.Available, got.Missing, available)
		}
		var one strategy
		ask(t, s, "GET", "/api/v1/strategies/"+info.Name, "").into(t, &one)
		if len(one.Files) == 0 || !strings.Contains(one.Files[0].Content, info.Name) {
			t.Errorf("%s comes without the source that runs", info.Name)
		}
		shared := slices.ContainsFunc(one.Files, func(f struct{ Name, Content string }) bool { return f.Name == "fenced.go" })
		if shared != info.Fenced {
			t.Errorf("%s: the purchase behind the fence is shown: %t", info.Name, shared)
		}
		for _, f := range one.Files {
			if strings.HasSuffix(f.Name, ".md") {
				t.Errorf("%s: its lesson %s is shown as source", info.Name, f.Name)
			}
		}
		for _, language := range catalog.Languages {
			if want, err := info.Lesson(language); err != nil || one.Lesson[language] != want {
				t.Errorf("%s in %s: the lesson is %.40q, want %.40q (%v)", info.Name, language, one.Lesson[language], want, err)
			}
		}
	}
	r := ask(t, s, "POST", "/api/v1/seckill?strategy=for-update", good)
	r.want(t, "buying by a strategy without its backend", 503, "strategy_unavailable")
	if !strings.Contains(r.Detail, "SQLite has no row locks") {
		t.Errorf("it does not say why: %q", r.Detail)
	}
}

func TestNewRefusesADefaultThatCannotRun(t *testing.T) {
	in := embedded(t)
	for name, want := range map[string]string{
		"no-such":    "There is no strategy \"no-such\"; there are: naive, ",
		"for-update": "cannot run here: SQLite has no row locks",
	} {
		_, err := httpapi.New(httpapi.Config{Instance: in, Infos: strategies.All(), Default: name, Settings: settings})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("default %s: %v, want %q in it", name, err, want)
		}
	}
	twice := []catalog.Info{strategies.All()[0], strategies.All()[0]}
	if _, err := httpapi.New(httpapi.Config{Instance: in, Infos: twice, Default: "naive"}); err == nil {
		t.Error("two strategies of one name were accepted")
	}
}
