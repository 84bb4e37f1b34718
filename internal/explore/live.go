package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"seckill/internal/explore/policy"
)

// A Live is one schedule that a person chooses, step by step. While they think
// nothing happens: no time passes for a lease, a wait or a back-off.
// Its methods are for one goroutine at a time.
type Live struct {
	run     *run
	options []policy.Option // from which the person chooses; none: it has ended
	err     error           // why it has ended; nil: it is judged
}

var (
	// ErrImpossible: the choice cannot be made now.
	ErrImpossible = errors.New("that cannot happen now")
	// ErrOver: the schedule has ended.
	ErrOver = errors.New("all buyers are done")
)

// Begin starts a schedule that is chosen by hand, and returns at the first choice.
// There may be one at a time in a world; End ends it.
func (w *World) Begin(ctx context.Context, s *Scenario) (*Live, View, error) {
	if s.InLine || s.DiesFirst || s.Next {
		return nil, View{}, errors.New("a schedule that is chosen by hand has no steps of its own")
	}
	if err := w.rehearse(ctx, s); err != nil {
		return nil, View{}, err
	}
	l := &Live{run: w.newRun(s, true)}
	l.run.byHand = true
	err := l.run.start(ctx, nil)
	if err == nil {
		err = l.proceed(ctx)
	}
	if err != nil {
		l.End()
		return nil, View{}, err
	}
	return l, l.run.view(ctx, l.options), nil
}

// proceed goes on to the next choice, or to the end.
func (l *Live) proceed(ctx context.Context) error {
	if l.options, l.err = l.run.next(ctx); l.err == nil && len(l.options) == 0 {
		l.err = l.run.judge(ctx)
	}
	return l.err
}

// Choose makes a choice, and returns when everything has settled behind it.
// ErrImpossible and ErrOver leave the schedule as it is; after any other error
// nothing is known of it, and it can only be ended.
func (l *Live) Choose(ctx context.Context, c Choice) (View, error) {
	if len(l.options) == 0 {
		return View{}, cmp.Or(l.err, ErrOver)
	}
	o, err := l.find(ctx, c)
	if err != nil {
		return View{}, err
	}
	if err := l.run.take(ctx, o, true); err != nil {
		l.options, l.err = nil, err
		return View{}, err
	}
	if err := l.proceed(ctx); err != nil {
		return View{}, err
	}
	return l.run.view(ctx, l.options), nil
}

// find returns the option that is this choice. It looks again when something comes from
// a buyer: one who seemed to wait may have been on their way, and a helper may just have
// begun.
func (l *Live) find(ctx context.Context, c Choice) (o policy.Option, err error) {
	if l.run.drain() { // while the person was thinking
		err = l.proceed(ctx)
	}
	for err == nil {
		if i := slices.IndexFunc(l.options, func(o policy.Option) bool { return o.Choice == c }); i >= 0 {
			return l.options[i], nil
		}
		if err = l.run.await(ctx, lateness); errors.Is(err, errNothing) {
			return o, fmt.Errorf("%w: %s", ErrImpossible, c)
		}
		if err == nil {
			err = l.proceed(ctx)
		}
	}
	return o, err
}

// End gives the schedule up, or closes one that is over.
func (l *Live) End() { l.run.end() }
