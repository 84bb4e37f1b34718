package loadtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"

	"seckill/internal/ledger"
)

func TestClassify(t *testing.T) {
	const (
		json    = "application/json; charset=utf-8"
		problem = "application/problem+json"
		sale    = `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":-3,"strategy":"version"}`
	)
	for _, test := range []struct {
		status            int
		contentType, body string
		outcome           ledger.Outcome
		code              string
	}{
		{200, json, sale, ledger.OutcomeSold, ""},
		{200, "application/json", `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":0,"strategy":"version","more":[1]}`, ledger.OutcomeSold, ""},
		{200, "text/html", sale, ledger.OutcomeUnknown, codeNonsense},
		{200, json, sale + "x", ledger.OutcomeUnknown, codeNonsense},
		{200, json, "null", ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"","sku_id":1,"quantity":2,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":7,"sku_id":1,"quantity":2,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":2,"quantity":2,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":1,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":0,"strategy":"naive"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":2,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":0.5,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{201, json, sale, ledger.OutcomeUnknown, codeNonsense},

		{409, problem, `{"code":"sold_out"}`, ledger.OutcomeSoldOut, "sold_out"},
		{409, problem, `{"code":"not_started"}`, ledger.OutcomeError, "not_started"},
		{503, problem, `{"code":"backend_unavailable"}`, ledger.OutcomeError, "backend_unavailable"},
		{504, problem, `{"code":"unknown_outcome"}`, ledger.OutcomeUnknown, "unknown_outcome"},
		{500, problem, `{"code":"internal"}`, ledger.OutcomeUnknown, "internal"},

		{409, problem, `{"code":"sold_out"`, ledger.OutcomeUnknown, codeNonsense},
		{409, json, `{"code":"sold_out"}`, ledger.OutcomeUnknown, codeNonsense},
		{404, problem, `{"code":"sold_out"}`, ledger.OutcomeUnknown, codeNonsense},
		{409, problem, `{"code":"surprise"}`, ledger.OutcomeUnknown, codeNonsense},
		{500, "text/plain", "boom", ledger.OutcomeUnknown, "http_500"},
		{503, problem, `{}`, ledger.OutcomeUnknown, "http_503"},
	} {
		o := wantedSale{1, 2, "version", ledger.OutcomeSold}
		r := o.Bought(response{Status: test.status, ContentType: test.contentType, Body: []byte(test.body)})
		if r.Outcome != test.outcome || r.Code != test.code {
			t.Errorf("%d %s %s\n\tis %s %q (%s), want %s %q", test.status, test.contentType, test.body,
				r.Outcome, r.Code, r.Message, test.outcome, test.code)
		}
		if r.Outcome == ledger.OutcomeSold && r.OrderID != "a1" {
			t.Errorf("order %q", r.OrderID)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	for _, test := range []struct {
		err     error
		outcome ledger.Outcome
		code    string
	}{
		{context.DeadlineExceeded, ledger.OutcomeUnknown, codeTimeout},
		{context.Canceled, ledger.OutcomeUnknown, codeInterrupted},
		{io.ErrUnexpectedEOF, ledger.OutcomeUnknown, codeLost},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, ledger.OutcomeUnknown, codeLost},
		{fmt.Errorf("wrapped: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), ledger.OutcomeError, codeUnreachable},
	} {
		if r := noAnswer(test.err); r.Outcome != test.outcome || r.Code != test.code {
			t.Errorf("%v is %s %q, want %s %q", test.err, r.Outcome, r.Code, test.outcome, test.code)
		}
	}
}

// What buyers who reserve are told, and what is none of the contract.
func TestRepliesToThoseWhoReserve(t *testing.T) {
	buy := wantedSale{1, 3, "reserve", ledger.OutcomeReserved}.Bought
	in := func(state string) string {
		return `{"reservation_id":"o1","sku_id":1,"user_id":42,"quantity":3,"remaining":7,"strategy":"reserve","state":"` + state + `"}`
	}
	problem := func(code string) string { return `{"code":"` + code + `","detail":"d"}` }
	for _, c := range []struct {
		what   string
		reply  func(response) reply
		status int
		body   string
		want   ledger.Outcome
	}{
		{"reserved", buy, 200, in("reserved"), ledger.OutcomeReserved},
		{"a copy, when it has expired", buy, 200, in("expired"), ledger.OutcomeReserved},
		{"another quantity", buy, 200, strings.Replace(in("reserved"), `"quantity":3`, `"quantity":2`, 1), ledger.OutcomeUnknown},
		{"no id", buy, 200, strings.Replace(in("reserved"), "o1", "", 1), ledger.OutcomeUnknown},
		{"paid", paid, 200, in("paid"), ledger.OutcomeSold},
		{"paid, it says, and it is not", paid, 200, in("reserved"), ledger.OutcomeUnknown},
		{"too late", paid, 409, problem("expired"), ledger.OutcomeExpired},
		{"expired with another status", paid, 404, problem("expired"), ledger.OutcomeUnknown},
		{"released", released, 200, in("cancelled"), ledger.OutcomeCancelled},
		{"released by the deadline", released, 200, in("expired"), ledger.OutcomeCancelled},
		{"released, it says, and it is not", released, 200, in("reserved"), ledger.OutcomeUnknown},
		{"paid before", released, 409, problem("paid"), ledger.OutcomeError},
	} {
		kind := typeProblem
		if c.status == 200 {
			kind = typeJSON
		}
		if r := c.reply(response{Status: c.status, ContentType: kind, Body: []byte(c.body)}); r.Outcome != c.want {
			t.Errorf("%s: %s (%s), want %s", c.what, r.Outcome, r.Message, c.want)
		}
	}
}
