package explore

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/observe"
	"seckill/internal/seckill"
)

// A process is one instance with the strategy on it.
type process struct {
	in       *backend.Instance
	store    *ledger.Store
	info     catalog.Info // with a lock that reports its holder
	strategy seckill.Strategy
	locker   lock.Locker
	options  lock.Options
	session  int64        // in ZooKeeper
	tainted  bool         // not to be used for another schedule
	ahead    atomic.Int64 // of the true time, in ns

	service http.Handler // nil until an actor asks it
}

// opened is a process, or why there is none.
type opened struct {
	process *process
	err     error
}

func (w *World) process(ctx context.Context, number int) (*process, error) {
	if p := w.numbers[number]; p != nil {
		return p, nil
	}
	var next opened
	if w.spare != nil {
		next = <-w.spare
		w.spare = nil
	} else {
		next.process, next.err = w.start(ctx)
	}
	if next.err != nil {
		return nil, next.err
	}
	w.numbers[number] = next.process
	return next.process, nil
}

// prepare makes a process ready in the background: schedules in which one dies
// need a new one each.
func (w *World) prepare() {
	if w.spare != nil {
		return
	}
	w.spare = make(chan opened, 1)
	go func(ready chan<- opened) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		p, err := w.start(ctx)
		ready <- opened{p, err}
	}(w.spare)
}

func (w *World) start(ctx context.Context) (*process, error) {
	in, err := backend.Open(ctx, w.config)
	if err != nil {
		return nil, err
	}
	p := &process{in: in, store: ledger.NewStore(in.DB), options: w.info.LockOptions(w.settings)}
	p.info = observe.Locks(w.info, func(l lock.Locker) { p.locker = l })
	p.strategy, err = catalog.Build(p.info, catalog.Deps{Instance: in, Ledger: p.store, Settings: w.settings,
		Now: func() time.Time {
			w.asksTime.Store(true)
			return w.time().Add(time.Duration(p.ahead.Load()))
		}})
	if err == nil && in.ZooKeeper != nil {
		var session *backend.ZooKeeperSession
		if session, err = in.ZooKeeper.Session(ctx); err == nil {
			p.session = session.ID
		}
	}
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return p, nil
}

// recycle forgets the processes that a schedule has spoilt.
func (w *World) recycle() {
	for number, p := range w.numbers {
		if !p.tainted {
			continue
		}
		delete(w.numbers, number)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		// A statement that was left waiting would be taken for a buyer.
		_, _ = w.sql.Kill(ctx, p.in.Dialer.LocalAddrs())
		cancel()
		w.closing.Go(func() { _ = p.in.Close() })
		w.prepare()
	}
}
