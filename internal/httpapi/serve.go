package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/web"
)

// Serve answers requests on l until ctx ends, and then waits for the requests in flight. If some of them take longer
// than ShutdownTimeout, Serve closes their connections and returns an error with their number. While it answers
// requests, Serve also removes old orders, and runs the strategies that are seckill.Workers. The workers end after the
// last request, because the last buyers may leave work for them.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	sweeping, endSweep := context.WithCancel(ctx)
	working, endWork := context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	background.Go(func() { s.sweep(sweeping) })
	for _, sl := range s.sellers {
		if w, ok := sl.strategy.(seckill.Worker); ok {
			background.Go(func() { w.Work(working) })
		}
	}
	err := s.serve(ctx, l, s.Handler)
	endSweep()
	endWork()
	background.Wait()
	return err
}

// ServeAdmin does what Serve does, for the admin listener. The address of l must have passed CheckAdminAddr.
func (s *Server) ServeAdmin(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, s.AdminHandler)
}

func (s *Server) serve(ctx context.Context, l net.Listener, h http.Handler) error {
	maxAnswer := max(s.PurchaseTimeout, resetTimeout, auditTimeout) + lookTimeout
	headless := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, web.HeadAsGet(r)) })
	server := web.NewServer(headless, maxAnswer+web.BodyTime, s.Log, slog.LevelWarn)
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

// sweep removes the orders of earlier runs while the sale goes on. It does so once at the start and after
// each reset. At the start there may be such orders because a process died between a reset and its sweep.
func (s *Server) sweep(ctx context.Context) {
	for {
		begun := time.Now()
		removed, err := ledger.Sweep(ctx, s.Instance.DB)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.Warn("cannot remove orders of earlier runs", "removed", removed, "error", err)
		case removed > 0:
			s.Log.Info("removed orders of earlier runs", "orders", removed, "took", time.Since(begun))
		}
		select {
		case <-s.stale:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Server) sweepSoon() {
	select {
	case s.stale <- struct{}{}:
	default: // The channel already holds a token that sweep will receive.
	}
}
