package told

import (
	"bytes"
	"strings"
	"testing"

	"seckill/internal/seckill"
)

// FuzzReadTold: whatever a load generator wrote is read, or refused in one line; what
// is read is within the limits that the judge relies on.
func FuzzReadTold(f *testing.F) {
	for _, text := range []string{
		"", "\n\n", `{"sku_id":1,"stock":100}`,
		`{"sku_id":1,"stock":100,"run":3,"strategy":"naive"}` + "\n" +
			`{"request_id":"a","user_id":1,"quantity":1,"outcome":"sold","order_id":"o","remaining":99,"sent_at":"2026-11-11T00:00:00Z","answered_at":"2026-11-11T00:00:01Z"}` + "\n" +
			`{"call":"cancel","user_id":1,"order_id":"o","outcome":"cancelled"}`,
		`{"sku_id":1,"stock":-1}`, `{"sku_id":9223372036854775807,"stock":9223372036854775807}`,
		`{"sku_id":1,"stock":1}` + "\n" + `{"user_id":1,"quantity":9223372036854775807,"request_id":"r","outcome":"unknown"}`,
		`{"sku_id":1,"stock":1}` + "\n" + `{"sent_at":"0000-01-01T00:00:00Z","answered_at":"9999-12-31T23:59:59Z","user_id":1,"quantity":1,"request_id":"r","outcome":"busy"}`,
		strings.Repeat("x", longestLine),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, receipts := range []bool{true, false} {
			sales, err := read(bytes.NewReader(data), receipts)
			if err != nil {
				if text := err.Error(); text == "" || len(text) > 2000 || strings.Contains(text, "\n") {
					t.Fatalf("an error of %d bytes", len(text))
				}
				continue
			}
			if len(sales) == 0 {
				t.Fatal("no sale and no error")
			}
			for _, s := range sales {
				if s.SKU < 1 || s.Stock < 0 || s.Stock > seckill.MaxStock || s.Run < 0 {
					t.Fatalf("a sale of %+v", s)
				}
				for _, c := range s.Told {
					if c.Quantity < 0 || c.Quantity > seckill.MaxQuantity || c.Answered != 0 && c.Answered < c.Sent {
						t.Fatalf("a call of %+v", c)
					}
				}
			}
		}
	})
}
