package loadtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// The services' own numbers that a run reads.
const (
	metricCommands = "seckill_backend_commands_total" // by strategy and backend
	metricInFlight = "seckill_purchases_in_flight"
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

// commands counts what the target sent for one strategy, by backend.
func (m metrics) commands(strategy string) map[string]int64 {
	sent := map[string]int64{}
	for _, metric := range m[metricCommands].GetMetric() {
		labels := map[string]string{}
		for _, l := range metric.GetLabel() {
			labels[l.GetName()] = l.GetValue()
		}
		if labels["strategy"] == strategy {
			sent[labels["backend"]] += int64(metric.GetCounter().GetValue())
		}
	}
	return sent
}

// meter reads every target's count of commands before and after a storm.
type meter struct {
	services []service
	strategy string
	before   []map[string]int64
	err      error
}

func startMeter(ctx context.Context, services []service, strategy string) *meter {
	m := &meter{services: services, strategy: strategy}
	m.before, m.err = m.read(ctx)
	return m
}

func (m *meter) read(ctx context.Context) ([]map[string]int64, error) {
	var all []map[string]int64
	for _, s := range m.services {
		now, err := s.metrics(ctx)
		if err != nil {
			return nil, err
		}
		if now[metricCommands] == nil && m.before != nil {
			return nil, fmt.Errorf("%s has no metric %s", s.base, metricCommands)
		}
		all = append(all, now.commands(m.strategy))
	}
	return all, nil
}

// stop writes the difference into the result.
func (m *meter) stop(ctx context.Context, r *Result) {
	var after []map[string]int64
	if m.err == nil {
		after, m.err = m.read(ctx)
	}
	if m.err != nil {
		r.CommandsMissing = m.err.Error()
		return
	}
	sum := map[string]int64{}
	for i, counts := range after {
		for backend, n := range counts {
			before := m.before[i][backend]
			if n < before { // the process is a new one and counts from zero
				before = 0
			}
			sum[backend] += n - before
		}
	}
	for backend, n := range sum {
		if n > 0 && r.Requests > 0 {
			r.Commands = append(r.Commands, Commands{backend, n, float64(n) / float64(r.Requests)})
		}
	}
	slices.SortFunc(r.Commands, func(a, b Commands) int { return int(b.Count - a.Count) })
}
