package main

import (
	"context"
	"log/slog"
	"time"

	"seckill/internal/telemetry"
)

// tracesTimeout bounds the wait for the collector when a service ends.
const tracesTimeout = 5 * time.Second

// traces are nil unless --traces says where they go. send sends what is left.
func (c *ServeCmd) traces(ctx context.Context, log *slog.Logger) (t *telemetry.Traces, send func(), err error) {
	if c.Traces == "" {
		return nil, func() {}, nil
	}
	t, closing, err := telemetry.Export(ctx, c.Traces, "seckill", c.TraceRatio)
	if err != nil {
		return nil, nil, err
	}
	return t, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesTimeout)
		defer cancel()
		if err := closing(ctx); err != nil {
			log.Warn("the last traces are not sent", "error", err)
		}
	}, nil
}
