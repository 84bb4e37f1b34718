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
	now      func() time.Time

	service http.Handler // nil until an actor asks it
}

func (w *World) process(ctx context.Context, number int) (*process, error) {
	if p := w.numbers[number]; p != nil {
		return p, nil
	}
	p, err := w.start(ctx)
	if err == nil {
		w.numbers[number] = p
	}
	return p, err
}

func (w *World) start(ctx context.Context) (*process, error) {
	in, err := backend.Open(ctx, w.config)
	if err != nil {
		return nil, err
	}
	p := &process{in: in, store: ledger.NewStore(in.DB), options: w.info.LockOptions(w.settings)}
	p.info = observe.Locks(w.info, func(l lock.Locker) { p.locker = l })
	p.now = func() time.Time {
		w.asksTime.Store(true)
		return w.time().Add(time.Duration(p.ahead.Load()))
	}
	p.strategy, err = catalog.Build(p.info, catalog.Deps{Instance: in, Ledger: p.store, Settings: w.settings, Now: p.now})
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
	}
}
