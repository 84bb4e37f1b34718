package join

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"time"

	"seckill/loadtest"
)

// A Worker sends a part of a run for the process at Addr.
type Worker struct {
	Addr   string // host:port
	Secret []byte
	Name   string // of this machine
	// Config has what is this machine's own: the authorities of https targets, and the
	// signer of tokens. The rest comes from the run.
	Config loadtest.Config
	// Told is called with what the run says, before it begins.
	Told func(number, of int, o loadtest.Order)
}

// ErrGone: the process that has the run is gone.
var ErrGone = errors.New("the process that has the run is gone")

// Run joins a run, sends its part, and brings back what its buyers were told. It
// asks for a connection until ctx ends, or for patience, as the run may start later.
func (w Worker) Run(ctx context.Context, patience time.Duration) error {
	l, hello, err := w.dial(ctx, patience)
	if err != nil {
		return err
	}
	defer l.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { // what the run waits for is not worth more than this
		_ = l.SetReadDeadline(time.Now())
	})()
	welcome, err := w.prove(l, hello)
	if err != nil {
		return err
	}
	l.longest = longestMessage
	order, err := l.expect(kindOrder, time.Hour) // others may be late
	if err != nil {
		return w.ended(ctx, err)
	}
	if order.Order == nil {
		return errors.New("the run says nothing of what to send")
	}
	w.Told(welcome.Number, welcome.Of, *order.Order)
	return w.ended(ctx, w.send(ctx, cancel, l, welcome, *order.Order))
}

// ended says who ended it.
func (w Worker) ended(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, loadtest.ErrConfig) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}

// dial asks until the run says hello. A run that does not listen yet refuses; one
// that greets as many as it can just now hangs up.
func (w Worker) dial(ctx context.Context, patience time.Duration) (l *link, hello message, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		what := "start seckill load --workers N --listen there"
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", w.Addr)
		if err == nil {
			what, l = "is that a seckill load --workers?", &link{conn, longestStranger}
			if hello, err = l.expect(kindHello, handshake); err == nil {
				return l, hello, nil
			}
			conn.Close()
			if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
				return nil, hello, fmt.Errorf("join the run at %s: %w (%s)", w.Addr, err, what)
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, hello, fmt.Errorf("join the run at %s: %w (%s)", w.Addr, err, what)
		}
	}
}

// prove says who this is, and has the other side do the same.
func (w Worker) prove(l *link, hello message) (message, error) {
	if hello.Version != version {
		return hello, fmt.Errorf("the run at %s speaks %q and this program %q: use one version", w.Addr, hello.Version, version)
	}
	ours := nonce()
	err := l.send(message{Kind: kindWorker, Name: w.Name, Nonce: ours, Proof: proof(w.Secret, sideWorker, hello.Nonce, ours)}, handshake)
	if err != nil {
		return hello, err
	}
	welcome, err := l.expect(kindWelcome, handshake)
	switch {
	case err != nil:
		return welcome, fmt.Errorf("join the run at %s: %w", w.Addr, err)
	case !proves(welcome.Proof, w.Secret, sideRun, hello.Nonce, ours):
		return welcome, fmt.Errorf("join the run at %s: %w", w.Addr, ErrSecret)
	}
	return welcome, nil
}

// send sends the part. The run hears of its progress from one goroutine, and can end
// it at any time.
func (w Worker) send(ctx context.Context, end context.CancelCauseFunc, l *link, welcome message, o loadtest.Order) error {
	var writing sync.Mutex
	say := func(m message) error {
		writing.Lock()
		defer writing.Unlock()
		return l.send(m, silence)
	}
	last := time.Time{}
	started := make(chan struct{})
	c := w.Config
	c.OnProgress = after(started, func(p loadtest.Progress) {
		if now := time.Now(); now.Sub(last) >= beat {
			last = now
			if err := say(message{Kind: kindProgress, Progress: &p}); err != nil {
				end(fmt.Errorf("%w: %w", ErrGone, err))
			}
		}
	})
	var broken error
	part := loadtest.Worker{Number: welcome.Number, Of: welcome.Of,
		Ready: func() bool {
			if broken = say(message{Kind: kindReady}); broken == nil {
				_, broken = l.expect(kindGo, time.Hour)
			}
			return broken == nil
		},
		Begun: func() {
			if err := say(message{Kind: kindBegun}); err != nil {
				end(fmt.Errorf("%w: %w", ErrGone, err))
			}
			close(started)
			go l.hearStop(end)
		},
		Calls: func(packed []byte) error { return say(message{Kind: kindCalls, Calls: packed}) },
	}
	h, err := loadtest.SendPart(ctx, c, o, part)
	if broken != nil {
		return broken
	}
	if err != nil {
		_ = say(message{Kind: kindFailed, Error: err.Error()})
		return err
	}
	return say(message{Kind: kindHaul, Haul: h})
}

// after drops what is reported before a moment: the run counts from then.
func after(moment <-chan struct{}, report func(loadtest.Progress)) func(loadtest.Progress) {
	return func(p loadtest.Progress) {
		select {
		case <-moment:
			report(p)
		default:
		}
	}
}

// hearStop ends the part when the run says so, or is gone.
func (l *link) hearStop(end context.CancelCauseFunc) {
	for {
		m, err := l.receive(24 * time.Hour)
		switch {
		case err != nil:
			end(fmt.Errorf("%w: %w", ErrGone, err))
			return
		case m.Kind == kindStop:
			end(errStopped)
			return
		}
	}
}

var errStopped = errors.New("the run was interrupted")
