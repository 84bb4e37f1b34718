package labapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/loadtest"
)

const rivalsPath = "/api/lab/v1/shop/rivals"

// A fakeShop is the ledger of the shop's sale.
type fakeShop struct {
	mu   sync.Mutex
	snap judge.Snapshot
	err  error
}

func (f *fakeShop) Snapshot(_ context.Context, sku int64) (judge.Snapshot, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sku != seckill.ShopSKU {
		return judge.Snapshot{}, fmt.Errorf("SKU %d was read", sku)
	}
	return f.snap, f.err
}

func (f *fakeShop) set(change func(*fakeShop)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func newFakeShop() *fakeShop {
	return &fakeShop{snap: judge.Snapshot{Stock: judge.Stock{ID: seckill.ShopSKU, Initial: 100, Num: 100, Run: 7}}}
}

func startShop(t *testing.T, change func(*Config)) (*Server, string, *fakeLoad, *fakeShop) {
	t.Helper()
	shop := newFakeShop()
	s, h, load := start(t, func(c *Config) {
		c.Ledger, c.Strategy = shop, "good"
		if change != nil {
			change(c)
		}
	})
	return s, h.URL, load, shop
}

func sends(body string) call { return call{method: "POST", path: rivalsPath, body: body} }

// shopNow returns the shop's state, which is the same for all pages.
func shopNow(t *testing.T, base string) (shop struct {
	Now      time.Time
	Strategy string
	Rivals   *Run
}) {
	t.Helper()
	_, body, _ := call{method: "GET", path: "/api/lab/v1/shop"}.do(t, base)
	labtest.Must(t, json.Unmarshal([]byte(body), &shop))
	return shop
}

func TestRivals(t *testing.T) {
	s, base, load, _ := startShop(t, nil)
	s.shop.notice = 0
	page := opened(t, base)
	if shop := shopNow(t, base); shop.Rivals != nil || time.Since(shop.Now) > time.Minute {
		t.Errorf("the shop before: %+v", shop)
	}
	status, body, _ := sends(`{"buyers":500}`).do(t, base)
	var begun Run
	json.Unmarshal([]byte(body), &begun)
	if status != 201 || !begun.Shop || begun.ID == "" || begun.Lanes[0].Command != "" {
		t.Fatalf("POST rivals: %d %s", status, body)
	}
	if c := <-load.configs; !c.Joins || c.SKU != seckill.ShopSKU || c.Stock != 100 || c.Buyers != 500 ||
		c.Quantity != 1 || c.Strategy != "good" || c.Seed == 0 || len(c.Targets) != 1 {
		t.Errorf("the rivals were started with %+v", c)
	}
	sends(`{}`).wants(t, base, 409, "busy with 500 rivals")
	call{method: "POST", path: "/api/lab/v1/runs", body: goodRun}.wants(t, base, 409, "")
	call{method: "PUT", path: "/api/lab/v1/shop", body: `{"strategy":"good"}`}.wants(t, base, 409,
		"500 rivals still buy")
	for range 2 { // the run takes the second report only after it has recorded the first
		load.progress <- loadtest.Progress{Requests: 70, Counts: map[judge.Outcome]int{judge.OutcomeSold: 60}}
	}
	if r := shopNow(t, base).Rivals; r == nil || r.State != Running || r.Lanes[0].Progress.Requests != 70 ||
		r.Settings.Buyers != 500 {
		t.Errorf("the shop meanwhile: %+v", r)
	}
	load.results <- &loadtest.Result{Verdict: judge.Oversold, Requests: 500,
		Counts: map[judge.Outcome]int{judge.OutcomeSold: 131}}
	page.until(ended)
	if r := shopNow(t, base).Rivals; r.State != Done || r.Lanes[0].Result.Verdict != judge.Oversold ||
		r.ID != begun.ID {
		t.Errorf("the shop afterwards: %+v", r)
	}
	call{method: "PUT", path: "/api/lab/v1/shop", body: `{"strategy":"good"}`}.wants(t, base, 200, "")
}

func TestRivalsAreRefused(t *testing.T) {
	_, base, load, shop := startShop(t, nil)
	soon := judge.MomentOf(time.Now().Add(30 * time.Second))
	sends(`{"buyers":99}`).wants(t, base, 400, "at least 100")
	sends(`{"buyers":5001}`).wants(t, base, 400, "at most 5000")
	for _, c := range []struct {
		change func(*fakeShop)
		status int
		says   string
	}{
		{func(f *fakeShop) { f.err = seckill.ErrUnknownSKU }, 409, "nothing_on_sale"},
		{func(f *fakeShop) { f.err = errors.New("gone") }, 503, "ledger_unavailable"},
		{func(f *fakeShop) { f.err, f.snap.Stock.Initial = nil, 0 }, 409, "nothing_on_sale"},
	} {
		shop.set(c.change)
		sends(`{}`).wants(t, base, c.status, c.says)
	}
	shop.set(func(f *fakeShop) { f.snap.Stock.Initial, f.snap.Stock.StartsAt = 100, &soon })
	sends(`{}`).wants(t, base, 201, "")
	c := <-load.configs
	if r := shopNow(t, base).Rivals; !r.ComesAt.Equal(soon.Time()) || c.Buyers != defaultRivals {
		t.Errorf("%d rivals come at %s, want %d at %s", c.Buyers, r.ComesAt, defaultRivals, soon.Time())
	}
}

// All pages share one read of the ledger, which happens at most once per ledgerInterval.
func TestPagesShareTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, reads := &ledgerCache{}, 0
		open := func(want int) {
			t.Helper()
			_, err := b.pageFor(1, seckill.InRow, func() (judge.Snapshot, error) {
				reads++
				return judge.Snapshot{}, nil
			})
			if err != nil || reads != want {
				t.Errorf("the ledger was read %d times (%v), want %d", reads, err, want)
			}
		}
		open(1)
		open(1)
		time.Sleep(ledgerInterval)
		open(2)
	})
}

func TestShopLedger(t *testing.T) {
	_, base, _, shop := startShop(t, nil)
	read := func(user string) (page ledgerPage) {
		t.Helper()
		status, body, _ := call{method: "GET", path: "/api/lab/v1/shop/ledger" + user}.do(t, base)
		if err := json.Unmarshal([]byte(body), &page); status != 200 || err != nil ||
			strings.Contains(body, "order_id") {
			t.Fatalf("GET ledger: %d %s", status, body)
		}
		return page
	}
	shop.set(func(f *fakeShop) {
		for user := range int64(200) {
			f.snap.Orders = append(f.snap.Orders, judge.Order{UserID: user + 1, Quantity: 1, Remaining: 99 - user/20,
				Status: judge.Active})
		}
	})
	page := read("?user_id=25")
	if page.Run != 7 || page.Initial != 100 || page.Sold != 200 || page.Twice != 10 || !page.Known ||
		len(page.Latest) != maxLatest || page.Latest[0].Place != 200 || page.Latest[0].Holders != 20 {
		t.Errorf("the ledger: %+v", page)
	}
	if y := page.Yours; y == nil || y.Place != 25 || y.Remaining != 98 || y.Holders != 20 {
		t.Errorf("the user's order: %+v", y)
	}
	if read("?user_id=201").Yours != nil || read("").Yours != nil {
		t.Error("a user without an order has one")
	}
	for _, bad := range []string{"?user_id=nobody", "?user_id=0", "?user_id=99999999999999999999", "?%zz"} {
		call{method: "GET", path: "/api/lab/v1/shop/ledger" + bad}.wants(t, base, 400, "")
	}
}
