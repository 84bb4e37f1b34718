package compare

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"seckill/loadtest"
)

// The bare handler needs no server, and knows one call only. What needs a server
// that is not there says so.
func TestBaselinesWithoutServers(t *testing.T) {
	reserving := sale()
	reserving.Reserve, reserving.Forget, reserving.Async = time.Second, .5, true
	all, stop, err := OpenBaselines(t.Context(), AllBaselines, reserving, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if (b.Missing == "") != (b.ID == BaselineHTTP) {
			t.Errorf("%s is missing: %q", b.ID, b.Missing)
		}
	}
	handler := all[0]
	if rate, err := handler.Measure(t.Context(), 8, 20*time.Millisecond); err != nil || rate <= 0 {
		t.Errorf("%g a second, %v", rate, err)
	}
	if _, err := handler.Measure(canceled(t), 8, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
	if err := stop(t.Context()); err != nil {
		t.Error(err)
	}
	if rate, err := handler.Measure(t.Context(), 8, 20*time.Millisecond); err == nil {
		t.Errorf("without a listener, %g requests per second", rate)
	}
}

// Refusals are fast, and do not count.
func TestABaselineIsAnswered(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	c := loadtest.Config{Scenario: sale().Scenario, Targets: []string{server.URL}}
	if rate, err := request(t.Context(), c, time.Millisecond); err == nil {
		t.Errorf("404 was taken for work done %g times a second", rate)
	}
}

func TestPerSecond(t *testing.T) {
	if _, err := perSecond(t.Context(), 4, time.Minute, func(context.Context) error { return errors.New("gone") }); err == nil {
		t.Error("work that fails was measured")
	}
	rate, err := perSecond(t.Context(), 2, 20*time.Millisecond, func(context.Context) error { time.Sleep(time.Millisecond); return nil })
	if err != nil || rate <= 0 || rate > 2000 {
		t.Errorf("two that need a millisecond each came to %g a second, %v", rate, err)
	}
}
