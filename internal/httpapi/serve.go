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

// Serve answers requests on l until ctx ends, and then waits for the requests in flight. If
// some outlast ShutdownTimeout, it closes their connections and returns an error that counts them.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	endWork := s.work(ctx)
	err := s.serve(ctx, l, s.Handler())
	endWork()
	return err
}

// work removes old orders until ctx ends. It also runs the strategies that are seckill.Workers.
// They run until the returned function is called, because the last buyers may leave work behind.
// The returned function returns when all have ended.
func (s *Server) work(ctx context.Context) func() {
	sweeping, cancelSweep := context.WithCancel(ctx)
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	working.Go(func() { s.sweep(sweeping) })
	for _, sl := range s.sellers {
		if w, ok := sl.strategy.(seckill.Worker); ok {
			working.Go(func() { w.Work(ctx) })
		}
	}
	return func() {
		cancelSweep()
		cancel()
		working.Wait()
	}
}

// ServeAdmin is Serve for the admin listener, whose address must have passed CheckAdminAddr.
func (s *Server) ServeAdmin(ctx context.Context, l net.Listener) error {
	return s.serve(ctx, l, s.AdminHandler())
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

// sweep removes the orders of earlier runs while the sale goes on. It does so after each reset and
// once at the start: a process that reset a sale may have died before it swept.
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

// sweepSoon makes sweep look for old orders once more.
func (s *Server) sweepSoon() {
	select {
	case s.stale <- struct{}{}:
	default: // sweep will still take the last token
	}
}
