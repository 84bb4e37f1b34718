package httpapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// However many ask, all who came before a reading began share it, and what one of
// them asks for hides nothing from the others.
func TestMetricsAreReadTogether(t *testing.T) {
	var readings atomic.Int64
	registry := prometheus.NewRegistry()
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "readings"}, func() float64 {
		return float64(readings.Add(1))
	}))
	page := &metricsPage{Gatherer: registry}
	get := func(target string, came time.Time) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		page.serve(w, httptest.NewRequest("GET", target, nil), came)
		return w
	}
	came := time.Now()
	var callers sync.WaitGroup
	for range 500 {
		callers.Go(func() {
			w := get("/metrics?name[]=nothing", came)
			if !strings.HasSuffix(w.Body.String(), "readings 1\n") {
				t.Errorf("a caller got %q", w.Body.String())
			}
		})
	}
	callers.Wait()
	w := get("/metrics", time.Now())
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain; version=0.0.4") ||
		!strings.HasSuffix(w.Body.String(), "readings 2\n") {
		t.Errorf("who came later: %d %v %s", w.Code, w.Header(), w.Body.String())
	}
}

func TestMetricsThatCannotBeRead(t *testing.T) {
	page := &metricsPage{Gatherer: prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) { return nil, errors.New("no") })}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "cannot be read: no") {
		t.Errorf("%d %s", w.Code, w.Body.String())
	}
}
