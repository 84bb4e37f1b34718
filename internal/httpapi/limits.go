package httpapi

import (
	"errors"
	"math"
	"net/netip"

	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"seckill/internal/gate"
	"seckill/internal/web"
)

// Limits bound what clients may do on the public listener. The zero value bounds
// nothing.
type Limits struct {
	Conns       int            `name:"max-conns" default:"10000" env:"SECKILL_MAX_CONNS" help:"Most connections. When there are more, the one that keeps the service waiting longest is closed. 0: any number."`
	ClientConns int            `name:"client-conns" default:"0" env:"SECKILL_CLIENT_CONNS" help:"Most connections from one address. 0: any number."`
	ClientRate  float64        `name:"client-rate" default:"0" env:"SECKILL_CLIENT_RATE" help:"Requests a second from one address. 0: any number."`
	Proxies     []netip.Prefix `name:"trust-proxy" sep:"," env:"SECKILL_TRUST_PROXY" placeholder:"CIDR,..." help:"Proxies whose X-Forwarded-For says who the client is, such as 10.0.0.0/8."`
}

// Check says what is wrong with the limits.
func (l Limits) Check() error {
	switch {
	case l.Conns < 0:
		return errors.New("--max-conns must be 0 or more, such as 10000")
	case l.ClientConns < 0:
		return errors.New("--client-conns must be 0 or more, such as 100")
	case !(l.ClientRate >= 0 && l.ClientRate <= 1_000_000):
		return errors.New("--client-rate must be from 0 to 1000000, such as 50")
	}
	return nil
}

// limits are those of one server.
type limits struct {
	conns   web.Conns
	clients *gate.Clients // nil: any number
	refused prometheus.Counter
}

func (s *Server) openLimits() {
	s.limits.conns.Most, s.limits.conns.PerClient, s.limits.conns.Proxies = s.Limits.Conns, s.Limits.ClientConns, s.Limits.Proxies
	if s.Limits.ClientRate > 0 {
		s.limits.clients = gate.NewClients(s.Limits.ClientRate)
	}
	s.limits.refused = prometheus.NewCounter(prometheus.CounterOpts{Name: "seckill_client_refusals_total",
		Help: "Requests that were refused because their address asks too often."})
	count := func(pick func(open, slow, refused int64) int64) func() float64 {
		return func() float64 { return float64(pick(s.limits.conns.Counts())) }
	}
	s.metrics.registry.MustRegister(s.limits.refused,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "seckill_connections", Help: "Connections of the public listener."},
			count(func(open, _, _ int64) int64 { return open })),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "seckill_connections_slow_total",
			Help: "Connections that were closed to make room, because they kept the service waiting longest."},
			count(func(_, slow, _ int64) int64 { return slow })),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "seckill_connections_refused_total",
			Help: "Connections that were closed at once: their address has too many, or all others were being answered."},
			count(func(_, _, refused int64) int64 { return refused })))
}

// limitClients refuses clients that ask too often, but for the operator. It comes first, so
// that a refusal costs little.
func (s *Server) limitClients(c *gin.Context) error {
	refusal := s.limits.clients.Enter(web.Client(web.ClientOf(c.Request, s.Limits.Proxies)))
	if refusal == nil || s.isAdmin(c) {
		return nil
	}
	s.limits.refused.Inc()
	p := refused(refusal, refusal.Detail)
	p.RetryAfter = max(1, int64(math.Ceil(refusal.RetryAfter.Seconds())))
	c.Header("Connection", "close") // what its body has is not read
	return p
}
