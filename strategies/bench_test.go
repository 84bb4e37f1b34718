package strategies_test

import (
	"testing"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
	"seckill/strategies/saletest"
)

// BenchmarkPurchase sells one unit after the other with a strategy of each family, on real servers.
func BenchmarkPurchase(b *testing.B) {
	for _, name := range []string{"conditional", "mutex", "get-lock", "redis-lua", "zk", "etcd", "redis-counter", "merged"} {
		b.Run(name, func(b *testing.B) {
			s := saletest.Open(b, strategies.Named(name), 20_000, catalog.Deps{Settings: catalog.DefaultSettings()})
			user := int64(0)
			for b.Loop() {
				user++
				_, err := s.Buy(b.Context(), user, 1)
				labtest.Must(b, err)
			}
		})
	}
}
