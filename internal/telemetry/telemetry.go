// Package telemetry makes OpenTelemetry traces of purchases: a span for each
// purchase, and in it one for each command that it sends to a backend, as the tap
// sees them. Spans have the names of commands, never their text or their values.
package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"seckill/internal/tap"
)

// Traces makes spans. A nil *Traces makes none, and costs one comparison.
type Traces struct{ tracer trace.Tracer }

// New has spans made by a provider.
func New(provider trace.TracerProvider) *Traces { return &Traces{provider.Tracer("seckill")} }

// Export sends traces to a collector by OTLP over HTTP, such as
// http://127.0.0.1:4318. ratio is the part of the purchases that is traced, where the
// caller has not decided (W3C trace context). close sends what is left.
func Export(ctx context.Context, endpoint, service string, ratio float64) (t *Traces, close func(context.Context) error, err error) {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint), otlptracehttp.WithTimeout(5*time.Second))
	if err != nil {
		return nil, nil, fmt.Errorf("traces cannot be sent to %s: %w", endpoint, err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter),
		sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", service))),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(ratio))))
	return New(provider), provider.Shutdown, nil
}

// From continues the caller's trace (traceparent), if the request names one.
func From(ctx context.Context, header http.Header) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
}

// Purchase begins a purchase's span. Commands under the context that it returns pass
// watch, as ever, and those of a traced purchase have spans. end is to be told how
// it ended.
func (t *Traces) Purchase(ctx context.Context, watch tap.Tap, strategy string, sku int64) (_ context.Context, end func(error)) {
	ctx, span := t.tracer.Start(ctx, "purchase", trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(attribute.String("seckill.strategy", strategy), attribute.Int64("seckill.sku", sku)))
	if span.IsRecording() {
		watch = &commands{next: watch, tracer: t.tracer, sent: map[*tap.Command]trace.Span{}}
	}
	return tap.With(ctx, watch), func(err error) {
		finish(span, err)
	}
}

// finish shows no text of an error: it may hold what a buyer sent, or an address.
func finish(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, fmt.Sprintf("%T", err))
	}
	span.End()
}

// commands make the spans of one purchase's commands.
type commands struct {
	next   tap.Tap
	tracer trace.Tracer

	mu   sync.Mutex
	sent map[*tap.Command]trace.Span
}

func (w *commands) Before(ctx context.Context, c *tap.Command) error {
	if err := w.next.Before(ctx, c); err != nil {
		return err
	}
	_, span := w.tracer.Start(ctx, c.Backend+" "+c.Name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("seckill.backend", c.Backend), attribute.String("seckill.command", c.Name)))
	if c.Node != "" {
		span.SetAttributes(attribute.String("seckill.node", c.Node))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[c] = span
	return nil
}

func (w *commands) After(ctx context.Context, c *tap.Command, err error) error {
	w.mu.Lock()
	span := w.sent[c]
	delete(w.sent, c)
	w.mu.Unlock()
	if span != nil {
		finish(span, err)
	}
	return w.next.After(ctx, c, err)
}
