package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"seckill/internal/explore/policy"
)

// A Live is one schedule that a person chooses, step by step. While they think
// nothing happens: no time passes for a lease, a wait or a back-off.
// Its methods are for one goroutine at a time.
type Live struct {
	run    *run
	ctx    context.Context // ends with the schedule
	cancel context.CancelFunc
	next   func() (pause, bool) // runs the schedule to its next choice; false: it has ended
	stop   func()
	wanted *Choice // made by the person, and not by the schedule yet
	over   bool    // the schedule has ended
	err    error   // and why; nil: it is judged
}

// A pause is a moment at which the schedule waits for a choice: the state, or why
// the last choice cannot be made there.
type pause struct {
	view View
	err  error
}

var (
	// ErrImpossible: the choice cannot be made now.
	ErrImpossible = errors.New("that cannot happen now")
	// ErrOver: the schedule has ended.
	ErrOver = errors.New("all buyers are done")
	// errNews: something has come from a buyer, look again.
	errNews = errors.New("something has happened")
)

// Begin starts a schedule that is chosen by hand, and returns at the first choice.
// There may be one at a time in a world; End ends it.
func (w *World) Begin(ctx context.Context, s *Scenario) (*Live, View, error) {
	if s.InLine || s.DiesFirst || s.Next {
		return nil, View{}, errors.New("a schedule that is chosen by hand has no steps of its own")
	}
	if err := w.check(s); err != nil {
		return nil, View{}, err
	}
	if !w.rehearsed {
		if err := w.rehearse(ctx, s); err != nil {
			return nil, View{}, err
		}
		w.rehearsed = true
	}
	l := &Live{run: w.newRun(s, true)}
	l.run.byHand = true
	l.ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	l.next, l.stop = iter.Pull(l.play)
	v, err := l.proceed(ctx)
	if err != nil {
		l.End()
	}
	return l, v, err
}

// play runs the schedule; each pause lasts until a choice is wanted.
func (l *Live) play(yield func(pause) bool) {
	_, l.err = l.run.play(l.ctx, func(options []policy.Option, _ int) (int, error) { return l.choose(options, yield) })
}

// proceed returns the state at the next pause, or at the end.
func (l *Live) proceed(ctx context.Context) (View, error) {
	defer context.AfterFunc(ctx, l.cancel)()
	p, waits := l.next()
	l.over = !waits
	switch {
	case ctx.Err() != nil:
		return View{}, context.Cause(ctx)
	case waits:
		return p.view, p.err
	case l.err != nil:
		return View{}, l.err
	}
	return l.view(l.ctx, nil), nil
}

// Choose makes a choice, and returns when everything has settled behind it.
// ErrImpossible and ErrOver leave the schedule as it is; after any other error
// nothing is known of it, and it can only be ended.
func (l *Live) Choose(ctx context.Context, c Choice) (View, error) {
	if l.over {
		return View{}, cmp.Or(l.err, ErrOver)
	}
	l.wanted = &c
	return l.proceed(ctx)
}

// End gives the schedule up, or closes one that is over.
func (l *Live) End() {
	l.cancel()
	l.stop()
}

// choose is the chooser of a schedule: it pauses until a choice is wanted.
func (l *Live) choose(options []policy.Option, yield func(pause) bool) (int, error) {
	r, now := l.run, pause{}
	for {
		if l.wanted == nil {
			if now.err == nil {
				now.view = l.view(l.ctx, options)
			}
			if !yield(now) {
				return 0, context.Canceled
			}
			if r.drain() { // while the person was thinking
				return 0, errNews
			}
		}
		c := *l.wanted
		i := slices.IndexFunc(options, func(o policy.Option) bool { return o.Choice == c })
		switch {
		case i >= 0:
			l.wanted = nil
			return i, nil
		case r.await(l.ctx, lateness) == nil:
			// One that seemed to wait may have been on its way, and a helper
			// may just have begun.
			return 0, errNews
		}
		l.wanted, now.err = nil, fmt.Errorf("%w: %s", ErrImpossible, c)
	}
}
