package httpapi_test

import (
	"context"
	"net/http"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// A stop lets those in line have their turn.
func TestAGracefulStopServesTheLine(t *testing.T) {
	in := labtest.Instance(t, backend.SQL, backend.RowLocks, backend.Procedures)
	migrate(t, in)
	before := settings
	defer func() { settings = before }()
	settings.QueueAtOnce = 1
	s := serve(t, nil, httpapi.Config{Instance: in, Infos: strategies.All(), Default: "queued"})
	ask(t, s.Server, "PUT", "/api/v1/skus/1", `{"stock":5}`)
	row := in.DB.WithContext(t.Context()).Begin()
	defer row.Rollback()
	if err := row.Exec("UPDATE stock SET name = 'held' WHERE id = 1").Error; err != nil {
		t.Fatal(err)
	}
	replies := make(chan reply, 3)
	for user := range cap(replies) {
		go func() {
			r, err := s.buy(context.WithoutCancel(t.Context()), user+1)
			if err != nil {
				t.Error(err)
			}
			replies <- r
		}()
	}
	for metric(t, s.Server, "seckill_purchases_in_flight") < float64(cap(replies)) {
	}
	s.stop()
	s.refusesConnections()
	if err := row.Rollback().Error; err != nil {
		t.Fatal(err)
	}
	for range cap(replies) {
		if r := <-replies; r.status != http.StatusOK {
			t.Errorf("one who was in line at the stop is told %d %s", r.status, r.Code)
		}
	}
	if err := s.end(); err != nil {
		t.Error(err)
	}
}
