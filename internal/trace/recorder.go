package trace

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"seckill/internal/explore"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A recorder keeps what several buyers do, on one clock.
type recorder struct {
	mu     sync.Mutex
	began  time.Time
	steps  []Step
	places map[*tap.Command]int // of the commands under way, in steps
	held   []Hold
	tokens map[string]string
	cut    bool
}

func newRecorder() *recorder {
	return &recorder{places: map[*tap.Command]int{}, tokens: map[string]string{}}
}

func (r *recorder) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.began = time.Now()
}

func (r *recorder) now() int64 { return time.Since(r.began).Microseconds() }

func (r *recorder) anonymous(text string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return explore.Anonymous(text, sku, r.tokens)
}

func (r *recorder) sent(s Step, c *tap.Command) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.steps) == maxSteps {
		r.cut = true
		return
	}
	s.Command = explore.Anonymous(s.Command, sku, r.tokens)
	s.Start = r.now()
	r.places[c] = len(r.steps)
	r.steps = append(r.steps, s)
}

func (r *recorder) answered(c *tap.Command, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, known := r.places[c]
	if !known {
		return
	}
	delete(r.places, c)
	r.steps[at].Took = r.now() - r.steps[at].Start
	if err != nil {
		r.steps[at].Result = explore.Anonymous(err.Error(), sku, r.tokens)
	}
}

func (r *recorder) result() ([]Step, []Hold, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.places { // a renewer's that nobody waits for
		r.steps[at].Took = r.now() - r.steps[at].Start
	}
	steps, held := slices.Clone(r.steps), slices.Clone(r.held)
	for i := range held {
		if held[i].To == 0 { // never released
			held[i].To = r.now()
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.Start, b.Start) })
	return steps, held, r.cut
}

// A buyer is the tap of one purchase.
type buyer struct {
	*recorder
	name  string
	enter func() // through the gate, once
}

func (b *buyer) Before(ctx context.Context, c *tap.Command) error {
	b.enter()
	b.sent(Step{Who: b.name, Backend: c.Backend, Command: describe(c), Background: tap.IsBackground(ctx)}, c)
	return nil
}

// describe says of a wait what kind it is: its text is a time, or a name.
func describe(c *tap.Command) string {
	if c.Backend == tap.Waiting {
		return c.Name + ": " + c.Text
	}
	return explore.Describe(c)
}

func (b *buyer) After(_ context.Context, c *tap.Command, err error) error {
	b.answered(c, err)
	return err
}

// A gate lets all buyers send their first command at once: a race that one of
// them wins by being started first shows nothing.
type gate struct {
	mu      sync.Mutex
	waiting int
	open    chan struct{}
}

func newGate(buyers int) *gate { return &gate{waiting: buyers, open: make(chan struct{})} }

// pass waits for the others. Every buyer passes once.
func (g *gate) pass() {
	g.mu.Lock()
	if g.waiting--; g.waiting == 0 {
		close(g.open)
	}
	g.mu.Unlock()
	<-g.open
}

// watchedLocker notes who has the lock.
type watchedLocker struct {
	lock.Locker
	recorder *recorder
}

func (l *watchedLocker) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, o)
	b, ok := tap.From(ctx).(*buyer)
	if err != nil || !ok {
		return lease, err
	}
	freed := l.recorder.holds(b.name)
	if s, ok := lease.(lock.SessionLease); ok {
		return &watchedSession{s, freed}, nil
	}
	return &watchedLease{lease, freed}, nil
}

func (l *watchedLocker) Clear(ctx context.Context, key string) error {
	if c, ok := l.Locker.(lock.Clearer); ok {
		return c.Clear(ctx, key)
	}
	return seckill.ErrBusy
}

// holds notes a holder; the function that it returns, that he is none any more.
func (r *recorder) holds(who string) (freed func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := len(r.held)
	r.held = append(r.held, Hold{Who: who, From: r.now()})
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.held[at].To = r.now()
	})
}

type watchedLease struct {
	lock.Lease
	freed func()
}

func (l *watchedLease) Release(ctx context.Context) error {
	l.freed()
	return l.Lease.Release(ctx)
}

type watchedSession struct {
	lock.SessionLease
	freed func()
}

func (l *watchedSession) Release(ctx context.Context) error {
	l.freed()
	return l.SessionLease.Release(ctx)
}
