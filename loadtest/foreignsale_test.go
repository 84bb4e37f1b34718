package loadtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest/adapter"
)

// A foreignFake is a shop that knows nothing of our contract.
type foreignFake struct {
	mu         sync.Mutex
	left, sold int64
	oversells  bool
	forgets    bool // takes one unit without telling
	seen       int
	resets     int
	headers    map[string]bool
}

func (f *foreignFake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.URL.Path == "/admin/shelf/7" && r.Method == http.MethodPut {
		var stock int64
		_, _ = fmt.Fscan(r.Body, &stock)
		f.left, f.sold = stock, 0
		f.resets++
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var body struct{ User, N int64 }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.URL.Path != "/buy/7" || body.User < 1 || r.Header.Get("X-Request") == "" {
		http.Error(w, "what?", http.StatusBadRequest)
		return
	}
	f.seen++
	f.headers[r.Header.Get("X-Request")] = true
	if f.left < body.N && !f.oversells {
		fmt.Fprint(w, `{"code": 1, "text": "all gone"}`)
		return
	}
	f.left -= body.N
	f.sold += body.N
	if f.forgets && f.seen == 5 {
		fmt.Fprint(w, `{"code": 2}`)
		return
	}
	fmt.Fprintf(w, `{"code": 0, "data": {"id": %d, "left": %d}}`, f.seen, f.left)
}

func (f *foreignFake) totals(_ context.Context, query string) (ledger.Totals, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if query != "SELECT initial, remaining, sold FROM shelf WHERE id = 7" {
		return ledger.Totals{}, fmt.Errorf("asked %q", query)
	}
	return ledger.Totals{Initial: testStock, Remaining: f.left, Sold: f.sold}, nil
}

func foreignScenario() Scenario {
	return Scenario{SKU: 7, Stock: testStock, Buyers: testBuyers, Quantity: 1, Concurrency: 8, Timeout: 5 * time.Second, Seed: 1,
		Service: &adapter.Service{
			Request: adapter.Request{Path: "/buy/{{.SKU}}", Headers: map[string]string{"X-Request": "{{.RequestID}}"}, Body: `{"user":{{.User}},"n":{{.Quantity}}}`},
			Answers: []adapter.AnswerRule{
				{Status: 200, JSON: map[string]any{"code": 0}, Means: ledger.OutcomeSold},
				{Status: 200, JSON: map[string]any{"code": 1}, Means: ledger.OutcomeSoldOut},
				{Status: 200, JSON: map[string]any{"code": 2}, Means: ledger.OutcomeBusy}},
			OrderID: "data.id", Remaining: "data.left",
			Reset: &adapter.Request{Method: "PUT", Path: "/admin/shelf/{{.SKU}}", Body: "{{.Stock}}"},
			Audit: "SELECT initial, remaining, sold FROM shelf WHERE id = {{.SKU}}",
		}}
}

func TestForeignService(t *testing.T) {
	for _, test := range []struct {
		name    string
		plant   func(*foreignFake, *Scenario)
		verdict ledger.Verdict
		rules   []string
		linear  string
	}{
		{"correct", func(*foreignFake, *Scenario) {}, ledger.Held, nil, LinearYes},
		{"without history", func(_ *foreignFake, s *Scenario) { s.NoHistory = true }, ledger.Held, nil, LinearNotChecked},
		{"oversells", func(f *foreignFake, _ *Scenario) { f.oversells = true }, ledger.Oversold,
			[]string{ledger.RuleOversold, ledger.RuleNegative, ledger.RuleNotLinearizable}, LinearNo},
		{"says busy and sells", func(f *foreignFake, _ *Scenario) { f.forgets = true }, ledger.Lost, []string{ledger.RuleMoreThanTold, ledger.RuleNotLinearizable}, LinearNo},
		{"an answer that no rule knows", func(_ *foreignFake, s *Scenario) { s.Service.Answers = s.Service.Answers[:1] },
			ledger.NotValid, nil, LinearNotChecked},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, s := &foreignFake{headers: map[string]bool{}}, foreignScenario()
			test.plant(f, &s)
			server := httptest.NewServer(f)
			defer server.Close()
			r, err := Run(t.Context(), Config{Scenario: s, Targets: []string{server.URL}, Totals: f.totals,
				settling: settling{limit: 2 * time.Second, poll: 5 * time.Millisecond, quiet: 20 * time.Millisecond}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != test.verdict || !slices.Equal(rules(r), test.rules) || r.Linearizable.Answer != test.linear {
				t.Errorf("%s by %v, linearizable %s (%s); want %s by %v, %s\n%s", r.Verdict, rules(r), r.Linearizable.Answer, r.Linearizable.Why,
					test.verdict, test.rules, test.linear, show(r))
			}
			if f.seen != testBuyers || len(f.headers) != testBuyers || f.resets != 1 {
				t.Errorf("%d purchases with %d request ids, %d resets", f.seen, len(f.headers), f.resets)
			}
		})
	}
}

// What makes a foreign run pointless is said before the load is sent.
func TestForeignServiceDoesNotStart(t *testing.T) {
	for _, test := range []struct {
		name  string
		plant func(*Scenario)
		want  string
	}{
		{"another stock", func(s *Scenario) { s.Stock = 30 }, "SKU 7 begins with 20 units by the audit's query, and with 30 by the scenario"},
		{"a sale that is on", func(s *Scenario) { s.Service.Reset = nil }, "SKU 7 has 0 left + 0 sold of 20 before the run"},
		{"a query that fails", func(s *Scenario) { s.Service.Audit = "SELECT 1" }, `asked "SELECT 1"`},
		{"a reset that fails", func(s *Scenario) { s.Service.Reset.Path = "/nowhere" }, "/nowhere was answered 400: what?"},
	} {
		f, s := &foreignFake{headers: map[string]bool{}}, foreignScenario()
		test.plant(&s)
		server := httptest.NewServer(f)
		defer server.Close()
		r, err := Run(t.Context(), Config{Scenario: s, Targets: []string{server.URL}, Totals: f.totals})
		if err != nil || r.ExitStatus() != ExitNotValid || !strings.Contains(strings.Join(r.Problems, "\n"), test.want) || f.seen != 0 {
			t.Errorf("%s: %v, %q after %d purchases; want %q", test.name, err, r.Problems, f.seen, test.want)
		}
	}
}
