package loadtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
		{200, "", sale, ledger.OutcomeUnknown, codeNonsense},
		{200, json, sale + "x", ledger.OutcomeUnknown, codeNonsense},
		{200, json, sale[:20], ledger.OutcomeUnknown, codeNonsense},
		{200, json, "", ledger.OutcomeUnknown, codeNonsense},
		{200, json, "null", ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"","sku_id":1,"quantity":2,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":7,"sku_id":1,"quantity":2,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":2,"quantity":2,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":1,"remaining":0,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":0,"strategy":"naive"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":2,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{200, json, `{"order_id":"a1","sku_id":1,"quantity":2,"remaining":0.5,"strategy":"version"}`, ledger.OutcomeUnknown, codeNonsense},
		{201, json, sale, ledger.OutcomeUnknown, codeNonsense},
		{302, "text/html", "moved", ledger.OutcomeUnknown, codeNonsense},

		{409, problem, `{"code":"sold_out"}`, ledger.OutcomeSoldOut, "sold_out"},
		{409, problem, `{"code":"duplicate"}`, ledger.OutcomeDuplicate, "duplicate"},
		{409, problem, `{"code":"conflict"}`, ledger.OutcomeConflict, "conflict"},
		{409, problem, `{"code":"not_started"}`, ledger.OutcomeError, "not_started"},
		{429, problem, `{"code":"busy"}`, ledger.OutcomeBusy, "busy"},
		{429, problem, `{"code":"rate_limited"}`, ledger.OutcomeBusy, "rate_limited"},
		{400, problem, `{"code":"invalid"}`, ledger.OutcomeError, "invalid"},
		{403, problem, `{"code":"forbidden"}`, ledger.OutcomeError, "forbidden"},
		{404, problem, `{"code":"not_found"}`, ledger.OutcomeError, "not_found"},
		{404, problem, `{"code":"unknown_sku"}`, ledger.OutcomeError, "unknown_sku"},
		{404, problem, `{"code":"unknown_strategy"}`, ledger.OutcomeError, "unknown_strategy"},
		{405, problem, `{"code":"method_not_allowed"}`, ledger.OutcomeError, "method_not_allowed"},
		{413, problem, `{"code":"too_large"}`, ledger.OutcomeError, "too_large"},
		{415, problem, `{"code":"unsupported_media_type"}`, ledger.OutcomeError, "unsupported_media_type"},
		{422, problem, `{"code":"idempotency_mismatch"}`, ledger.OutcomeError, "idempotency_mismatch"},
		{503, problem, `{"code":"strategy_unavailable"}`, ledger.OutcomeError, "strategy_unavailable"},
		{503, problem, `{"code":"backend_unavailable"}`, ledger.OutcomeError, "backend_unavailable"},
		{504, problem, `{"code":"unknown_outcome"}`, ledger.OutcomeUnknown, "unknown_outcome"},
		{500, problem, `{"code":"internal"}`, ledger.OutcomeUnknown, "internal"},

		{409, problem, `{"code":"sold_out"`, ledger.OutcomeUnknown, codeNonsense},
		{409, json, `{"code":"sold_out"}`, ledger.OutcomeUnknown, codeNonsense},
		{404, problem, `{"code":"sold_out"}`, ledger.OutcomeUnknown, codeNonsense},
		{409, problem, `{"code":"surprise"}`, ledger.OutcomeUnknown, codeNonsense},
		{404, "text/plain", "404 page not found", ledger.OutcomeUnknown, codeNonsense},
		{500, "text/plain", "boom", ledger.OutcomeUnknown, "http_500"},
		{502, "text/html", "<h1>Bad Gateway</h1>", ledger.OutcomeUnknown, "http_502"},
		{503, problem, `{}`, ledger.OutcomeUnknown, "http_503"},
	} {
		o := order{sku: 1, quantity: 2, strategy: "version"}
		r := o.means(answer{status: test.status, contentType: []byte(test.contentType), body: []byte(test.body)})
		if r.outcome != test.outcome || r.code != test.code {
			t.Errorf("%d %s %s\n\tis %s %q (%s), want %s %q", test.status, test.contentType, test.body,
				r.outcome, r.code, r.message, test.outcome, test.code)
		}
		if r.outcome == ledger.OutcomeSold && string(r.orderID) != "a1" {
			t.Errorf("order %q", r.orderID)
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
		{io.EOF, ledger.OutcomeUnknown, codeLost},
		{errors.New("http: server closed idle connection"), ledger.OutcomeUnknown, codeLost},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, ledger.OutcomeUnknown, codeLost},
		{&net.OpError{Op: "write", Err: syscall.EPIPE}, ledger.OutcomeUnknown, codeLost},
		{fmt.Errorf("wrapped: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), ledger.OutcomeError, codeUnreachable},
	} {
		if r := noAnswer(test.err); r.outcome != test.outcome || r.code != test.code {
			t.Errorf("%v is %s %q, want %s %q", test.err, r.outcome, r.code, test.outcome, test.code)
		}
	}
}
