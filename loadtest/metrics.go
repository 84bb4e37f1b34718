package loadtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"syscall"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"seckill/internal/numbers"
	"seckill/internal/tap"
)

// The services' own numbers that a run reads.
const (
	metricCommands  = "seckill_backend_commands_total"   // by strategy and backend
	metricPurchases = "seckill_request_duration_seconds" // by strategy: their count
	metricInFlight  = "seckill_purchases_in_flight"
	metricProcessor = "process_cpu_seconds_total"
	metricStarted   = "process_start_time_seconds"
)

type metrics map[string]*dto.MetricFamily

func (s service) metrics(ctx context.Context) (metrics, error) {
	text, err := s.fetch(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the metrics of %s: %w", s.base, err)
	}
	return families, nil
}

// sum adds up the values of a family.
func (m metrics) sum(family string) (n float64) {
	for _, metric := range m[family].GetMetric() {
		n += metric.GetCounter().GetValue() + metric.GetGauge().GetValue()
	}
	return n
}

// A cost is what a strategy's purchases have cost so far, at all targets.
type cost struct {
	started   float64 // sum of the times when the processes were
	purchases float64
	commands  map[string]float64 // by backend
	processor float64            // seconds, of the processes; 0: they do not say
}

func (r *run) cost(ctx context.Context) (c cost, err error) {
	c.commands = map[string]float64{}
	for _, s := range r.services {
		m, err := s.metrics(ctx)
		if err != nil {
			return c, err
		}
		c.started += m.sum(metricStarted)
		c.processor += m.sum(metricProcessor)
		for _, metric := range slices.Concat(m[metricPurchases].GetMetric(), m[metricCommands].GetMetric()) {
			backend := label(metric, "backend")
			switch {
			case label(metric, "strategy") != r.Strategy || backend == tap.Waiting:
			case backend == "":
				c.purchases += float64(metric.GetHistogram().GetSampleCount())
			default:
				c.commands[backend] += metric.GetCounter().GetValue()
			}
		}
	}
	return c, nil
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// startMeter reads what has been spent before a load; stop writes into the result
// what the load has cost.
func (r *run) startMeter(ctx context.Context) (stop func(context.Context)) {
	before, err := r.cost(ctx)
	return func(ctx context.Context) {
		var after cost
		if err == nil {
			after, err = r.cost(ctx)
		}
		if err == nil && after.started != before.started {
			err = errors.New("a target was started again")
		}
		if err != nil {
			r.result.CommandsMissing = err.Error()
			return
		}
		r.result.spent(before, after)
	}
}

// spent is what was spent between two readings.
func (r *Result) spent(before, after cost) {
	if before.processor > 0 {
		r.Processor.Services = new(after.processor - before.processor)
	}
	purchases := after.purchases - before.purchases
	if purchases == 0 {
		r.CommandsMissing = "the targets count no purchases of " + r.Settings.Strategy
		return
	}
	for backend, n := range after.commands {
		if n -= before.commands[backend]; n > 0 {
			r.Commands = append(r.Commands, Commands{backend, int64(n), n / purchases})
		}
	}
	slices.SortFunc(r.Commands, func(a, b Commands) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Backend, b.Backend))
	})
}

// A generator that is short of processor time measures itself. Either sign makes
// the run's numbers worthless, whatever the ledger says:
//
//   - requests left late although a connection was free, and that lateness is
//     most of the measured latency;
//   - in a closed loop, where nothing is due, this process used up all its
//     processors.
//
// Waiting for a free connection is no sign: every connection waits for the
// service.
const (
	lagMatters = 10 * time.Millisecond // less is ordinary scheduling
	lagShare   = 0.5                   // of the p99 latency
	cpuShare   = 0.9                   // of the processors
)

// bottleneck says why the generator was the bottleneck; nil when it was not.
func (r *Result) bottleneck() []Problem {
	const was = "the generator was the bottleneck: "
	late, latency := r.Lag.P99, r.Latency.P99
	used, most := 0.0, float64(runtime.GOMAXPROCS(0)) // processors on average; a short run does not tell
	if r.Processor.Generator != nil && r.Seconds >= 2 {
		used = *r.Processor.Generator / r.Seconds
	}
	switch {
	case r.Requests == 0:
	case late > lagMatters.Microseconds() && float64(late) > lagShare*float64(latency):
		return []Problem{newProblem(ProblemLate, params{"lag_ms": float64(late) / 1000, "latency_ms": float64(latency) / 1000},
			was+"it sent requests up to %s (p99) after they were due, with connections free, of a latency of %s: "+
				"give it a machine of its own, or a lower rate", numbers.Duration(late), numbers.Duration(latency))}
	case used > cpuShare*most:
		return []Problem{newProblem(ProblemProcessors, params{"used": used, "of": most},
			was+"it used %.1f of %.0f processors: give it more, or a slower service", used, most)}
	}
	return nil
}

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
