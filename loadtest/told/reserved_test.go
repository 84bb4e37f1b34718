package told

import (
	"reflect"
	"strings"
	"testing"

	"seckill/internal/ledger"
)

// Reservations that are paid, cancelled, and left alone, and what they add up to.
func TestReservations(t *testing.T) {
	sales, err := Read(strings.NewReader(`{"sku_id":1,"stock":10}
{"request_id":"a","user_id":1,"quantity":2,"outcome":"reserved","order_id":"oa","remaining":8}
{"call":"pay","request_id":"a","user_id":1,"outcome":"sold","order_id":"oa"}
{"request_id":"b","user_id":2,"quantity":3,"outcome":"reserved","order_id":"ob","remaining":5}
{"call":"cancel","user_id":2,"outcome":"cancelled","order_id":"ob"}
{"request_id":"c","user_id":3,"quantity":1,"outcome":"reserved","order_id":"oc","remaining":4}
{"call":"pay","user_id":3,"outcome":"expired","order_id":"oc"}
`))
	if err != nil {
		t.Fatal(err)
	}
	if pay := sales[0].Told[1]; pay.Call != ledger.CallPay || pay.Outcome != ledger.OutcomeSold || pay.OrderID != "oa" {
		t.Errorf("the payment is read as %+v", pay)
	}
	sums, err := sales[0].Sums()
	want := ledger.Sums{Requests: 3, Sold: 5, Unknown: 1, Cancelled: 3, Wanted: 1}
	if err != nil || !reflect.DeepEqual(sums, want) {
		t.Errorf("they add up to %+v, %v; want %+v", sums, err, want)
	}
	for line, why := range map[string]string{
		`{"request_id":"a","user_id":1,"quantity":2,"outcome":"reserved"}`:               `"order_id" and "remaining"`,
		`{"call":"pay","user_id":1,"outcome":"sold"}`:                                    `"order_id"`,
		`{"call":"pay","user_id":1,"order_id":"o","outcome":"reserved"}`:                 `not told "reserved"`,
		`{"call":"cancel","user_id":1,"order_id":"o","outcome":"sold"}`:                  `not told "sold"`,
		`{"call":"reserve","request_id":"a","user_id":1,"quantity":2,"outcome":"error"}`: "buy, cancel and pay",
	} {
		if _, err := Read(strings.NewReader(`{"sku_id":1,"stock":10}` + "\n" + line + "\n")); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %s", line, err, why)
		}
	}
}
