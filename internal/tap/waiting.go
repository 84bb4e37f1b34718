package tap

import (
	"context"
	"errors"
	"time"
)

// A goroutine that waits receives its event from a channel, the awaited channel. A Tap that schedules commands must
// know when such a goroutine will not continue by itself. It calls Command.IsOver, which proceeds in three steps:
//
//  1. If the event comes from a server, IsOver sends that server a request. Servers answer in order, so
//     when the answer is there, all earlier events are in the awaited channel.
//  2. IsOver sends a value to a second channel, checks. The waiter receives this value. It then checks
//     the awaited channel, its timer and its context before it blocks again.
//  3. IsOver sends another value to checks. The waiter receives this value only if it found nothing in
//     step 2. If it found an event, the wait is over and IsOver returns, too.

// A Sleeper is a Tap with a clock of its own. Its Sleep is called in place of a real back-off, without Before and
// After. Command.FireTimer takes the place of the real timer of a wait.
type Sleeper interface {
	Sleep(ctx context.Context, d time.Duration) error
}

// ClockStopped reports whether the context's Tap is a Sleeper. Then no timer fires by itself.
func ClockStopped(ctx context.Context) bool {
	_, is := From(ctx).(Sleeper)
	return is
}

// Wait waits until the channel done yields a value or is closed. If ctx ends first, Wait returns
// the cause of ctx. The parameter what describes the event, such as "mutex stock 1".
func Wait[T any](ctx context.Context, what string, done <-chan T) (T, error) {
	return WaitWithin(ctx, what, NoLimit, done, nil)
}

// NoLimit is the limit with which WaitWithin waits for any length of time.
const NoLimit time.Duration = -1

// ErrTimeUp is the error of a wait that has lasted as long as its limit.
var ErrTimeUp = errors.New("the limit of this wait is over")

// WaitWithin does the same as Wait, but returns ErrTimeUp after limit, such as the rest of a lease. (A context with a
// deadline cannot replace limit, because a Tap cannot control the clock of a context.) The function catchUp is nil
// unless the event comes from a server. It performs step 1 above: it returns when all events that the server has sent
// so far are in done.
func WaitWithin[T any](
	ctx context.Context, what string, limit time.Duration,
	done <-chan T, catchUp func(context.Context) error,
) (T, error) {
	if w := observersOf(ctx); w.tap == nil { // no Tap sees the wait, so it needs no description
		w.countCommand(Waiting)
		return awaitEvent(ctx, realTimer(limit), done, nil)
	}
	checks, over := make(chan struct{}), make(chan struct{})
	c := &Command{Name: "wait", Text: what, FromServer: catchUp != nil, IsOver: func(ctx context.Context) (bool, error) {
		if catchUp != nil {
			if err := catchUp(ctx); err != nil {
				return false, err
			}
		}
		for range 2 { // steps 2 and 3
			select {
			case checks <- struct{}{}:
			case <-over:
				return true, nil
			case <-ctx.Done():
				return false, context.Cause(ctx)
			}
		}
		return false, nil
	}}
	timer := realTimer(limit)
	if ClockStopped(ctx) && limit >= 0 {
		fired := make(chan time.Time, 1)
		timer, c.FireTimer = fired, fired
	}
	return Do(ctx, Waiting, func() *Command { return c }, func(ctx context.Context) (T, error) {
		defer close(over) // close before Do calls the Tap's After, which may block
		return awaitEvent(ctx, timer, done, checks)
	}, nil)
}

// awaitEvent returns the first value of the channel done, or an error if the timer fires or ctx ends first. After each
// value from checks, awaitEvent tests whether it can return before it receives another value. So a goroutine that has
// sent two values to checks knows that awaitEvent could not return at the first one.
func awaitEvent[T any](ctx context.Context, timer <-chan time.Time, done <-chan T, checks <-chan struct{}) (T, error) {
	var got T
	for {
		select {
		case got = <-done:
			return got, nil
		case <-timer:
			return got, ErrTimeUp
		case <-ctx.Done():
			return got, context.Cause(ctx)
		case <-checks:
		}
		select {
		case got = <-done:
			return got, nil
		case <-timer:
			return got, ErrTimeUp
		case <-ctx.Done():
			return got, context.Cause(ctx)
		default:
		}
	}
}

// realTimer returns a channel that yields a value after limit. If limit is NoLimit, the channel never yields a value.
func realTimer(limit time.Duration) <-chan time.Time {
	if limit < 0 {
		return nil
	}
	return time.After(limit)
}

// Sleep waits for d. If ctx ends first, Sleep returns the cause of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	if s, ok := From(ctx).(Sleeper); ok {
		return s.Sleep(ctx, d)
	}
	_, err := Do(ctx, Waiting, func() *Command {
		return &Command{Name: "back-off", Text: d.String()}
	}, func(ctx context.Context) (time.Time, error) { return awaitEvent(ctx, nil, time.After(d), nil) }, nil)
	return err
}

// WithTimeout does the same as context.WithTimeout, unless the Tap is a Sleeper. Then the context has
// no deadline, because a person who steps through a schedule may take any time.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if ClockStopped(ctx) {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, d)
}
