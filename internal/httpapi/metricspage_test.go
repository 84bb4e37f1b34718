package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"
)

// However many ask, one reading is made at a time, all who came before it began
// share it, and nobody gets one that is older than their question.
func TestMetricsAreReadTogether(t *testing.T) {
	var readings, value atomic.Int64
	begun, go1 := make(chan struct{}, 1), make(chan struct{})
	page := newMetricsPage(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := value.Load()
		if readings.Add(1) == 1 {
			begun <- struct{}{}
			<-go1
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		fmt.Fprint(w, now, r.URL.RawQuery)
	}))
	get := func() (*httptest.ResponseRecorder, string) {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w, w.Body.String()
	}
	var g errgroup.Group
	g.Go(func() error {
		if w, body := get(); body != "0" || w.Code != 200 || w.Header().Get("Content-Type") == "" {
			return fmt.Errorf("the first: %d %v %s", w.Code, w.Header(), body)
		}
		return nil
	})
	<-begun
	value.Store(7) // after the first reading has looked
	const callers = 500
	joined := make(chan struct{}, callers)
	for range callers {
		g.Go(func() error {
			r := httptest.NewRequest("GET", "/metrics?name[]=nothing", nil) // would filter them for all
			n := page.join(r)
			joined <- struct{}{}
			if <-n.done; n.String() != "7" {
				return fmt.Errorf("a caller who came later got %q", n.String())
			}
			return nil
		})
	}
	for range callers {
		<-joined
	}
	close(go1)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	if n := readings.Load(); n != 2 {
		t.Errorf("%d readings for two groups of callers", n)
	}
}
