package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"seckill/internal/httpapi"
	"seckill/internal/seckill"
)

const good = `{"sku_id":1,"user_id":42,"quantity":1}`

func TestBadPurchases(t *testing.T) {
	sold := 0
	f := sells()
	f.deduct = func(context.Context, seckill.Purchase) (seckill.Receipt, error) {
		sold++
		return seckill.Receipt{}, nil
	}
	s := serverWith(t, f, httpapi.Config{})
	deep := strings.Repeat(`[`, 8000)
	for what, c := range map[string]struct {
		body   string
		field  string // that is blamed
		detail string // part of it
	}{
		"empty body":          {``, "", "empty"},
		"no JSON":             {`sku_id=1&user_id=2`, "", `JSON object: invalid character 's' at start of value`},
		"an array":            {`[1,2]`, "", "JSON object"},
		"null":                {`null`, "", "JSON object"},
		"byte order mark":     {"\ufeff" + good, "", "JSON object"},
		"cut short":           {`{"sku_id":1,"user_id":42`, "", "unexpected EOF"},
		"trailing text":       {good + ` x`, "", "after top-level value"},
		"trailing comma":      {`{"sku_id":1,"user_id":42,}`, "", "invalid character ','"},
		"invalid UTF-8":       {"{\"sku_id\":1,\"user_id\":2,\"\xff\":1}", "", "UTF-8"},
		"leading zero":        {`{"sku_id":01,"user_id":2}`, "", "invalid character '1'"},
		"empty object":        {`{}`, "sku_id", "missing"},
		"no user":             {`{"sku_id":1}`, "user_id", "missing"},
		"no SKU":              {`{"user_id":1}`, "sku_id", "missing"},
		"unknown field":       {`{"sku_id":1,"user_id":42,"price":1}`, "price", "sku_id, user_id, quantity"},
		"other case":          {`{"SKU_ID":1,"user_id":42}`, "SKU_ID", "must be written sku_id"},
		"long s for s":        {`{"ſku_id":1,"user_id":42}`, "ſku_id", "must be written sku_id"},
		"repeated field":      {`{"sku_id":1,"user_id":42,"sku_id":1}`, "sku_id", "more than once"},
		"repeated by escape":  {`{"sku_id":1,"user_id":42,"\u0073ku_id":2}`, "sku_id", "more than once"},
		"a text":              {`{"sku_id":"1","user_id":42}`, "sku_id", "not a text"},
		"null value":          {`{"sku_id":1,"user_id":null}`, "user_id", "null"},
		"an array value":      {`{"sku_id":[1],"user_id":42}`, "sku_id", "not an array"},
		"deep nesting":        {`{"sku_id":` + deep, "", "JSON object"},
		"zero":                {`{"sku_id":0,"user_id":42}`, "sku_id", "at least 1"},
		"negative":            {`{"sku_id":1,"user_id":-42}`, "user_id", "at least 1"},
		"no quantity":         {`{"sku_id":1,"user_id":42,"quantity":0}`, "quantity", "at least 1"},
		"fraction":            {`{"sku_id":1,"user_id":42,"quantity":1.5}`, "quantity", "fraction"},
		"exponent":            {`{"sku_id":1,"user_id":42,"quantity":1e1}`, "quantity", "exponent"},
		"enormous exponent":   {`{"sku_id":1,"user_id":42,"quantity":1E999999999}`, "quantity", "exponent"},
		"enormous quantity":   {`{"sku_id":1,"user_id":42,"quantity":1000001}`, "quantity", "at most 1000000"},
		"over JavaScript":     {`{"sku_id":1,"user_id":9007199254740992}`, "user_id", "at most 9007199254740991"},
		"over int64":          {`{"sku_id":9223372036854775808,"user_id":42}`, "sku_id", "at most"},
		"wraps round uint64":  {`{"sku_id":18446744073709551617,"user_id":42}`, "sku_id", "at most"},
		"thousands of digits": {`{"sku_id":` + strings.Repeat("9", 9000) + `,"user_id":42}`, "sku_id", "at most"},
	} {
		t.Run(what, func(t *testing.T) {
			r := ask(t, s, http.MethodPost, "/api/v1/seckill", c.body, "Content-Type: application/json")
			r.want(t, c.body[:min(len(c.body), 80)], http.StatusBadRequest, "invalid")
			if !strings.Contains(r.Detail, c.detail) {
				t.Errorf("detail is %q, want %q in it", r.Detail, c.detail)
			}
			if c.field == "" {
				return
			}
			if len(r.Errors) != 1 || r.Errors[0].Field != c.field || !strings.Contains(r.Detail, c.field) {
				t.Errorf("blames %+v in %q, want the field %q", r.Errors, r.Detail, c.field)
			}
		})
	}
	if sold != 0 {
		t.Errorf("%d of the bad requests reached the strategy", sold)
	}
}

func TestLongFieldNamesAreCut(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{})
	r := ask(t, s, http.MethodPost, "/api/v1/seckill", `{"`+strings.Repeat("ü", 4000)+`":1}`)
	r.want(t, "a long unknown field", http.StatusBadRequest, "invalid")
	if len(r.body) > 1500 {
		t.Errorf("the answer repeats %d bytes", len(r.body))
	}
}

func TestGoodPurchases(t *testing.T) {
	var got seckill.Purchase
	f := sells()
	f.deduct = func(_ context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		got = p
		return seckill.Receipt{OrderID: "o"}, nil
	}
	s := serverWith(t, f, httpapi.Config{})
	for body, want := range map[string]seckill.Purchase{
		good:                        {SKU: 1, User: 42, Quantity: 1},
		`{"user_id":42,"sku_id":1}`: {SKU: 1, User: 42, Quantity: 1},
		"\n{ \"sku_id\" : 1 ,\t\"user_id\":\r42, \"quantity\": 1000000 } \n": {SKU: 1, User: 42, Quantity: 1000000},
		`{"\u0073ku_id":1,"user_id":42}`:                                     {SKU: 1, User: 42, Quantity: 1},
		`{"sku_id":9007199254740991,"user_id":9007199254740991}`:             {SKU: 1<<53 - 1, User: 1<<53 - 1, Quantity: 1},
	} {
		r := ask(t, s, http.MethodPost, "/api/v1/seckill", body)
		if got.RequestID = ""; r.status != http.StatusOK || got != want {
			t.Errorf("%s came to %d %s and %+v, want %+v", body, r.status, r.body, got, want)
		}
	}
}

func TestBadHeadersAndQueries(t *testing.T) {
	s := serverWith(t, sells(), httpapi.Config{})
	const buy = "POST /api/v1/seckill"
	for _, c := range []struct {
		call, body string
		headers    []string
		status     int
		code       string
		detail     string
	}{
		{buy, good, []string{"Content-Type: text/plain"}, 415, "unsupported_media_type", "application/json"},
		{buy, good, []string{"Content-Type: "}, 415, "unsupported_media_type", ""},
		{buy, good, []string{"Content-Type: application/json; charset=latin1"}, 415, "unsupported_media_type", "UTF-8"},
		{buy, good, []string{"Content-Encoding: gzip"}, 415, "unsupported_media_type", "Content-Encoding"},
		{buy, good, []string{"Content-Type: application/json; charset=UTF-8"}, 200, "", ""},
		{buy, strings.Repeat(" ", 16<<10) + good, nil, 413, "too_large", "16384"},
		{buy, good + strings.Repeat(" ", 16<<10-len(good)), nil, 200, "", ""},
		{buy, good, []string{"Idempotency-Key: "}, 400, "invalid", "Idempotency-Key"},
		{buy, good, []string{"Idempotency-Key: with blank"}, 400, "invalid", "visible ASCII"},
		{buy, good, []string{"Idempotency-Key: clé"}, 400, "invalid", "visible ASCII"},
		{buy, good, []string{"Idempotency-Key: " + strings.Repeat("k", 129)}, 400, "invalid", "128"},
		{buy, good, []string{"Idempotency-Key: a", "Idempotency-Key: a"}, 400, "invalid", "more than once"},
		{buy, good, []string{"Idempotency-Key: " + strings.Repeat("k", 128)}, 200, "", ""},
		{buy + "?strategy=fake", good, nil, 200, "", ""},
		{buy + "?strategy=no-such", good, nil, 404, "unknown_strategy", "there are: fake"},
		{buy + "?strategy=fake&strategy=fake", good, nil, 400, "invalid", "more than once"},
		{buy + "?strategy=", good, nil, 400, "invalid", "empty"},
		{buy + "?Strategy=fake", good, nil, 400, "invalid", "must be written strategy"},
		{buy + "?strategy=fake;x=1", good, nil, 400, "invalid", "query"},
		{buy + "?dry_run=1", good, nil, 400, "invalid", "dry_run"},
		{buy + "?%ff=1", good, nil, 400, "invalid", "not a field"},
		{"GET /api/v1/orders?sku=1", "", nil, 400, "invalid", "sku"},
		{"GET /api/v1/orders?sku_id=1&sku_id=2", "", nil, 400, "invalid", "more than once"},
		{"GET /api/v1/orders?sku_id=", "", nil, 400, "invalid", "empty"},
		{"GET /api/v1/orders?sku_id=x", "", nil, 400, "invalid", "whole number"},
		{"GET /api/v1/orders?user_id=-1", "", nil, 400, "invalid", "at least 1"},
		{"GET /api/v1/orders", "", nil, 400, "invalid", "sku_id, user_id, or both"},
		{"GET /api/v1/orders?limit=0", "", nil, 400, "invalid", "at least 1"},
		{"GET /api/v1/orders?limit=10001", "", nil, 400, "invalid", "at most 10000"},
		{"GET /api/v1/orders?after=-5", "", nil, 400, "invalid", "at least 0"},
		{"GET /api/v1/orders?request_id=a%20b", "", nil, 400, "invalid", "visible ASCII"},
		{"GET /api/v1/audit", "", nil, 400, "invalid", "missing"},
		{"GET /api/v1/audit?sku_id=1&sku=2", "", nil, 400, "invalid", "sku"},
		{"GET /api/v1/audit?sku_id=99", "", nil, 404, "unknown_sku", ""},
		{"GET /api/v1/skus?all=1", "", nil, 400, "invalid", "known are: after, limit"},
		{"GET /api/v1/skus/99", "", nil, 404, "unknown_sku", ""},
		{"GET /api/v1/skus/abc", "", nil, 400, "invalid", "SKU"},
		{"GET /api/v1/skus/01", "", nil, 400, "invalid", "SKU"},
		{"GET /api/v1/skus/99999999999999999999", "", nil, 400, "invalid", "at most"},
		{"GET /api/v1/strategies/no-such", "", nil, 404, "unknown_strategy", "there are: fake"},
		{"DELETE /api/v1/orders/no-such", "", nil, 404, "unknown_order", ""},
		{"DELETE /api/v1/orders/x?force=1", "", nil, 400, "invalid", ""},
		{"GET /", "", nil, 404, "not_found", "/openapi.json"},
		{"GET /api/v1/seckill/", "", nil, 404, "not_found", ""},
		{"GET /api/v1/seckill", "", nil, 405, "method_not_allowed", "Allow"},
		{"BREW /api/v1/orders", "", nil, 405, "method_not_allowed", ""},
		{"PUT /api/v1/skus/1", `{"stock":-1}`, nil, 400, "invalid", "at least 0"},
		{"PUT /api/v1/skus/1", `{"stock":1000000001}`, nil, 400, "invalid", "at most 1000000000"},
		{"PUT /api/v1/skus/1", `{"stock":1.5}`, nil, 400, "invalid", "fraction"},
		{"PUT /api/v1/skus/1", `{"name":"no stock"}`, nil, 400, "invalid", "stock is missing"},
		{"PUT /api/v1/skus/1", `{"name":7,"stock":1}`, nil, 400, "invalid", "must be a text"},
		{"PUT /api/v1/skus/1", `{"name":"","stock":1}`, nil, 400, "invalid", "characters"},
		{"PUT /api/v1/skus/1", `{"name":"a\u0000b","stock":1}`, nil, 400, "invalid", "control"},
		{"PUT /api/v1/skus/1", `{"name":"` + strings.Repeat("é", 256) + `","stock":1}`, nil, 400, "invalid", "255"},
		{"PUT /api/v1/skus/1", `{"stock":1,"starts_at":1762790400}`, nil, 400, "invalid", "starts_at must be a text"},
		{"PUT /api/v1/skus/1", `{"stock":1,"starts_at":"tomorrow"}`, nil, 400, "invalid", "2026-11-11T00:00:00+08:00"},
		{"PUT /api/v1/skus/1", `{"stock":1,"starts_at":"2026-11-11T00:00:00"}`, nil, 400, "invalid", "with its zone"},
		{"PUT /api/v1/skus/1", `{"stock":1,"starts_at":"2026-02-30T00:00:00Z"}`, nil, 400, "invalid", "starts_at"},
		{"PUT /api/v1/skus/0", `{"stock":1}`, nil, 400, "invalid", "at least 1"},
		{"PUT /api/v1/skus/1", `{"stock":1}`, []string{"Content-Type: text/plain"}, 415, "unsupported_media_type", ""},
	} {
		method, target, _ := strings.Cut(c.call, " ")
		request := newRequest(method, target, c.body)
		for _, h := range c.headers {
			name, value, _ := strings.Cut(h, ": ")
			if name != "Idempotency-Key" {
				request.Header.Del(name)
			}
			request.Header[name] = append(request.Header[name], value)
		}
		r := do(t, s, request)
		r.want(t, c.call+" "+strings.Join(c.headers, ", "), c.status, c.code)
		if !strings.Contains(r.Detail, c.detail) {
			t.Errorf("%s %v: detail is %q, want %q in it", c.call, c.headers, r.Detail, c.detail)
		}
		if c.status == http.StatusMethodNotAllowed && r.header.Get("Allow") == "" {
			t.Errorf("%s: no Allow header", c.call)
		}
	}
}
