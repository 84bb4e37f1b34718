package httpapi

import (
	"context"
	"sync"

	"seckill/internal/seckill"
)

// work runs what strategies do beside their buyers. It goes on when ctx ends:
// the last buyers may leave work behind. stop ends it, and returns when it is
// done.
func (s *Server) work(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var working sync.WaitGroup
	for _, sl := range s.sellers {
		if w, ok := sl.strategy.(seckill.Worker); ok {
			working.Go(func() { w.Work(ctx) })
		}
	}
	return func() {
		cancel()
		working.Wait()
	}
}
