package httpapi_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// metric reads one series; -1 when there is none.
func metric(t testing.TB, s *httpapi.Server, series string) float64 {
	t.Helper()
	for line := range strings.Lines(string(ask(t, s, "GET", "/metrics", "").body)) {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			labtest.Must(t, err)
			return n
		}
	}
	return -1
}

func TestMetrics(t *testing.T) {
	f := sells()
	f.deduct = func(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
		for range 3 {
			_ = tap.Do(ctx, tap.Redis, func() *tap.Command { return &tap.Command{} }, func(context.Context) error { return nil })
		}
		closed := make(chan int)
		close(closed)
		_, _ = tap.Wait(ctx, "nothing", closed)
		if p.User == 2 {
			return seckill.Receipt{}, seckill.ErrSoldOut
		}
		return seckill.Receipt{OrderID: "o"}, nil
	}
	s := serverWith(t, f, httpapi.Config{})
	ask(t, s, "POST", "/api/v1/seckill", purchase(1, 1))
	ask(t, s, "POST", "/api/v1/seckill", purchase(2, 1))
	ask(t, s, "POST", "/api/v1/seckill", `{}`)
	ask(t, s, "POST", "/api/v1/seckill?strategy=<script>", good)
	for series, want := range map[string]float64{
		`seckill_requests_total{outcome="sold",strategy="fake"}`:             1,
		`seckill_requests_total{outcome="sold_out",strategy="fake"}`:         1,
		`seckill_requests_total{outcome="invalid",strategy="fake"}`:          1,
		`seckill_requests_total{outcome="unknown_strategy",strategy="none"}`: 1,
		`seckill_request_duration_seconds_count{strategy="fake"}`:            2,
		`seckill_backend_commands_total{backend="redis",strategy="fake"}`:    6,
		`seckill_backend_commands_total{backend="wait",strategy="fake"}`:     2,
		`seckill_backend_commands_total{backend="sql",strategy="fake"}`:      0,
		`seckill_purchases_in_flight`:                                        0,
		`go_sql_max_open_connections{db_name="ledger"}`:                      8,
	} {
		if got := metric(t, s, series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	var stats struct {
		ProcessorSeconds float64 `json:"processor_seconds"`
		Strategies       map[string]struct {
			Purchases int
			Commands  map[string]int
		}
	}
	ask(t, s, "GET", "/stats", "").into(t, &stats)
	if fake := stats.Strategies["fake"]; fake.Purchases != 2 || fake.Commands[tap.Redis] != 6 || fake.Commands[tap.SQL] != 0 || len(fake.Commands) != 4 || stats.ProcessorSeconds <= 0 {
		t.Errorf("/stats says %+v", stats)
	}
	if n := metric(t, s, "process_cpu_seconds_total"); n < 0 {
		t.Error("the process's own metrics are missing")
	}
}
