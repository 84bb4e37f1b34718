package strategies_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/wire"
	"seckill/strategies/counter"
	"seckill/strategies/redislock"
)

// A failover forgets what the old primary had acknowledged and not replicated: a
// lock that is held is granted again, and a counter goes back. What has its last
// word in the database holds. One failover for all of them.
func TestAFailoverForgets(t *testing.T) {
	l := labtest.Own(t, lab.Sentinel, backend.NameRedis)
	processes := openTwo(t, labtest.On(t, l, backend.SQL, backend.Redis))
	patient := catalog.Settings{LockTimes: catalog.LockTimes{LockWait: time.Minute, LockLease: 2 * time.Minute, LockPoll: 10 * time.Millisecond}}
	const stock = 5
	made := func(info catalog.Info, sku int64) *forgetting {
		f := &forgetting{harness: newHarness(t, info, processes, patient, sku)}
		f.reset(t, stock)
		return f
	}
	counters := []*forgetting{made(counter.RedisCounter, 97_001), made(counter.RedisCounterMySQL, 97_002)}
	locks := []*forgetting{made(redislock.RedisLua, 97_003), made(redislock.RedisFenced, 97_004)}
	labtest.Must(t, processes[0].Redis.Do(t.Context(), "WAIT", 2, 10_000).Err())

	failover, err := fault.In(l).Inject(t.Context(), fault.FailoverRedis, fault.Aim{})
	labtest.Must(t, err)
	for _, f := range counters {
		for user := range int64(3) {
			f.sell(t, user+1)
		}
	}
	for _, f := range locks {
		f.hold(t)
	}
	effect, err := failover.Undo(t.Context())
	if err != nil || !effect.Took {
		t.Fatalf("the failover came to %+v, %v", effect, err)
	}

	for _, f := range counters {
		for user := range int64(stock) {
			f.sell(t, user+10)
		}
		f.judged(t, stock, f.info.Name == counter.RedisCounter.Name, ledger.RuleOversold)
	}
	for _, f := range locks {
		f.grantedAgain(t, stock)
	}
}

// forgetting is a strategy whose Redis fails over.
type forgetting struct {
	*harness
	heard []ledger.Told
	pause *pause
	late  chan ledger.Told
}

func sold(t ledger.Told) bool { return t.Outcome == ledger.OutcomeSold }

// sell asks for one unit. Connections that the failover has closed are replaced.
func (f *forgetting) sell(t *testing.T, user int64) {
	t.Helper()
	p := f.purchase(user, 1)
	r, err := f.strategies[1].Deduct(t.Context(), p)
	for try := 0; try < 5 && errors.Is(err, seckill.ErrUnavailable); try++ {
		r, err = f.strategies[1].Deduct(t.Context(), p)
	}
	f.heard = append(f.heard, wire.Told(p, r, err))
}

// hold has a buyer of the other process take the lock, read the stock, and stop.
func (f *forgetting) hold(t *testing.T) {
	t.Helper()
	f.holdBefore(t, "BEGIN")
}

// holdBefore is hold, up to another command.
func (f *forgetting) holdBefore(t *testing.T, command string) {
	t.Helper()
	f.pause = &pause{before: command, begun: make(chan struct{}), end: make(chan struct{})}
	f.late = make(chan ledger.Told, 1)
	p := f.purchase(1, 2)
	go func() {
		r, err := f.strategies[0].Deduct(tap.With(t.Context(), f.pause), p)
		f.late <- wire.Told(p, r, err)
	}()
	select {
	case <-f.pause.begun:
	case early := <-f.late:
		t.Fatalf("%s: the holder never came to its write: %+v", f.info.Name, early)
	}
}

// grantedAgain: the lock is free although its holder has not let go, and its next
// buyer buys. Then the holder goes on: only a fenced row refuses it.
func (f *forgetting) grantedAgain(t *testing.T, stock int64) {
	t.Helper()
	f.sell(t, 2)
	if !slices.ContainsFunc(f.heard, sold) {
		t.Errorf("%s: the next buyer was told %v, want that the lock is free", f.info.Name, f.heard)
	}
	close(f.pause.end)
	f.heard = append(f.heard, <-f.late)
	f.judged(t, stock, f.info.Name == redislock.RedisLua.Name, ledger.RuleLostUpdate)
}

func (f *forgetting) judged(t *testing.T, stock int64, breaks bool, rule string) {
	t.Helper()
	report := f.judge(t, stock, f.heard)
	broke := slices.ContainsFunc(report.Violations, func(v ledger.Violation) bool { return v.Rule == rule })
	if broke != breaks || !breaks && report.Verdict == ledger.Oversold {
		t.Errorf("%s: the audit says %s, %+v of %+v; want %s: %t", f.info.Name, report.Verdict, report.Violations, f.heard, rule, breaks)
	}
}

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
