package web

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The limit on the time for a body ends the read of the body. It must not end a handler that goes
// on for longer: that handler's context must not say that the caller has gone.
func TestTheTimeForABody(t *testing.T) {
	const limit = 100 * time.Millisecond
	ended := make(chan error, 2) // the error of reading the body, then that of the request's context
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := readBody(w, r, limit)
		ended <- err
		if err == nil {
			time.Sleep(3 * limit) // longer than the limit that is tested
		}
		ended <- r.Context().Err()
	}))
	defer h.Close()
	for _, body := range []string{"", "hello", strings.Repeat("x", MaxBody)} {
		answer, err := http.Post(h.URL, "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if read, gone := <-ended, <-ended; read != nil || gone != nil {
			t.Errorf("%d bytes of body: %v, and the request's context ended: %v", len(body), read, gone)
		}
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
	if err := <-ended; err == nil {
		t.Error("half a body was read as a whole one")
	}
}

type order struct {
	SKU    *int64                  `json:"sku_id"`
	Name   string                  `json:"name"`
	Faults []struct{ Kind string } `json:"faults"`
}

func readOrder(contentType, body string) (o order, err error) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", contentType)
	return o, ReadJSON(httptest.NewRecorder(), r, &o)
}

// Either ReadJSON refuses a body with a Problem that blames the caller, or encoding/json reads the same values from it.
func FuzzReadJSON(f *testing.F) {
	for _, body := range []string{`{"sku_id":1,"name":"a"}`, `{"sku_id":1,"sku_id":2}`, `{"SKU_ID":1}`, `{"sku_id":null}`, `{"sku_id":1e3}`,
		`{"faults":[{"Kind":"x"},{"Kind":3}]}`, `{"name":"\ud800"}`, "{\"name\":\"\xff\"}", `{}{}`, `[`} {
		f.Add("application/json", body)
	}
	f.Add("application/json; charset=gbk", `{}`)
	f.Fuzz(func(t *testing.T, contentType, body string) {
		got, err := readOrder(contentType, body)
		var p *Problem
		var want order
		if err != nil && (!errors.As(err, &p) || p.Status < 400 || p.Status > 499) {
			t.Errorf("%q is refused with %#v, want a Problem of the caller's", body, err)
		} else if err == nil && (json.Unmarshal([]byte(body), &want) != nil || !reflect.DeepEqual(got, want)) {
			t.Errorf("%q is %+v, encoding/json reads %+v", body, got, want)
		}
	})
}

// If a query is accepted, it has only the known parameter, and that only once. No header makes a
// page of another machine count as local. No header that a log could not show counts as a key.
func FuzzHeaders(f *testing.F) {
	f.Add("a=1&a=2", "127.0.0.1:8080", "http://127.0.0.1:8080", "Bearer x", "k1")
	f.Add("a=%zz", "[::1]:80", "https://[::1]:80", "bearer  ", strings.Repeat("k", 129))
	f.Add("b=1;a=2", "evil.example:80", "http://evil.example:80", "Basic x", "a b")
	f.Add("%61=1", "[::ffff:127.0.0.1%25lo]", "null", "Bearer", "\x7f")
	f.Fuzz(func(t *testing.T, query, host, origin, authorization, key string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.RawQuery, r.Host, r.RemoteAddr = query, host, "127.0.0.1:9"
		r.Header = http.Header{"Origin": {origin}, "Authorization": {authorization}}
		if q, err := ReadQuery(r, "a"); err == nil && len(q) > 0 && (len(q) > 1 || len(q["a"]) != 1 || q["a"][0] == "") {
			t.Errorf("the query %q is accepted as %q", query, q)
		}
		if token := Bearer(r); !strings.HasSuffix(authorization, token) || SameToken(token, "") {
			t.Errorf("%q bears the token %q", authorization, token)
		}
		if name := strings.ToLower(Hostname(host)); NotLocal(r) == "" && name != "localhost" && !strings.HasPrefix(name, "127.") && !strings.Contains(name, ":") {
			t.Errorf("the host %q counts as this machine", host)
		}
		if ForeignPage(r) == "" && origin != "" && !strings.HasSuffix(origin, host) {
			t.Errorf("a page of %q counts as one of %q", origin, host)
		}
		if IsKey(key) && (len(key) > 128 || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' })) {
			t.Errorf("%q counts as a key", key)
		}
	})
}

// BenchmarkReadJSON reads a purchase of the usual size.
func BenchmarkReadJSON(b *testing.B) {
	for b.Loop() {
		if _, err := readOrder("application/json", `{"sku_id":1,"name":"a flash sale","faults":[{"Kind":"stop"}]}`); err != nil {
			b.Fatal(err)
		}
	}
}
