package loadtest

import (
	"bytes"
	"cmp"
	"context"
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
	metricCommands  = "seckill_backend_commands_total" // by strategy and backend
	metricPurchases = "seckill_purchases_total"        // by strategy
	metricInFlight  = "seckill_purchases_in_flight"
	metricProcessor = "process_cpu_seconds_total"
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

// inFlight is how many purchases the target is working on.
func (m metrics) inFlight() (n float64) {
	for _, metric := range m[metricInFlight].GetMetric() {
		n += metric.GetGauge().GetValue()
	}
	return n
}

// A cost is what a strategy's purchases cost, at one target or at all.
type cost struct {
	purchases int64
	commands  map[string]int64 // by backend
	processor float64          // seconds, of the process; 0: it does not say
}

func (m metrics) cost(strategy string) cost {
	c := cost{commands: map[string]int64{}}
	for _, metric := range m[metricPurchases].GetMetric() {
		if label(metric, "strategy") == strategy {
			c.purchases += int64(metric.GetCounter().GetValue())
		}
	}
	for _, metric := range m[metricCommands].GetMetric() {
		backend := label(metric, "backend")
		if label(metric, "strategy") == strategy && backend != tap.Waiting {
			c.commands[backend] += int64(metric.GetCounter().GetValue())
		}
	}
	for _, metric := range m[metricProcessor].GetMetric() {
		c.processor += metric.GetCounter().GetValue()
	}
	return c
}

func label(m *dto.Metric, name string) string {
	for _, l := range m.GetLabel() {
		if l.GetName() == name {
			return l.GetValue()
		}
	}
	return ""
}

// costs reads what a strategy's purchases have cost so far, at each target.
func costs(ctx context.Context, services []service, strategy string) (all []cost, err error) {
	for _, s := range services {
		now, err := s.metrics(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, now.cost(strategy))
	}
	return all, nil
}

// startMeter reads what has been spent before a load; stop writes into the result
// what the load has cost.
func (r *run) startMeter(ctx context.Context) (stop func(context.Context)) {
	before, err := costs(ctx, r.services, r.Strategy)
	return func(ctx context.Context) {
		var after []cost
		if err == nil {
			after, err = costs(ctx, r.services, r.Strategy)
		}
		if err != nil {
			r.result.CommandsMissing = err.Error()
			return
		}
		r.result.spent(before, after)
	}
}

// spent sums up what all targets have spent between two readings.
func (r *Result) spent(before, after []cost) {
	sum, counted := cost{commands: map[string]int64{}}, len(after) > 0
	for i, now := range after {
		before := before[i]
		if now.purchases < before.purchases { // a new process counts from zero
			before = cost{}
		}
		counted = counted && before.processor > 0 && now.processor >= before.processor
		sum.processor += now.processor - before.processor
		sum.purchases += now.purchases - before.purchases
		for backend, n := range now.commands {
			sum.commands[backend] += n - before.commands[backend]
		}
	}
	if counted {
		r.Processor.Services = &sum.processor
	}
	if sum.purchases == 0 {
		r.CommandsMissing = "the targets count no purchases of " + r.Settings.Strategy
		return
	}
	for backend, n := range sum.commands {
		if n > 0 {
			r.Commands = append(r.Commands, Commands{backend, n, float64(n) / float64(sum.purchases)})
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
	used, most := r.cores(), float64(runtime.GOMAXPROCS(0))
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

// cores is how many processors the generator used on average; 0: not known, or the
// run was too short to tell.
func (r *Result) cores() float64 {
	if r.Processor.Generator == nil || r.Seconds < 2 {
		return 0
	}
	return *r.Processor.Generator / r.Seconds
}

// cpuTime is the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
