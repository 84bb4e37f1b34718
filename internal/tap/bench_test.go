package tap_test

import (
	"context"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// BenchmarkTap sends a command with no tap, with a counter, and with a tap that lets everything pass.
func BenchmarkTap(b *testing.B) {
	c := openRedis(b)
	for name, ctx := range map[string]context.Context{"none": b.Context(), "counter": tap.Counting(b.Context(), new(tap.Counter)),
		"tap": tap.With(b.Context(), &taptest.Tap{})} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				labtest.Must(b, c.Incr(ctx, "n").Err())
			}
		})
	}
}
