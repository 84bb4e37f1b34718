package prove

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"seckill/internal/explore"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// These questions are about the lock alone, and asked at the lock: between
// Acquire and the purchase's transaction. A purchase also waits for the row of
// the stock when another buyer stands before COMMIT, whatever its lock does.

// noLock is why they are not asked: two buyers may be anywhere at once.
const noLock = "it is not a lock: a buyer holds nothing between reading and writing"

// A turn is one buyer's time with the lock.
type turn struct {
	*party
	*explore.Gate
	sku, user int64
	wait      time.Duration // for the lock; 0: the usual one
	lease     lock.Lease
	over      chan error // of a purchase that stands at its gate
}

// turn prepares one. A strategy that has no lock.Locker but takes a lock by a
// statement of its own (FOR UPDATE, GET_LOCK) has it from there to its first
// write, and stands before that.
func (p *party) turn(sku, user int64) *turn {
	return p.stopped(sku, user, func(_ int, c *tap.Command) bool { return p.Locker == nil && writes(c) })
}

// stopped is a turn in which a purchase stands before the first command that at says.
func (p *party) stopped(sku, user int64, at func(n int, c *tap.Command) bool) *turn {
	g := explore.NewGate(explore.NewRecorder(explore.NewNormalizer()), "", at)
	return &turn{party: p, Gate: g, sku: sku, user: user, over: make(chan error, 1)}
}

func writes(c *tap.Command) bool {
	return c.Backend == tap.SQL && slices.Contains([]string{"INSERT", "UPDATE", "DELETE", "CALL"}, c.Name)
}

// begin returns when the buyer has the lock: leave then. ErrBusy and ctx's
// error: the lock was not to be had.
func (t *turn) begin(ctx context.Context) (err error) {
	ctx = tap.With(ctx, t.Gate)
	if t.Locker != nil {
		o := t.Info.LockOptions(realSettings())
		o.Wait = cmp.Or(t.wait, o.Wait)
		t.lease, err = t.Locker.Acquire(ctx, t.Info.Key(t.sku), o)
		return err
	}
	return t.buy(ctx)
}

// buy starts the purchase and returns when it stands at its gate.
func (t *turn) buy(ctx context.Context) error {
	go func() {
		_, err := t.Strategy.Deduct(ctx, buy(t.sku, t.user))
		t.over <- err
	}()
	select {
	case <-t.Reached:
		return nil
	case err := <-t.over:
		if err == nil {
			err = errors.New("the purchase was over before it came to its gate")
		}
		return err
	}
}

// leave gives the lock back; a purchase goes on to its end.
func (t *turn) leave() {
	if t.lease != nil {
		_ = t.lease.Release(context.Background()) // it may have ended
		return
	}
	t.Open()
	<-t.over
}

// plan is what an undisturbed purchase sends.
func (p *party) plan(ctx context.Context, sku int64) ([]*tap.Command, error) {
	var t *turn
	for _, user := range []int64{1, 9} { // the first has Redis learn the scripts
		t = p.stopped(sku, user, nil)
		if _, err := p.Strategy.Deduct(tap.With(ctx, t.Gate), buy(sku, user)); err != nil {
			return nil, fmt.Errorf("an undisturbed purchase: %w", err)
		}
	}
	return t.Commands(), nil
}

// locks reports whether what the strategy takes before its first write is a lock.
func (p *party) locks(ctx context.Context, sku int64) (bool, error) {
	sent, err := p.plan(ctx, sku)
	if first := slices.IndexFunc(sent, writes); first >= 0 {
		sent = sent[:first]
	}
	return p.Locker != nil || slices.ContainsFunc(sent, func(c *tap.Command) bool {
		return strings.Contains(c.Text, "FOR UPDATE") || strings.Contains(c.Text, "GET_LOCK(")
	}), err
}

// waits says how a buyer waits while another has the lock.
func (b *bench) waits(ctx context.Context, _ int) (Cell, error) {
	p, sku, err := b.opened(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer p.In.Close()
	locks, err := p.locks(ctx, sku)
	if err != nil || !locks {
		return Cell{Answer: NotAsked, Text: noLock}, err
	}
	first, second := p.turn(sku, 2), p.turn(sku, 3)
	if err := first.begin(ctx); err != nil {
		return Cell{}, err
	}
	got := make(chan error, 1)
	go func() {
		err := second.begin(ctx)
		if err == nil {
			second.leave()
		}
		got <- err
	}()
	select {
	case err := <-got:
		first.leave()
		return refusedOrIn(err, "does not wait; is told busy", "does not wait; gets in beside the holder")
	case <-time.After(settling):
	case <-ctx.Done():
	}
	during := second.Commands()
	first.leave()
	if err := <-got; err != nil {
		return Cell{}, fmt.Errorf("the waiting buyer was told: %w", err)
	}
	return Cell{Answer: Measured, Text: describeWait(during)}, nil
}

// refusedOrIn is the answer when a buyer did not wait for the holder.
func refusedOrIn(err error, refused, in string) (Cell, error) {
	switch {
	case err == nil:
		return Cell{Answer: Measured, Text: in}, nil
	case errors.Is(err, seckill.ErrBusy):
		return Cell{Answer: Measured, Text: refused}, nil
	}
	return Cell{}, fmt.Errorf("a buyer that met the holder was told: %w", err)
}

func describeWait(during []*tap.Command) string {
	polls, told := 0, false
	sent := 0
	for _, c := range during {
		switch {
		case c.Name == "back-off":
			polls++
		case c.Backend == tap.Waiting:
			told = true
		default:
			sent++
		}
	}
	what := "queues in the server"
	switch {
	case polls > 0:
		what = "polls"
	case told && sent == 0:
		what = "queues in the process"
	case told:
		what = "is told"
	}
	return fmt.Sprintf("%s; %s in %v", what, few(sent), settling)
}

// few is a number that two runs agree on.
func few(n int) string {
	switch {
	case n == 0:
		return "no command"
	case n == 1:
		return "one command"
	case n < 8:
		return "a few commands"
	}
	return "many commands"
}

// order queues six buyers behind a seventh and records the order in which they get the lock.
func (b *bench) order(ctx context.Context, _ int) (Cell, error) {
	s, err := b.sound(ctx, 2)
	if err != nil {
		return Cell{}, err
	}
	parties := make([]*party, 3)
	if s.unsound() {
		parties = parties[:1]
	}
	for i := range parties {
		p, err := b.party(ctx)
		if err != nil {
			return Cell{}, err
		}
		defer p.In.Close()
		parties[i] = p
	}
	for _, p := range parties { // each opens what it keeps open
		sku, err := p.sale(ctx, 100)
		if err != nil {
			return Cell{}, err
		}
		if locks, err := p.locks(ctx, sku); err != nil || !locks {
			return Cell{Answer: NotAsked, Text: noLock}, err
		}
	}
	for range orderRounds {
		sku, err := parties[0].sale(ctx, 100)
		if err != nil {
			return Cell{}, err
		}
		granted, cell, err := lineUp(ctx, parties, sku)
		if err != nil || granted == nil {
			return cell, err
		}
		if !slices.IsSorted(granted) {
			return Cell{Answer: Measured, Text: "luck decides"}, ctx.Err()
		}
	}
	return Cell{Answer: Measured, Text: "in order"}, ctx.Err()
}

const (
	queued = 6
	// orderRounds: a lock that is in order nearly always is seen to be not.
	orderRounds = 12
)

// lineUp has buyers come one after another while the first has the lock, and
// returns in which order it was granted to them; nil if there was no queue, and
// the cell that says so.
func lineUp(ctx context.Context, parties []*party, sku int64) (granted []int, c Cell, err error) {
	first := parties[0].turn(sku, 2)
	if err := first.begin(ctx); err != nil {
		return nil, c, err
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var told []error
	for n := range queued {
		t := parties[n%len(parties)].turn(sku, int64(10+n))
		before, err := first.probes.Waits(ctx)
		if err != nil {
			first.leave()
			all.Wait()
			return nil, c, err
		}
		gone := make(chan struct{})
		all.Go(func() {
			defer close(gone)
			err := t.begin(ctx)
			mu.Lock()
			told = append(told, err)
			if err == nil {
				granted = append(granted, n)
			}
			mu.Unlock()
			if err == nil {
				t.leave()
			}
		})
		if !arrived(ctx, t, len(before), gone) {
			break // there is no queue
		}
	}
	mu.Lock()
	early := len(told) > 0
	mu.Unlock()
	first.leave()
	all.Wait()
	if early {
		c, err = refusedOrIn(told[0], "no queue; the others are told busy", "no queue; the others get in beside the holder")
		return nil, c, err
	}
	return granted, c, errors.Join(told...)
}

// arrived waits until the buyer waits for the lock: by itself, or, by the
// servers' own word, inside one of them, where before so many waited. The next
// buyer comes clearly later. It says no when the buyer did not wait.
func arrived(ctx context.Context, t *turn, before int, gone <-chan struct{}) bool {
	look := time.NewTicker(settling / 60)
	defer look.Stop()
	for {
		itself, unanswered := t.waits()
		inside := unanswered > realLease/2 // no server says so
		if !itself && unanswered > settling/30 {
			now, err := t.probes.Waits(ctx)
			inside = inside || err == nil && len(now) > before
		}
		if itself || inside {
			break
		}
		select {
		case <-gone:
			return false
		case <-ctx.Done():
			return false
		case <-look.C:
		}
	}
	select {
	case <-gone:
		return false
	case <-time.After(settling / 30):
		return true
	}
}

// waits: the buyer waits by itself. unanswered is for how long a server has not
// answered a command.
func (t *turn) waits() (itself bool, unanswered time.Duration) {
	sent, _ := t.Snapshot()
	for _, c := range sent {
		if c.Background {
			continue
		}
		itself = itself || c.Backend == tap.Waiting
		if !c.Done {
			unanswered = max(unanswered, time.Duration(c.Took)*time.Microsecond)
		}
	}
	return itself, unanswered
}

// hungHolder lets a holder hang for longer than a lease, with everything around
// it alive, and looks whether the next one gets the lock.
func (b *bench) hungHolder(ctx context.Context, processes int) (Cell, error) {
	p, sku, err := b.opened(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer p.In.Close()
	locks, err := p.locks(ctx, sku)
	if err != nil || !locks {
		return Cell{Answer: NotAsked, Text: noLock}, err
	}
	next := p
	if processes > 1 {
		if next, err = b.party(ctx); err != nil {
			return Cell{}, err
		}
		defer next.In.Close()
	}
	holder, other := p.turn(sku, 2), next.turn(sku, 3)
	if err := holder.begin(ctx); err != nil {
		return Cell{}, err
	}
	begun := time.Now()
	deadline := begun.Add(hungFor)
	waiting, cancel := context.WithDeadline(ctx, deadline)
	letIn := make(chan bool, 1)
	go func() { letIn <- next.Locker != nil && next.outOfTime(waiting, sku) }()
	err = other.begin(waiting)
	took := time.Since(begun)
	outwaited := !time.Now().Before(deadline) // a connection's own deadline may come just before the context's
	cancel()
	if err == nil {
		other.leave()
	}
	early := <-letIn
	holder.leave()
	switch {
	case early:
		return Cell{Answer: Breaks, Rule: explore.RuleOverlap, Text: "who waits for a second is let in beside the holder when it is over"}, nil
	case ctx.Err() != nil:
		return Cell{}, context.Cause(ctx)
	case err == nil && took > realLease/2:
		return Cell{Answer: Measured, Text: "the next gets in; the holder's lease has ended"}, nil
	case err != nil && outwaited:
		return Cell{Answer: Measured, Text: "the next waits"}, nil
	}
	return refusedOrIn(err, "the next is told busy", "the next gets in; at once")
}

// outOfTime: a buyer who waits for half a lease only gets the lock, while the holder's
// lease certainly lives.
func (p *party) outOfTime(ctx context.Context, sku int64) bool {
	t, begun := p.turn(sku, 4), time.Now()
	t.wait = realLease / 2
	if t.begin(ctx) != nil {
		return false
	}
	early := time.Since(begun) < realLease*3/4
	t.leave()
	return early
}

// hungFor is longer than a lease, and so short that thirty locks can be asked.
const hungFor = realLease * 7 / 4

// reentrant asks for the lock again under its lease's context.
func (b *bench) reentrant(ctx context.Context, _ int) (Cell, error) {
	p, sku, err := b.opened(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer p.In.Close()
	key, o := b.info.Key(sku), b.info.LockOptions(realSettings())
	outer, err := p.Locker.Acquire(ctx, key, o)
	if err != nil {
		return Cell{}, err
	}
	defer outer.Release(context.WithoutCancel(ctx))
	o.Wait = 0
	inner, err := p.Locker.Acquire(outer.Context(), key, o)
	switch {
	case errors.Is(err, seckill.ErrBusy):
		return Cell{Answer: Measured, Text: "no; the holder would wait for itself"}, nil
	case err != nil:
		return Cell{}, err
	}
	if err := inner.Release(ctx); err != nil {
		return Cell{}, fmt.Errorf("release the inner lease: %w", err)
	}
	// It must be held still: another process must not get it.
	other, err := b.party(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer other.In.Close()
	if stranger, err := other.Locker.Acquire(ctx, key, o); err == nil {
		stranger.Release(ctx)
		s, err := b.sound(ctx, 2)
		if err != nil {
			return Cell{}, err
		}
		if s.unsound() {
			return Cell{Answer: Measured, Text: "yes"}, nil
		}
		return Cell{Answer: Measured, Text: "no; the inner lock excludes no one, or its release freed the outer one"}, nil
	}
	return Cell{Answer: Measured, Text: "yes"}, nil
}

// releasedTwice asks whether releasing a second time, when another buyer has
// the lock, frees that buyer's.
func (b *bench) releasedTwice(ctx context.Context, c Cell) (Cell, error) {
	p, sku, err := b.opened(ctx)
	if err != nil {
		return c, err
	}
	defer p.In.Close()
	key, o := b.info.Key(sku), b.info.LockOptions(realSettings())
	first, err := p.Locker.Acquire(ctx, key, o)
	if err != nil {
		return c, err
	}
	if err := first.Release(ctx); err != nil {
		return c, err
	}
	second, err := p.Locker.Acquire(ctx, key, o)
	if err != nil {
		return c, err
	}
	defer second.Release(context.WithoutCancel(ctx))
	_ = first.Release(ctx)
	o.Wait = 0
	third, err := p.Locker.Acquire(ctx, key, o)
	if err == nil {
		third.Release(ctx)
		c.Answer, c.Rule, c.Text = Breaks, explore.RuleOverlap, "a second release frees the next holder's lock"
		return c, nil
	}
	if !errors.Is(err, seckill.ErrBusy) {
		return c, err
	}
	return c, nil
}
