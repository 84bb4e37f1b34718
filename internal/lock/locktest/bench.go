package locktest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/lock"
	"seckill/internal/tap"
)

// Benchmark takes and frees a lock without contention, and one that eight
// workers hold for 5 ms each (200 a second would be perfect).
func Benchmark(b *testing.B, p *Process, key, backend string) {
	for name, c := range map[string]struct {
		workers int
		hold    time.Duration
	}{"free": {1, 0}, "contended": {8, 5 * time.Millisecond}} {
		b.Run(name, func(b *testing.B) {
			var all sync.WaitGroup
			var next atomic.Int64
			most, least := int64(0), int64(1<<60)
			var mu sync.Mutex
			n := &tap.Counter{}
			ctx := tap.With(b.Context(), n)
			for range c.workers {
				all.Go(func() {
					mine := int64(0)
					for next.Add(1) <= int64(b.N) {
						lease, err := p.Acquire(ctx, key, lock.Options{Wait: -1, Lease: long})
						if err != nil {
							b.Error(err)
							return
						}
						time.Sleep(c.hold)
						if err := lease.Release(ctx); err != nil {
							b.Error(err)
						}
						mine++
					}
					mu.Lock()
					most, least = max(most, mine), min(least, mine)
					mu.Unlock()
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "locks/s")
			b.ReportMetric(float64(n.Count(backend))/float64(b.N), "commands/lock")
			b.ReportMetric(float64(most), "most")
			b.ReportMetric(float64(least), "least")
		})
	}
}
