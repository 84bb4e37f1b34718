package told

import (
	"strings"
	"testing"

	"seckill/internal/ledger"
)

// A request counts once, by the best that one of its calls was told.
func TestToldSums(t *testing.T) {
	for _, test := range []struct {
		name, lines string
		want        ledger.Sums
		problem     string
	}{
		{"a copy and a retry", `{"user_id":1,"request_id":"a","quantity":2,"outcome":"unknown"}
{"user_id":1,"request_id":"a","quantity":2,"outcome":"sold"}
{"user_id":1,"request_id":"a","quantity":2,"outcome":"sold"}`,
			ledger.Sums{Requests: 1, Sold: 2, Wanted: 2}, ""},
		{"the same key of two users", `{"user_id":1,"request_id":"a","quantity":2,"outcome":"sold"}
{"user_id":2,"request_id":"a","quantity":1,"outcome":"sold_out"}`,
			ledger.Sums{Requests: 2, Sold: 2, SoldOut: 1, Wanted: 1}, ""},
		{"unknown, then refused", `{"user_id":1,"request_id":"a","quantity":2,"outcome":"unknown"}
{"user_id":1,"request_id":"a","quantity":2,"outcome":"busy"}`,
			ledger.Sums{Requests: 1, Unknown: 2, Wanted: 2}, ""},
		{"cancelled by order, by request, and perhaps", `{"user_id":1,"request_id":"a","quantity":1,"outcome":"sold","order_id":"x"}
{"user_id":2,"request_id":"b","quantity":2,"outcome":"sold"}
{"user_id":3,"request_id":"c","quantity":4,"outcome":"sold"}
{"user_id":4,"request_id":"d","quantity":8,"outcome":"unknown"}
{"call":"cancel","user_id":1,"order_id":"x","outcome":"cancelled"}
{"call":"cancel","user_id":2,"request_id":"b","outcome":"unknown"}
{"call":"cancel","user_id":2,"request_id":"b","outcome":"cancelled"}
{"call":"cancel","user_id":3,"request_id":"c","outcome":"unknown"}
{"call":"cancel","user_id":4,"request_id":"d","outcome":"cancelled"}`,
			ledger.Sums{Requests: 4, Sold: 7, Unknown: 8, Cancelled: 3, MaybeCancelled: 4, Wanted: 1}, ""},
		{"a cancellation of nothing", `{"call":"cancel","user_id":1,"order_id":"x","outcome":"cancelled"}`, ledger.Sums{}, "no sale in the file has it"},
		{"one request, two quantities", `{"user_id":1,"request_id":"a","quantity":1,"outcome":"busy"}
{"user_id":1,"request_id":"a","quantity":2,"outcome":"busy"}`, ledger.Sums{}, "calls of one request are equal"},
	} {
		sales, err := ReadForTotals(strings.NewReader(setLine + test.lines))
		if err != nil {
			t.Fatal(test.name, err)
		}
		got, err := sales[0].Sums()
		if test.problem != "" {
			if err == nil || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s: %v, want %q", test.name, err, test.problem)
			}
			continue
		}
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v, want %+v", test.name, got, err, test.want)
		}
	}
}
