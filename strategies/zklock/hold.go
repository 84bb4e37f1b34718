package zklock

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A zkHold is a node at the front of the queue. Every Acquire that reaches it
// through the context has a lease of its own; the last one's release ends it.
type zkHold struct {
	lock            *zkLock
	key, guid, node string
	fence           uint64
	alive           context.Context // the session

	mu    sync.Mutex
	depth int
}

// zkHeld is where a lease's context carries the hold of a key.
type zkHeld struct {
	lock *zkLock
	key  string
}

func (h *zkHold) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.depth == 0 || h.alive.Err() != nil {
		return false
	}
	h.depth++
	return true
}

// leave takes our node out of the queue, also when the buyer has gone. What
// cannot be done at once the client does in the background: as long as our
// session is alive, no one else would.
func (h *zkHold) leave(ctx context.Context) error {
	ctx, cancel := tap.WithTimeout(
		context.WithoutCancel(ctx), zkPatience)
	defer cancel()
	if h.node != "" && h.lock.zk.Connected() {
		err := h.lock.zk.Delete(ctx, h.key+"/"+h.node)
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			return nil
		}
	}
	return h.lock.zk.Forget(ctx, h.key, h.guid)
}

// lease ends with the session. The client's judgement of that comes before the
// server's: it counts from the last request that was answered, so a holder that
// runs is told before its successor gets in.
func (h *zkHold) lease(ctx context.Context) lock.Lease {
	l := lock.NewHold(context.WithValue(ctx, zkHeld{h.lock, h.key}, h),
		h.fence, h.exit)
	l.ExpireWith(h.alive)
	return l
}

// exit deletes the node when this is the last lease on it. An error other than
// ErrNotHeld says that the server could not be reached: the client goes on
// trying while the session lives.
func (h *zkHold) exit(ctx context.Context) error {
	h.mu.Lock()
	h.depth--
	last := h.depth == 0
	h.mu.Unlock()
	if !last {
		return nil
	}
	err := h.lock.zk.Delete(ctx, h.key+"/"+h.node)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, zk.ErrNoNode):
		return lock.ErrNotHeld
	}
	err = h.lock.zk.Forget(ctx, h.key, h.guid)
	if err != nil {
		err = fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return err
}
