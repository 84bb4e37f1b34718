package telemetry_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"seckill/internal/tap"
	"seckill/internal/telemetry"
)

func send(ctx context.Context, name, text string, err error) {
	_ = tap.Do(ctx, tap.SQL, func() *tap.Command { return &tap.Command{Name: name, Text: text, Args: []any{"hunter2"}} },
		func(context.Context) error { return err })
}

// A purchase is a span, and its commands are spans in it; the tap that is there
// anyway sees them as ever. Nothing that a command says is shown.
func TestSpans(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(kept))
	traces := telemetry.New(provider)
	var count tap.Counter
	header := http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
	ctx, end := traces.Purchase(telemetry.From(t.Context(), header), &count, "conditional", 7)
	send(ctx, "BEGIN", "BEGIN", nil)
	send(ctx, "UPDATE", "UPDATE stock SET name = 'hunter2'", errors.New("hunter2 is wrong"))
	end(errors.New("hunter2"))
	spans := kept.GetSpans()
	var names []string
	for _, s := range spans {
		names = append(names, s.Name+" "+s.Status.Code.String())
		if s.SpanContext.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s is of the trace %s, not the caller's", s.Name, s.SpanContext.TraceID())
		}
		if s.Name != "purchase" && s.Parent.SpanID() != spans[len(spans)-1].SpanContext.SpanID() {
			t.Errorf("%s is not in the purchase's span", s.Name)
		}
	}
	if want := []string{"sql BEGIN Unset", "sql UPDATE Error", "purchase Error"}; !slices.Equal(names, want) {
		t.Errorf("the spans are %q, want %q", names, want)
	}
	if shown := fmt.Sprintf("%+v", spans); strings.Contains(shown, "hunter2") || !strings.Contains(shown, "conditional") {
		t.Errorf("the spans show %s", shown)
	}
	if n := count.Count(tap.SQL); n != 2 {
		t.Errorf("the tap behind counted %d commands, want 2", n)
	}
}

// A purchase that is not sampled pays for no span of a command.
func TestNotSampled(t *testing.T) {
	kept := tracetest.NewInMemoryExporter()
	traces := telemetry.New(sdk.NewTracerProvider(sdk.WithSyncer(kept), sdk.WithSampler(sdk.NeverSample())))
	var count tap.Counter
	ctx, end := traces.Purchase(t.Context(), &count, "conditional", 7)
	if _, counts := tap.From(ctx).(*tap.Counter); !counts {
		t.Errorf("commands pass a %T", tap.From(ctx))
	}
	end(nil)
	if n := len(kept.GetSpans()); n != 0 {
		t.Errorf("%d spans", n)
	}
}

// A collector gets what was traced, at the latest when the service ends.
func TestExport(t *testing.T) {
	got := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			var unzip *gzip.Reader
			if unzip, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
				body, err = io.ReadAll(unzip)
			}
		}
		if err != nil {
			t.Error(err)
		}
		got <- r.URL.Path + " " + string(body)
	}))
	defer collector.Close()
	traces, closing, err := telemetry.Export(t.Context(), collector.URL, "shop-1", 1)
	if err != nil {
		t.Fatal(err)
	}
	var count tap.Counter
	ctx, end := traces.Purchase(t.Context(), &count, "conditional", 7)
	send(ctx, "COMMIT", "", nil)
	end(nil)
	if err := closing(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case text := <-got:
		for _, want := range []string{"/v1/traces ", "shop-1", "purchase", "sql COMMIT", "conditional"} {
			if !strings.Contains(text, want) {
				t.Errorf("the collector was not sent %q", want)
			}
		}
	default:
		t.Error("the collector was sent nothing")
	}
}

// Off, on but not sampled, and sampled.
func BenchmarkPurchase(b *testing.B) {
	never := telemetry.New(sdk.NewTracerProvider(sdk.WithSampler(sdk.NeverSample())))
	always := telemetry.New(sdk.NewTracerProvider())
	for _, c := range []struct {
		name   string
		traces *telemetry.Traces
	}{{"off", nil}, {"not sampled", never}, {"sampled", always}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			var count tap.Counter
			for b.Loop() {
				ctx, end := b.Context(), func(error) {}
				if c.traces != nil {
					ctx, end = c.traces.Purchase(ctx, &count, "conditional", 7)
				} else {
					ctx = tap.With(ctx, &count)
				}
				for range 4 {
					send(ctx, "UPDATE", "", nil)
				}
				end(nil)
			}
		})
	}
}
