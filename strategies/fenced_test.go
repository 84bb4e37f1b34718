package strategies_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/backend/backendtest"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/strategies/etcdlock"
	"seckill/strategies/redislock"
	"seckill/strategies/zklock"
)

// An asleep lock's holder hears nothing, as a process that stands still.
type asleep struct{ lock.Locker }

func (l asleep) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	lease, err := l.Locker.Acquire(ctx, key, o)
	if err != nil {
		return nil, err
	}
	return asleepLease{lease}, nil
}

type asleepLease struct{ lock.Lease }

func (l asleepLease) Context() context.Context { return context.WithoutCancel(l.Lease.Context()) }

// A pause holds a buyer before the first command of that name.
type pause struct {
	before     string
	begun, end chan struct{}
	once       sync.Once
}

func (p *pause) Before(_ context.Context, c *tap.Command) error {
	if c.Name == p.before {
		p.once.Do(func() {
			close(p.begun)
			<-p.end
		})
	}
	return nil
}

func (*pause) After(_ context.Context, _ *tap.Command, err error) error { return err }

// A holder has read the stock and is paused. Nothing of its process reaches the
// lock's server meanwhile, so that its lease or session ends there, in real
// time; the next buyer gets the lock and buys. Then the holder writes what it
// had computed. Without a fence that buries the other's sale.
func TestHolderIsPausedPastItsLease(t *testing.T) {
	for i, c := range []struct {
		info   catalog.Info
		needs  backend.Capability
		breaks bool
	}{
		{redislock.RedisLua, backend.Redis, true}, {redislock.RedisFenced, backend.Redis, false},
		{zklock.ZK, backend.ZooKeeper, true}, {zklock.ZKFenced, backend.ZooKeeper, false},
		{etcdlock.Etcd, backend.Etcd, true}, {etcdlock.EtcdFenced, backend.Etcd, false},
	} {
		t.Run(c.info.Name, func(t *testing.T) {
			config := labtest.Config(t, backend.SQL, c.needs)
			t.Parallel()
			pausedHolder(t, c.info, config, int64(95_000+i), c.breaks)
		})
	}
}

func pausedHolder(t *testing.T, info catalog.Info, config backend.Config, sku int64, breaks bool) {
	wire, mine := wireTo(t, config)
	h := &harness{info: info, sku: sku}
	for i, config := range []backend.Config{mine, config} {
		config.ZooKeeperSession = 10 * time.Second
		if i == 0 {
			config.ZooKeeperSession = 2 * time.Second // is to end
		}
		in, err := backend.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close() })
		if err := ledger.Migrate(t.Context(), in.DB); err != nil {
			t.Fatal(err)
		}
		h.store = ledger.NewStore(in.DB)
		one := info
		if i == 0 {
			one.Locker = func(d catalog.Deps) (lock.Locker, error) {
				l, err := info.Locker(d)
				return asleep{l}, err
			}
		}
		h.strategies[i], err = catalog.Build(one, catalog.Deps{Instance: in, Ledger: h.store,
			Settings: catalog.Settings{LockTimes: catalog.LockTimes{LockWait: time.Minute, LockLease: 300 * time.Millisecond}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	h.reset(t, 5)
	first, second := h.purchase(1, 2), h.purchase(2, 1)
	p := &pause{before: "BEGIN", begun: make(chan struct{}), end: make(chan struct{})}
	type answer struct {
		receipt seckill.Receipt
		err     error
	}
	late := make(chan answer, 1)
	go func() {
		r, err := h.strategies[0].Deduct(tap.With(t.Context(), p), first)
		late <- answer{r, err}
	}()
	select {
	case <-p.begun:
	case early := <-late:
		t.Fatalf("the first buyer never came to its write: %v", early.err)
	}
	wire.Freeze()
	r, err := h.strategies[1].Deduct(t.Context(), second)
	if err != nil {
		t.Fatalf("the next buyer: %v", err)
	}
	told := []ledger.Told{{RequestID: second.RequestID, User: 2, Quantity: 1, OrderID: r.OrderID, Remaining: r.Remaining, Outcome: ledger.OutcomeSold}}
	wire.Pass()
	close(p.end)
	woken := <-late
	if !breaks {
		if !errors.Is(woken.err, seckill.ErrConflict) || !seckill.NothingTaken(woken.err) {
			t.Errorf("the paused holder was told %v, want a conflict", woken.err)
		}
		told = append(told, ledger.Told{RequestID: first.RequestID, User: 1, Quantity: 2, Outcome: ledger.OutcomeError})
		held(t, "after the pause", h.judge(t, 5, told))
		return
	}
	if woken.err != nil {
		t.Fatalf("the paused holder was told %v, want that it sells", woken.err)
	}
	told = append(told, ledger.Told{RequestID: first.RequestID, User: 1, Quantity: 2, OrderID: woken.receipt.OrderID,
		Remaining: woken.receipt.Remaining, Outcome: ledger.OutcomeSold})
	report := h.judge(t, 5, told)
	if !slices.ContainsFunc(report.Violations, func(v ledger.Violation) bool { return v.Rule == ledger.RuleLostUpdate }) {
		t.Errorf("the audit says %s, %+v; want a lost update", report.Verdict, report.Violations)
	}
}

// wireTo puts a wire before the lock's server, and gives the configuration that
// leads there through it.
func wireTo(t *testing.T, c backend.Config) (w *backendtest.Wire, through backend.Config) {
	switch {
	case len(c.RedisAddrs) > 0:
		var addr string
		w, addr = backendtest.NewRedisWire(t, c.RedisAddrs[0])
		c.RedisAddrs = []string{addr}
	case len(c.ZooKeeperAddrs) > 0:
		w = backendtest.NewWire(t, c.ZooKeeperAddrs[0])
		c.ZooKeeperAddrs = []string{w.Addr}
	default:
		w = backendtest.NewWire(t, strings.TrimPrefix(c.EtcdEndpoints[0], "http://"))
		c.EtcdEndpoints = []string{w.Addr}
	}
	return w, c
}
