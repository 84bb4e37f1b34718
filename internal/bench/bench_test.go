package bench

import (
	"context"
	"os"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func ourLock(t testing.TB, name string) Contestant {
	t.Helper()
	for _, info := range strategies.All() {
		if info.Name == name {
			return Ours(info, catalog.DefaultSettings())
		}
	}
	t.Fatalf("there is no strategy %q", name)
	return Contestant{}
}

// The uncontended round: profile it with -cpuprofile.
func BenchmarkUncontended(b *testing.B) {
	for _, c := range append([]Contestant{ourLock(b, "redis-watchdog")}, Foreign(catalog.DefaultSettings())[:3]...) {
		b.Run(c.Name, func(b *testing.B) {
			p, err := c.at(b.Context(), labtest.Start(b, backend.Redis).Config(), 1, 1)
			if err != nil {
				b.Fatal(err)
			}
			defer p.close()
			b.ReportAllocs()
			for b.Loop() {
				free, err := p.takers[0](context.Background())
				if err == nil {
					err = free(context.Background())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var _ = time.Second
