package explore

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"seckill/internal/observe"
	"seckill/internal/tap"
)

// A process is one instance with the strategy on it.
type process struct {
	*observe.Process
	session int64        // in ZooKeeper
	tainted bool         // not to be used for another schedule
	ahead   atomic.Int64 // of the true time, in ns

	service http.Handler // nil until an actor asks it
}

// now is what the clock of the process shows.
func (w *World) now(p *process) time.Time {
	w.asksTime.Store(true)
	return w.time().Add(time.Duration(p.ahead.Load()))
}

func (w *World) process(ctx context.Context, number int) (*process, error) {
	if p := w.numbers[number]; p != nil {
		return p, nil
	}
	p := &process{}
	var err error
	p.Process, err = observe.Start(ctx, w.config, w.info, w.settings, func() time.Time { return w.now(p) })
	if err != nil {
		return nil, err
	}
	if p.In.ZooKeeper != nil {
		session, err := p.In.ZooKeeper.Session(ctx)
		if err != nil {
			return nil, errors.Join(err, p.In.Close())
		}
		p.session = session.ID
	}
	w.numbers[number] = p
	return p, nil
}

// ports are those of its connections to the SQL server, at its own end.
func (p *process) ports() []string { return p.In.Dialer.LocalPorts(tap.SQL) }

// recycle forgets the processes that a schedule has spoilt.
func (w *World) recycle() {
	for number, p := range w.numbers {
		if !p.tainted {
			continue
		}
		delete(w.numbers, number)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		// A statement that was left waiting would be taken for a buyer.
		_, _ = w.probes.Kill(ctx, p.ports())
		cancel()
		w.closing.Go(func() { _ = p.In.Close() })
	}
}
