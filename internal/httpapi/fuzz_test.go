package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"seckill/internal/httpapi"
	"seckill/internal/seckill"
)

// strictly is the reference: what a purchase's body must be, by the standard
// library's tokenizer instead of jsontext's.
func strictly(body []byte) (p seckill.Purchase, ok bool) {
	if !utf8.Valid(body) || !json.Valid(body) {
		return p, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return p, false
	}
	p.Quantity = 1
	fields := map[string]*int64{"sku_id": &p.SKU, "user_id": &p.User, "quantity": &p.Quantity}
	limits := map[string]int64{"sku_id": 1<<53 - 1, "user_id": 1<<53 - 1, "quantity": seckill.MaxQuantity}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return p, false
		}
		field := fields[name.(string)]
		value, err := d.Token()
		number, isNumber := value.(json.Number)
		if err != nil || !isNumber || field == nil {
			return p, false
		}
		delete(fields, name.(string)) // once only
		n, err := number.Int64()
		if err != nil || n < 1 || n > limits[name.(string)] {
			return p, false
		}
		*field = n
	}
	if _, err := d.Token(); err != nil { // }
		return p, false
	}
	_, err := d.Token()
	return p, err == io.EOF && p.SKU > 0 && p.User > 0
}

var inContract = map[int][]string{
	400: {"invalid"}, 404: {"unknown_strategy"}, 413: {"too_large"}, 415: {"unsupported_media_type"},
}

func FuzzPurchase(f *testing.F) {
	const kind = "application/json"
	for _, body := range []string{
		good, `{"sku_id":1,"user_id":2}`, ``, `{}`, `null`, `[]`, `{"sku_id":1,"sku_id":1,"user_id":2}`,
		`{"SKU_ID":1,"user_id":2}`, `{"sku_id":1e3,"user_id":2}`, `{"sku_id":1.0,"user_id":-2}`, good + good,
		`{"\u0073ku_id":1,"user_id":2}`, `{"sku_id":9007199254740992,"user_id":2}`, "{\"sku_id\":1,\"\xff\":2}",
		`{"sku_id":{"a":[1]},"user_id":2}`, `{"sku_id":1,"user_id":2,"x":"\ud800"}`, strings.Repeat("[", 100),
		"\n{ \"sku_id\" : 1 ,\t\"user_id\":\r42, \"quantity\": 1000000 } \n", `{"sku_id":9007199254740991,"user_id":9007199254740991}`,
		"\ufeff" + good,
	} {
		f.Add([]byte(body), kind, "", "")
	}
	f.Add([]byte(good), "text/plain", "", "")
	f.Add([]byte(good), kind+"; charset=utf-8", "key-1", "strategy=fake")
	f.Add([]byte(good), kind, "bad key", "strategy=no-such")
	f.Add([]byte(good), kind, strings.Repeat("k", 129), "strategy=fake&strategy=fake")
	f.Add([]byte(good), kind, "é", "x=%zz;")

	var sold seckill.Purchase
	strategy := sells()
	deduct := strategy.deduct
	strategy.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		sold = p
		return deduct(ctx, p)
	}
	s := serverWith(f, strategy, httpapi.Config{})
	f.Fuzz(func(t *testing.T, body []byte, contentType, key, query string) {
		r := httptest.NewRequest("POST", "/api/v1/seckill", bytes.NewReader(body))
		r.URL.RawQuery = query
		r.Header.Set("Content-Type", contentType)
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		got := do(t, s, r)
		if got.status != http.StatusOK {
			if !slices.Contains(inContract[got.status], got.Code) {
				t.Fatalf("answered %d %s", got.status, got.body)
			}
			if q, err := url.ParseQuery(query); contentType == kind && key == "" && len(body) <= 16<<10 && err == nil && len(q) == 0 {
				if p, ok := strictly(body); ok {
					t.Fatalf("refused %+v: %s", p, got.body)
				}
			}
			return
		}
		p, ok := strictly(body)
		if p.RequestID = sold.RequestID; !ok || p != sold {
			t.Fatalf("sold %+v, but the body says %+v, %t", sold, p, ok)
		}
		if sold.RequestID == "" || key != "" && sold.RequestID != key {
			t.Fatalf("sold under the request id %q, the key is %q", sold.RequestID, key)
		}
		var answer sale
		got.into(t, &answer)
		if answer.SKU != p.SKU || answer.Quantity != p.Quantity {
			t.Fatalf("asked for %+v, answered %+v", p, answer)
		}
	})
}
