package explore_test

import (
	"testing"

	"seckill/internal/explore"
	"seckill/strategies/sqlrow"
)

// BenchmarkSearch runs all schedules of two buyers on a real server.
func BenchmarkSearch(b *testing.B) {
	w, schedules := open(b, sqlrow.Conditional), 0
	for b.Loop() {
		schedules += search(b, w, two(explore.Buys), explore.Limits{}).Schedules
	}
	b.ReportMetric(float64(schedules)/b.Elapsed().Seconds(), "schedules/s")
}
