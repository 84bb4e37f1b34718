package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What strict reading costs: a purchase's body, read by ReadJSON and by
// encoding/json into the same struct.
func BenchmarkReadJSON(b *testing.B) {
	const body = `{"sku_id":1001,"user_id":42,"quantity":1,"request_id":"f3b0c442-98fc-4c14-9afb-f4c8996fb924"}`
	type purchase struct {
		SKU      int64  `json:"sku_id"`
		User     int64  `json:"user_id"`
		Quantity int64  `json:"quantity"`
		Request  string `json:"request_id"`
	}
	want := purchase{1001, 42, 1, "f3b0c442-98fc-4c14-9afb-f4c8996fb924"}
	for name, read := range map[string]func(http.ResponseWriter, *http.Request, any) error{
		"strict": ReadJSON,
		"encoding-json": func(w http.ResponseWriter, r *http.Request, p any) error {
			return json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxBody)).Decode(p)
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("POST", "/", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				var got purchase
				if err := read(httptest.NewRecorder(), r, &got); err != nil || got != want {
					b.Fatal(got, err)
				}
			}
		})
	}
}
