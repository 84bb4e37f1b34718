package contract

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A memory is a server in this process that locks keys, and has the flaw that
// a test wants to see found.
type memory struct {
	flaw Promise

	mu     sync.Mutex
	grants map[string]grant
	last   uint64
}

type grant struct {
	owner string
	until time.Time
}

// A client is one process of a memory.
type client struct {
	*memory
	s    catalog.Settings
	dead *bool
}

func (m *memory) open(_ testing.TB, s catalog.Settings) *locktest.Process {
	dead := false
	return &locktest.Process{Locker: &client{m, s, &dead}, Kill: func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		dead = true
	}}
}

// send is one command: an atomic step on the grant of a key.
func (c *client) send(ctx context.Context, name, key string, step func(g grant, held bool)) error {
	return tap.Do(ctx, "memory", func() *tap.Command { return &tap.Command{Name: name, Text: name + " " + key} },
		func(ctx context.Context) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			if *c.dead {
				return seckill.ErrUnavailable
			}
			g, held := c.grants[key]
			step(g, held && time.Now().Before(g.until))
			return ctx.Err()
		})
}

func (c *client) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	ttl := o.Lease
	if ttl == 0 {
		ttl = c.s.LockLease
	}
	kept := ttl
	if c.flaw == LeaseEnd {
		kept = time.Hour
	}
	wait := o.Wait
	if c.flaw == WaitLimit && wait > 0 {
		wait = 0
	}
	var asked time.Time
	var fence uint64
	owner := fmt.Sprint("owner ", keys.Add(1))
	err := lock.Poll(ctx, wait, lock.Every(5*time.Millisecond), func() (ok bool, err error) {
		asked = time.Now()
		err = c.send(ctx, "take", key, func(_ grant, held bool) {
			if !held {
				c.grants[key] = grant{owner, asked.Add(kept)}
				c.last++
				fence, ok = c.last, true
			}
		})
		if err != nil {
			_ = c.free(context.WithoutCancel(ctx), key, owner)
		}
		return ok, err
	})
	if err != nil && c.flaw == Leaving {
		return nil, seckill.ErrBusy
	}
	if err != nil {
		return nil, err
	}
	if c.flaw == Fence {
		fence = 7
	}
	h := lock.NewHold(ctx, fence, func(ctx context.Context) error { return c.free(ctx, key, owner) })
	h.Until(asked.Add(ttl))
	if o.Lease == 0 && c.flaw != Renewal {
		h.Renew(ttl/3, c.s.MaxHold, func(ctx context.Context) (ours bool, err error) {
			asked := time.Now()
			err = c.send(ctx, "renew", key, func(g grant, held bool) {
				if ours = held && g.owner == owner; ours {
					c.grants[key] = grant{owner, asked.Add(kept)}
				}
			})
			if ours && err == nil {
				h.Until(asked.Add(ttl))
			}
			return ours, err
		})
	}
	return h, nil
}

func (c *client) free(ctx context.Context, key, owner string) (err error) {
	sent := c.send(ctx, "free", key, func(g grant, held bool) {
		switch {
		case held && g.owner == owner:
			if c.flaw != Handover {
				delete(c.grants, key)
			}
		default:
			err = lock.ErrNotHeld
		}
	})
	if sent != nil {
		return sent
	}
	return err
}

func harness(flaw Promise, declared bool) Harness {
	var breaks, only []Promise
	if declared {
		breaks = append(breaks, flaw)
	}
	if flaw != "" {
		only = append(only, flaw)
	}
	m := &memory{flaw: flaw, grants: map[string]grant{}}
	return Harness{
		Key: "memory", Open: m.open, Can: Expires | Tells | Undoes | Renews | Limits | Fences | Decides, Breaks: breaks, only: only,
		Lease: 100 * time.Millisecond, Renewed: 300 * time.Millisecond, Patience: 2 * time.Second, Commands: []string{"TAKE", "FREE"},
		Seen: func(_ testing.TB, key string) (seen []string) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if g, ok := m.grants[key]; ok && time.Now().Before(g.until) {
				seen = append(seen, g.owner)
			}
			return seen
		},
		End: func(_ testing.TB, key string, _ lock.Lease) func() {
			return func() {
				m.mu.Lock()
				defer m.mu.Unlock()
				delete(m.grants, key)
			}
		},
	}
}

func TestSoundLockPasses(t *testing.T) { Run(t, harness("", false)) }

// A lock with a flaw fails by the promise that it breaks, and passes when the
// flaw is declared. The promises are those that no lock of the table breaks.
func TestFlawsAreFound(t *testing.T) {
	for _, flaw := range []Promise{WaitLimit, Leaving, Handover, Fence, LeaseEnd, Renewal} {
		t.Run(string(flaw), func(t *testing.T) {
			t.Parallel()
			h := harness(flaw, false)
			h.Patience = 500 * time.Millisecond
			if len(failed(ask(t, h))) == 0 {
				t.Error("the suite does not see it")
			}
			if len(failed(ask(t, harness(flaw, true)))) > 0 {
				t.Error("it is declared, and the suite fails")
			}
		})
	}
}

// A flaw that is declared and does not show fails the test as well.
func TestDeclaredFlawHasToShow(t *testing.T) {
	for _, sound := range []Promise{Owner, LostReply, OtherKeys} {
		h := harness("", false)
		h.Breaks, h.only = []Promise{sound}, []Promise{sound}
		if got := failed(ask(t, h)); !slices.Equal(got, h.Breaks) {
			t.Errorf("%q is declared of a sound lock, and the suite fails by %q", sound, got)
		}
	}
}

func failed(trials []*trial) (by []Promise) {
	for _, c := range trials {
		if len(c.failures()) > 0 {
			by = append(by, c.promise)
		}
	}
	return by
}
