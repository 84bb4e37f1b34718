package strategies_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/fault"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/seckill"
	"seckill/internal/tap/taptest"
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
	made := func(info catalog.Info) *forgetting {
		return &forgetting{harness: newHarness(t, info, processes, patient)}
	}
	counters := []*forgetting{made(counter.RedisCounter), made(counter.RedisCounterMySQL)}
	locks := []*forgetting{made(redislock.RedisLua), made(redislock.RedisFenced)}
	labtest.Must(t, processes[0].Redis.Do(t.Context(), "WAIT", 2, 10_000).Err())

	failover, err := fault.In(l).Inject(t.Context(), fault.FailoverRedis, fault.Aim{})
	labtest.Must(t, err)
	for _, f := range counters {
		for user := range int64(3) {
			f.sell(t, user+1)
		}
	}
	for _, f := range locks {
		f.hold(t, "BEGIN")
	}
	effect, err := failover.Undo(t.Context())
	if err != nil || !effect.Took {
		t.Fatalf("the failover came to %+v, %v", effect, err)
	}

	for _, f := range counters {
		for user := range int64(5) {
			f.sell(t, user+10)
		}
		f.judged(t, f.Info.Name == counter.RedisCounter.Name, ledger.RuleOversold)
	}
	for _, f := range locks {
		f.grantedAgain(t)
	}
}

// forgetting is a strategy whose Redis fails over.
type forgetting struct {
	*harness
	heard []ledger.Told
	goOn  chan struct{} // lets the buyer go on that hold has stopped
	late  chan ledger.Told
}

func sold(t ledger.Told) bool { return t.Outcome == ledger.OutcomeSold }

// sell asks for one unit. Connections that the failover has closed are replaced.
func (f *forgetting) sell(t *testing.T, user int64) {
	t.Helper()
	p := f.Purchase(user, 1)
	r, err := f.Processes[1].Deduct(t.Context(), p)
	for try := 0; try < 5 && errors.Is(err, seckill.ErrUnavailable); try++ {
		r, err = f.Processes[1].Deduct(t.Context(), p)
	}
	f.heard = append(f.heard, wire.Told(p, r, err))
}

// hold has a buyer of the other process take the lock, read the stock, and stop
// before a command.
func (f *forgetting) hold(t *testing.T, command string) {
	t.Helper()
	begun := make(chan struct{})
	f.goOn, f.late = make(chan struct{}), make(chan ledger.Told, 1)
	ctx := taptest.Before(t.Context(), command, func() {
		close(begun)
		<-f.goOn
	})
	go func() {
		r, err := f.Buy(ctx, 1, 2)
		f.late <- wire.Told(f.Purchase(1, 2), r, err)
	}()
	select {
	case <-begun:
	case early := <-f.late:
		t.Fatalf("%s: the holder never came to its write: %+v", f.Info.Name, early)
	}
}

// grantedAgain: the lock is free although its holder has not let go, and its next
// buyer buys. Then the holder goes on: only a fenced row refuses it.
func (f *forgetting) grantedAgain(t *testing.T) {
	t.Helper()
	f.sell(t, 2)
	if !slices.ContainsFunc(f.heard, sold) {
		t.Errorf("%s: the next buyer was told %v, want that the lock is free", f.Info.Name, f.heard)
	}
	close(f.goOn)
	f.heard = append(f.heard, <-f.late)
	f.judged(t, f.Info.Name == redislock.RedisLua.Name, ledger.RuleLostUpdate)
}

func (f *forgetting) judged(t *testing.T, breaks bool, rule string) {
	t.Helper()
	report := f.Judge(t, f.heard...)
	broke := slices.ContainsFunc(report.Violations, func(v ledger.Violation) bool { return v.Rule == rule })
	if broke != breaks || !breaks && report.Verdict == ledger.Oversold {
		t.Errorf("%s: the audit says %s, %+v of %+v; want %s: %t", f.Info.Name, report.Verdict, report.Violations, f.heard, rule, breaks)
	}
}
