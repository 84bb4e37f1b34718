package web

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// The time for a body bounds the read of it, and no handler: one that takes longer is
// not told that its caller has gone.
func TestTheTimeForABody(t *testing.T) {
	const limit = 100 * time.Millisecond
	ended := make(chan error, 2) // of reading the body, and of the request's context
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := readBody(w, r, limit)
		ended <- err
		if err == nil {
			time.Sleep(3 * limit) // the time itself is what is tested
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
