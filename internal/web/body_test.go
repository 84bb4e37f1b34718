package web

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const limit = 100 * time.Millisecond

// A handler may take longer than its request's body may, and is not told that
// its caller has gone.
func TestLongAnswer(t *testing.T) {
	cause := make(chan error, 1)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		BoundBody(w, r, limit)
		io.ReadAll(r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(3 * limit): // the time itself is what is tested
		}
		cause <- r.Context().Err()
	}))
	defer h.Close()
	for _, body := range []string{"", "hello", strings.Repeat("x", 100_000)} {
		answer, err := http.Post(h.URL, "text/plain", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if err := <-cause; err != nil {
			t.Errorf("%d bytes of body: the request's context ended: %v", len(body), err)
		}
	}
}

func TestBodyThatNeverEnds(t *testing.T) {
	got := make(chan error, 1)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		BoundBody(w, r, limit)
		_, err := io.ReadAll(r.Body)
		got <- err
	}))
	defer h.Close()
	conn, err := net.Dial("tcp", strings.TrimPrefix(h.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
	var late net.Error
	if err := <-got; !errors.As(err, &late) || !late.Timeout() {
		t.Errorf("half a body: %v, want a time-out", err)
	}
}
