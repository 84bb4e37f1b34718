package hotsku

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// BenchmarkHotSKU: orders a second by strategy and number of buyers, without
// HTTP, as a ratio to a bare UPDATE of the row by eight clients, in turns with it.
func BenchmarkHotSKU(b *testing.B) {
	for _, info := range []catalog.Info{OneTrip, Merged} {
		for _, buyers := range []int{1, 16, 64, 512} {
			b.Run(fmt.Sprintf("%s/%d", info.Name, buyers), func(b *testing.B) { benchmark(b, info, buyers) })
		}
	}
}

const bareClients, turnOf = 8, 4000

func benchmark(b *testing.B, info catalog.Info, buyers int) {
	in := labtest.Instance(b, info.Needs...)
	if err := ledger.Migrate(b.Context(), in.DB); err != nil {
		b.Fatal(err)
	}
	store := ledger.NewStore(in.DB)
	s, err := catalog.Build(info, catalog.Deps{Instance: in, Ledger: store})
	if err != nil {
		b.Fatal(err)
	}
	lastSKU++
	sku, user := lastSKU, atomic.Int64{}
	for _, id := range []int64{sku, sku + 1_000_000} {
		if _, err := store.Reset(b.Context(), id, "bench", seckill.MaxStock); err != nil {
			b.Fatal(err)
		}
	}
	ctx := tap.With(b.Context(), &tap.Counter{})
	buy := func() error {
		n := user.Add(1)
		_, err := s.Deduct(ctx, seckill.Purchase{SKU: sku, User: n, Quantity: 1, RequestID: fmt.Sprint("bench-", n)})
		return err
	}
	update := func() error {
		_, err := store.Write(ctx, "UPDATE stock SET num = num - 1 WHERE id = ? AND num - 1 >= 0", sku+1_000_000)
		return err
	}
	var ratios []float64
	var rate float64
	b.ReportAllocs()
	for left := b.N; left > 0; left -= turnOf {
		n := min(left, turnOf)
		bare := perSecond(b, n, bareClients, update)
		rate = perSecond(b, n, buyers, buy)
		ratios = append(ratios, rate/bare)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "of-bare-update")
	b.ReportMetric(rate, "orders/s")
}

func perSecond(b *testing.B, n, workers int, do func() error) float64 {
	var done atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for range workers {
		all.Go(func() {
			for done.Add(1) <= int64(n) {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return float64(n) / time.Since(begun).Seconds()
}
