package explore

import (
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
	run      *run
	cancel   context.CancelFunc
	requests chan request
	done     chan struct{} // closed when the schedule has ended
	err      error         // why, once done is closed; nil: it is judged
	last     View          // once done is closed
	pending  chan<- View   // takes the state after the choice that was made last
	chosen   []int         // for each choice: how many steps there were before it
}

type request struct {
	choice Choice
	view   chan View // takes the state after it
	no     chan error
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
		plain := *s
		plain.Faults = nil
		if err := w.rehearse(ctx, &plain); err != nil {
			return nil, View{}, err
		}
		w.rehearsed = true
	}
	r := w.newRun(s, true)
	r.byHand = true
	playing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &Live{run: r, cancel: cancel, requests: make(chan request), done: make(chan struct{})}
	began := make(chan View, 1)
	l.pending = began
	go func() {
		defer close(l.done)
		defer cancel()
		_, l.err = r.play(playing, l.choose(playing))
		if l.err == nil {
			l.last = l.view(playing, nil)
		}
	}()
	v, err := l.await(ctx, began)
	if err != nil {
		l.End()
	}
	return l, v, err
}

// await waits for the state after a choice.
func (l *Live) await(ctx context.Context, view <-chan View) (View, error) {
	select {
	case v := <-view:
		return v, nil
	case <-l.done:
		return l.last, l.err
	case <-ctx.Done():
		return View{}, context.Cause(ctx)
	}
}

// Choose makes a choice, and returns when everything has settled behind it.
// ErrImpossible and ErrOver leave the schedule as it is; after any other error
// nothing is known of it, and it can only be ended.
func (l *Live) Choose(ctx context.Context, c Choice) (View, error) {
	req := request{choice: c, view: make(chan View, 1), no: make(chan error, 1)}
	select {
	case l.requests <- req:
	case <-l.done:
		if l.err != nil {
			return l.last, l.err
		}
		return l.last, ErrOver
	case <-ctx.Done():
		return View{}, context.Cause(ctx)
	}
	select {
	case err := <-req.no:
		return View{}, err
	case v := <-req.view:
		return v, nil
	case <-l.done:
		return l.last, l.err
	case <-ctx.Done():
		return View{}, context.Cause(ctx)
	}
}

// End gives the schedule up, or closes one that is over.
func (l *Live) End() {
	l.cancel()
	<-l.done
}

// choose is the chooser: it stops the schedule until a choice comes.
func (l *Live) choose(ctx context.Context) chooser {
	return func(options []policy.Option, _ int) (int, error) {
		r := l.run
		if l.pending != nil {
			l.pending <- l.view(ctx, options)
			l.pending = nil
		}
		for {
			select {
			case req := <-l.requests:
				i := slices.IndexFunc(options, func(o policy.Option) bool { return o.Choice == req.choice })
				if i < 0 {
					// One that seemed to wait may have been on its way, and a helper
					// may just have begun.
					if r.await(ctx, lateness) == nil {
						go func() { l.again(ctx, req) }()
						return 0, errNews
					}
					req.no <- fmt.Errorf("%w: %s", ErrImpossible, req.choice)
					continue
				}
				l.pending = req.view
				l.chosen = append(l.chosen, len(r.schedule.Steps))
				return i, nil
			case e := <-r.events:
				r.heed(e)
				return 0, errNews
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			}
		}
	}
}

// again puts a request once more.
func (l *Live) again(ctx context.Context, req request) {
	select {
	case l.requests <- req:
	case <-ctx.Done():
	}
}
