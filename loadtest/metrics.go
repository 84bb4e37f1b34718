package loadtest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"seckill/internal/tap"
)

// The services' own numbers that a run reads.
const (
	metricCommands  = "seckill_backend_commands_total" // by strategy and backend
	metricPurchases = "seckill_purchases_total"        // by strategy
	metricInFlight  = "seckill_purchases_in_flight"
	metricLockWait  = "seckill_lock_wait_seconds" // by strategy
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

// inFlight is how many purchases the target is working on; ok is false when
// it does not say.
func (m metrics) inFlight() (n float64, ok bool) {
	family := m[metricInFlight]
	for _, metric := range family.GetMetric() {
		n += metric.GetGauge().GetValue()
	}
	return n, family != nil
}

// A cost is what a strategy's purchases came to, at one target or at all.
type cost struct {
	purchases int64
	commands  map[string]int64 // by backend
	locks     int64
	waited    float64 // seconds, for all locks
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
	for _, metric := range m[metricLockWait].GetMetric() {
		if label(metric, "strategy") == strategy {
			c.locks += int64(metric.GetHistogram().GetSampleCount())
			c.waited += metric.GetHistogram().GetSampleSum()
		}
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

// A meter reads every target's costs before and after a storm.
type meter struct {
	services []service
	strategy string
	before   []cost
	err      error
}

func startMeter(ctx context.Context, services []service, strategy string) *meter {
	m := &meter{services: services, strategy: strategy}
	m.before, m.err = m.read(ctx)
	return m
}

var errForeign = errors.New("only our own service counts them")

// startMeter asks nothing of somebody else's service that the scenario does not
// describe.
func (r *run) startMeter(ctx context.Context) *meter {
	if r.Service != nil {
		return &meter{err: errForeign}
	}
	return startMeter(ctx, r.services, r.Strategy)
}

func (m *meter) read(ctx context.Context) ([]cost, error) {
	var all []cost
	for _, s := range m.services {
		now, err := s.metrics(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, now.cost(m.strategy))
	}
	return all, nil
}

// stop writes the difference into the result.
func (m *meter) stop(ctx context.Context, r *Result) {
	var after []cost
	if m.err == nil {
		after, m.err = m.read(ctx)
	}
	sum := cost{commands: map[string]int64{}}
	for i, now := range after {
		before := m.before[i]
		if now.purchases < before.purchases { // a new process, that counts from zero
			before = cost{}
		}
		sum.purchases += now.purchases - before.purchases
		sum.locks, sum.waited = sum.locks+now.locks-before.locks, sum.waited+now.waited-before.waited
		for backend, n := range now.commands {
			sum.commands[backend] += n - before.commands[backend]
		}
	}
	switch {
	case m.err != nil:
		r.CommandsMissing = m.err.Error()
	case sum.purchases == 0:
		r.CommandsMissing = "the targets count no purchases of " + m.strategy
	}
	if r.CommandsMissing != "" {
		return
	}
	if sum.locks > 0 {
		r.LockWait = &LockWait{sum.locks, 1000 * sum.waited / float64(sum.locks)}
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
