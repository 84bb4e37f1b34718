package labapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"seckill/internal/lab/labtest"
)

// The page is there before the lab is; a call waits for the lab, or for its caller to leave.
func TestThePageDoesNotWaitForTheLab(t *testing.T) {
	s, _, _ := start(t, nil)
	f := NewFront(s.Config)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	labtest.Must(t, err)
	go f.Serve(l)
	t.Cleanup(func() { f.Close() })
	get := func(ctx context.Context, path string) (status int, err error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+l.Addr().String()+path, nil)
		labtest.Must(t, err)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}
	for path, want := range map[string]int{"/": http.StatusOK, "/static/app.mjs": http.StatusOK, "/static/none.mjs": http.StatusNotFound} {
		if status, err := get(t.Context(), path); err != nil || status != want {
			t.Errorf("%s before the lab is up: %d, %v, want %d", path, status, err, want)
		}
	}
	const call = "/api/lab/v1/status"
	gone, leave := context.WithCancel(t.Context())
	left, waits := make(chan error, 1), make(chan int, 1)
	go func() {
		_, err := get(gone, call)
		left <- err
	}()
	go func() {
		status, err := get(t.Context(), call)
		if err != nil {
			t.Error(err)
		}
		waits <- status
	}()
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who leaves: %v", err)
	}
	select {
	case status := <-waits:
		t.Errorf("a call was answered %d before the lab is up", status)
	default:
	}
	f.Open(s)
	if status := <-waits; status != http.StatusOK {
		t.Errorf("the call that waited was answered %d", status)
	}
}
