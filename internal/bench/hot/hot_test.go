package hot

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/measure"
	"seckill/loadtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

// Each baseline does what it says, once a request, and leaves nothing behind.
func TestBaselines(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.Redis)
	if err := ledger.Migrate(t.Context(), in.DB); err != nil {
		t.Fatal(err)
	}
	before := tables(t, in)
	h, err := NewHandler(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	count := func(table string) (n int) {
		t.Helper()
		if err := in.DB.Raw("SELECT COUNT(*) FROM " + table).Scan(&n).Error; err != nil {
			t.Fatal(err)
		}
		return n
	}
	o := Options{In: in, Bare: server.URL, Buyers: []int{1, 3}, Sale: loadtest.Config{Scenario: loadtest.DefaultScenario()}}
	o.Sale.Copies, o.Sale.Retry = 0, 0
	for _, x := range handled {
		p, err := o.ask(t.Context(), x.path, 3, time.Millisecond, 1)
		if err != nil || p.Orders != firstSale || p.Rate <= 0 || p.P50 <= 0 || p.P99 < p.P50 {
			t.Errorf("%s: %+v, %v", x.name, p, err)
		}
	}
	if n, m := count(h.orders), count(h.frozen.orders); n != firstSale || m != firstSale {
		t.Errorf("%d and %d orders were written, want %d each", n, m, firstSale)
	}
	if left := in.Redis.Get(t.Context(), h.key).Val(); left != "4503599627370296" { // 2⁵² less 200
		t.Errorf("%s are left in Redis after the requests of two baselines", left)
	}
	b, err := o.openBaselines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, work := range map[string]work{Update: b.of(Update, 3), Transaction: b.of(Transaction, 1), MultiRow: b.multiRow} {
		if p, err := work(t.Context(), time.Millisecond, 1); err != nil || p.Orders == 0 || p.Rate <= 0 {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	if n := count(b.orders); n == 0 || n%multiRows != 0 {
		t.Errorf("%d orders in statements of %d", n, multiRows)
	}
	b.drop()
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if after := tables(t, in); !slices.Equal(before, after) {
		t.Errorf("tables before %v, and after %v", before, after)
	}
}

func tables(t *testing.T, in *backend.Instance) (names []string) {
	t.Helper()
	if err := in.DB.Raw("SHOW TABLES").Scan(&names).Error; err != nil {
		t.Fatal(err)
	}
	return names
}

// A handler that refuses is fast, and has no rate.
func TestARefusalHasNoRate(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	o := Options{Bare: server.URL, Sale: loadtest.Config{Scenario: loadtest.DefaultScenario()}}
	if p, err := o.ask(t.Context(), "/noop", 1, time.Millisecond, 1); err == nil {
		t.Errorf("404 was taken for work: %+v", p)
	}
}

func passes(rates ...float64) (all []Pass) {
	for i, x := range rates {
		us := 10 * x
		all = append(all, Pass{Round: i + 1, Rate: x, P50: x, P99: 2 * x, Service: &us})
	}
	return all
}

func measured() *Result {
	r := &Result{Binlog: Off, Processes: 1, Rounds: 2, Buyers: []int{1, 32, 512}, Cells: []*Cell{
		{Name: "one-trip", Buyers: 1, Passes: passes(4, 4)}, {Name: "merged", Buyers: 1, Passes: passes(4, 5)},
		{Name: "one-trip", Buyers: 32, Passes: passes(20, 40)}, {Name: Frozen, Baseline: true, Buyers: 32, Passes: passes(10, 10)},
		{Name: "merged", Buyers: 512, Passes: passes(93, 93)}, {Name: Update, Baseline: true, Buyers: 512, Passes: passes(10, 10)},
		{Name: Update, Baseline: true, Buyers: 32, Passes: passes(30, 30)},
		{Name: "conditional", Buyers: 32, Passes: passes(14, 16)},
		{Name: "redis-stream", Buyers: 512, Passes: passes(777), Error: "the sale was not held (oversold): 1 too many"},
	}}
	r.Compare()
	return r
}

// Goals are ratios of one round's figures, at the nearest number of buyers that
// was measured; what was not held has none.
func TestGoals(t *testing.T) {
	got := map[string]string{}
	for _, g := range measured().Goals {
		got[g.What] = g.Met()
		if g.Missing == "" {
			got[g.What] += " " + measure.Number(g.Ratio.Times)
		}
	}
	for what, want := range map[string]string{
		"one-trip at 32 / conditional, frozen at 32":          "yes, and the aim 2.83", // √(2·4)
		"one-trip at 32 / bare hot-row UPDATE at 32":          "yes, and the aim 0.94",
		"merged at 512 / bare hot-row UPDATE at its best, 32": "yes, and the aim 3.10",
		"merged at 1 / one-trip at 1":                         "no 1.12",
		"conditional at 32":                                   "yes 150",
		"redis-stream at 512 / merged at 512":                 "–",
		"merged at 512 / gin, no-op at 512":                   "–",
	} {
		if got[what] != want {
			t.Errorf("%s: %q, want %q", what, got[what], want)
		}
	}
	if len(got) != len(goals) {
		t.Errorf("%d goals, want %d: %v", len(got), len(goals), got)
	}
}

// Every form has all subjects, says which round failed why, and JSON can be
// read again.
func TestForms(t *testing.T) {
	r := &Report{Command: "seckill bench hot", Results: []*Result{measured()}}
	if failed := r.Failed(); len(failed) != 1 || !strings.Contains(failed[0], "redis-stream (512 buyers, binlog off)") {
		t.Errorf("failed: %v", failed)
	}
	var text, html, page, data bytes.Buffer
	for _, err := range []error{measure.WriteText(&text, r.Tables()), r.WriteHTML(&html), r.Markdown(&page), r.WriteJSON(&data)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for form, b := range map[string]string{"text": text.String(), "HTML": html.String(), "Markdown": page.String()} {
		for _, want := range []string{"one-trip", "merged", Frozen, "failed", "FAILED: redis-stream"} {
			if !strings.Contains(b, want) {
				t.Errorf("%s lacks %q", form, want)
			}
		}
	}
	if strings.Contains(text.String(), "777") {
		t.Error("a sale that was not held has a rate")
	}
	if n := strings.Count(html.String(), "<polyline"); n != 6-1 { // those with figures
		t.Errorf("the chart has %d lines", n)
	}
	for _, foreign := range []string{"http://", "https://", "<script"} {
		if strings.Contains(html.String(), foreign) {
			t.Errorf("the page is not self-contained: %s", foreign)
		}
	}
	var again Report
	if err := json.Unmarshal(data.Bytes(), &again); err != nil || len(again.Results[0].Cells) != len(r.Results[0].Cells) {
		t.Errorf("read again: %v", err)
	}
}

// The time is shared among the measurements, and there is a least.
func TestTimes(t *testing.T) {
	turns := Turns([]string{"a", "b", "c", "d"}, 6, 3)
	if turns != 3*(10*6+1) {
		t.Errorf("%d turns", turns)
	}
	if n := Turns([]string{"a", accepting}, 2, 1); n != 9*2+1 {
		t.Errorf("%d turns with one that accepts", n)
	}
	if d := TurnOf(Least(turns), turns); d != Shortest {
		t.Errorf("with the least time a turn measures %v", d)
	}
	if d := TurnOf(time.Duration(turns)*time.Second, turns); d != time.Second-around {
		t.Errorf("with a second each a turn measures %v", d)
	}
	for _, c := range []struct {
		buyers int
		rate   float64
		want   int
	}{{1, 0, firstSale}, {512, 0, 512}, {1, 10, firstSale}, {512, 10, 1024}, {64, 9000, 4500}} {
		if n := Size(c.buyers, time.Second/2, c.rate); n != c.want {
			t.Errorf("%+v: %d orders", c, n)
		}
	}
}
