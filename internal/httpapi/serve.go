package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"seckill/internal/web"
)

const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 32 << 10
)

// Serve answers requests on l until ctx ends, then finishes those in flight
// and returns nil. What is not done after ShutdownTimeout is cut off, and the
// error says how much that was.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, s.Handler())
}

// ServeAdmin does the same for admins, on a listener of ListenAdmin.
func (s *Server) ServeAdmin(ctx context.Context, l net.Listener) error {
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		return fmt.Errorf("%s can be reached from other machines: admin calls are not served there", l.Addr())
	}
	return s.serve(ctx, l, s.AdminHandler())
}

func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler) error {
	longest := max(s.PurchaseTimeout, resetTimeout, auditTimeout) + lookTimeout // any handler takes
	server := &http.Server{
		Handler:           web.BoundBody(readTimeout, h),
		ReadHeaderTimeout: readHeaderTimeout,
		WriteTimeout:      longest + readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
	}
	sweeping, stop := context.WithCancel(ctx)
	swept := make(chan struct{})
	go func() {
		defer close(swept)
		s.sweep(sweeping)
	}()
	defer func() { stop(); <-swept }()
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	s.Log.Info("shutting down", "purchases_in_flight", s.inFlight.Load())
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.ShutdownTimeout)
	defer cancel()
	if err := server.Shutdown(end); err != nil {
		cut := s.inFlight.Load()
		server.Close()
		return fmt.Errorf("cut off after %s with %d purchases in flight: %w", s.ShutdownTimeout, cut, err)
	}
	return nil
}
