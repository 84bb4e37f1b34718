package adapter

import (
	"strings"
	"testing"
	"time"

	"seckill/internal/ledger"
)

// What buyers who reserve send.
func TestOursReserving(t *testing.T) {
	p := OursReserving("reserve", false, 2*time.Second)
	v := &Values{SKU: 1, User: 42, Quantity: 3, RequestID: []byte("k"), OrderID: "o1"}
	for what, want := range map[string][2]string{
		"buy":    {"POST /api/v1/reservations?strategy=reserve HTTP/1.1", `{"sku_id":1,"user_id":42,"quantity":3,"expires_in":2}`},
		"pay":    {"POST /api/v1/reservations/o1/pay HTTP/1.1", ""},
		"cancel": {"DELETE /api/v1/reservations/o1 HTTP/1.1", ""},
	} {
		m := map[string]*Message{"buy": &p.Buy, "pay": &p.Pay, "cancel": &p.Cancel}[what]
		sent, _ := m.Append(nil, nil, "here", "", v)
		if text := string(sent); !strings.HasPrefix(text, want[0]) || !strings.Contains(text, want[1]) {
			t.Errorf("%s sends %q", what, text)
		}
	}
	if plain, _ := Ours("reserve", true).Buy.Append(nil, nil, "here", "", v); !strings.Contains(string(plain), `"quantity":3}`) {
		t.Errorf("a purchase was changed by it: %q", plain)
	}
}

// What they are told, and what is none of the contract.
func TestRepliesToThoseWhoReserve(t *testing.T) {
	p := OursReserving("reserve", false, time.Second)
	order := Order{SKU: 1, Quantity: 3, Strategy: "reserve"}
	buy := func(a Response) Reply { return p.Bought(order, a) }
	in := func(state string) string {
		return `{"reservation_id":"o1","sku_id":1,"user_id":42,"quantity":3,"remaining":7,"strategy":"reserve","state":"` + state + `"}`
	}
	problem := func(code string) string { return `{"code":"` + code + `","detail":"d"}` }
	for _, c := range []struct {
		what   string
		reply  func(Response) Reply
		status int
		body   string
		want   ledger.Outcome
	}{
		{"reserved", buy, 200, in("reserved"), ledger.OutcomeReserved},
		{"a copy, when it has expired", buy, 200, in("expired"), ledger.OutcomeReserved},
		{"another quantity", buy, 200, strings.Replace(in("reserved"), `"quantity":3`, `"quantity":2`, 1), ledger.OutcomeUnknown},
		{"another strategy", buy, 200, strings.Replace(in("reserved"), `"strategy":"reserve"`, `"strategy":"version"`, 1), ledger.OutcomeUnknown},
		{"no id", buy, 200, strings.Replace(in("reserved"), "o1", "", 1), ledger.OutcomeUnknown},
		{"sold out", buy, 409, problem("sold_out"), ledger.OutcomeSoldOut},
		{"paid", p.Paid, 200, in("paid"), ledger.OutcomeSold},
		{"paid, it says, and it is not", p.Paid, 200, in("reserved"), ledger.OutcomeUnknown},
		{"too late", p.Paid, 409, problem("expired"), ledger.OutcomeExpired},
		{"expired with another status", p.Paid, 404, problem("expired"), ledger.OutcomeUnknown},
		{"cancelled before", p.Paid, 409, problem("cancelled"), ledger.OutcomeError},
		{"released", p.Cancelled, 200, in("cancelled"), ledger.OutcomeCancelled},
		{"released by the deadline", p.Cancelled, 200, in("expired"), ledger.OutcomeCancelled},
		{"released, it says, and it is not", p.Cancelled, 200, in("reserved"), ledger.OutcomeUnknown},
		{"paid before", p.Cancelled, 409, problem("paid"), ledger.OutcomeError},
		{"not known", p.Paid, 504, problem("unknown_outcome"), ledger.OutcomeUnknown},
	} {
		kind := typeProblem
		if c.status == 200 {
			kind = typeJSON
		}
		if r := c.reply(Response{Status: c.status, ContentType: []byte(kind), Body: []byte(c.body)}); r.Outcome != c.want {
			t.Errorf("%s: %s (%s), want %s", c.what, r.Outcome, r.Message, c.want)
		}
	}
}
