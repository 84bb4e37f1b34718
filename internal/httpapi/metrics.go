package httpapi

import (
	"context"
	"net/http"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"seckill/internal/tap"
)

// metrics has the metrics of one Server. Two servers in one process, as in tests, count separately.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "seckill_requests_total",
			Help: "Requests to buy, by outcome."}, []string{"strategy", "outcome"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "seckill_request_duration_seconds",
			Help: "How long the strategy took, whether it sold or not. " +
				"Divide seckill_backend_commands_total by the count for the commands of one purchase.",
			// The limits are in seconds. The first bucket ends at half a millisecond, the time of a statement on an
			// idle server. The last one ends later than a purchase may take.
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16)}, []string{"strategy"}),
	}
	m.registry.MustRegister(m.requests, m.duration,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "seckill_purchases_in_flight",
			Help: "Purchases that have not been answered yet."}, func() float64 { return float64(s.inFlight.Load()) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if db, err := s.Instance.DB.DB(); err == nil {
		m.registry.MustRegister(collectors.NewDBStatsCollector(db, "ledger"))
	}
	return m
}

// handler serves /metrics to at most four callers at a time. Everybody may read /metrics, and reading it once
// costs as much as many purchases.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// register adds the metrics of a strategy, so that /metrics shows them as 0 before its first purchase.
func (m *metrics) register(sl *seller) {
	m.duration.WithLabelValues(sl.info.Name)
	for _, to := range []string{tap.SQL, tap.Redis, tap.ZooKeeper, tap.Etcd, tap.Waiting} {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "seckill_backend_commands_total",
			Help: "Commands that the strategy sent for purchases, and its waits without a command. " +
				"The rows of refusals are not counted.",
			ConstLabels: prometheus.Labels{"strategy": sl.info.Name, "backend": to},
		}, func() float64 { return float64(sl.commands.Count(to)) }))
	}
}

// ready handles /readyz, which reports whether every configured backend answers. If the database is down,
// only /readyz fails; /healthz does not, because the process recovers without a restart.
func (s *Server) ready(c *gin.Context) {
	backends, status := s.Instance.Status(context.WithoutCancel(c.Request.Context())), http.StatusOK
	for _, b := range backends {
		if !b.OK {
			status = http.StatusServiceUnavailable
		}
	}
	c.JSON(status, gin.H{"ready": status == http.StatusOK, "strategy": s.Default, "backends": backends})
}

var processStart = time.Now()

// stats answers with those figures of /metrics that the load generator reads.
func (s *Server) stats(c *gin.Context) {
	strategies := gin.H{}
	for _, sl := range s.sellers {
		commands := map[string]uint64{}
		for _, backend := range []string{tap.SQL, tap.Redis, tap.ZooKeeper, tap.Etcd} {
			commands[backend] = sl.commands.Count(backend)
		}
		strategies[sl.info.Name] = gin.H{"purchases": sl.purchases.Load(), "commands": commands}
	}
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // With these arguments Getrusage cannot fail.
	c.JSON(http.StatusOK, gin.H{
		"started_at": processStart, "processor_seconds": time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds(),
		"purchases_in_flight": s.inFlight.Load(), "strategies": strategies,
	})
}
