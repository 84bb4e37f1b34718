package counter_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/judge"
	"seckill/internal/lab/labtest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
	"seckill/strategies/counter"
	"seckill/strategies/saletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

var all = []catalog.Info{counter.RedisCounter, counter.RedisMulti, counter.RedisCounterMySQL}

func onEach(t *testing.T, f func(t *testing.T, info catalog.Info)) {
	for _, info := range all {
		t.Run(info.Name, func(t *testing.T) { f(t, info) })
	}
}

const lease = time.Minute

// A shop is one service process of a sale, with a clock of its own.
type shop struct {
	*saletest.Sale
	seckill.Strategy
	in    *backend.Instance
	ahead *atomic.Int64 // how far the clock is ahead of the real one
	told  []judge.Call
}

func open(t *testing.T, info catalog.Info, stock int64) *shop {
	t.Helper()
	d, ahead := deps(labtest.Instance(t, info.Uses()...))
	s := saletest.Open(t, info, stock, d)
	return &shop{Sale: s, Strategy: s.Processes[0], in: d.Instance, ahead: ahead}
}

func deps(in *backend.Instance) (d catalog.Deps, ahead *atomic.Int64) {
	ahead = &atomic.Int64{}
	times := catalog.LockTimes{LockWait: 20 * time.Millisecond, LockPoll: time.Millisecond, LockLease: lease}
	return catalog.Deps{Instance: in, Settings: catalog.Settings{LockTimes: times, Retries: 8},
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}, ahead
}

// other returns another process that sells the same SKU.
func (sh *shop) other(t *testing.T) *shop {
	t.Helper()
	d, ahead := deps(labtest.Instance(t, sh.Info.Uses()...))
	sh.Join(t, d)
	return &shop{Sale: sh.Sale, Strategy: sh.Processes[len(sh.Processes)-1], in: d.Instance, ahead: ahead}
}

func (sh *shop) later() { sh.ahead.Store(int64(lease + time.Second)) }

// buy makes a purchase and keeps its answer.
func (sh *shop) buy(ctx context.Context, user, quantity int64) (seckill.Receipt, error) {
	p := sh.Purchase(user, quantity)
	r, err := sh.Deduct(ctx, p)
	sh.told = append(sh.told, judge.CallOf(p, r, err))
	return r, err
}

func (sh *shop) mustBuy(t *testing.T, user, quantity int64) seckill.Receipt {
	t.Helper()
	r, err := sh.buy(t.Context(), user, quantity)
	if err != nil {
		t.Fatalf("user %d wanted %d: %v", user, quantity, err)
	}
	return r
}

func (sh *shop) refused(t *testing.T, user, quantity int64, want error) {
	t.Helper()
	labtest.Value(sh.buy(t.Context(), user, quantity)).Check(t, want, "user %d wanted %d", user, quantity)
}

// reconnect drops the connections to a Redis that has ended meanwhile. A command on such a connection gets no answer,
// and its sender cannot know why. reconnect returns when Redis answers, or refuses connections.
func (sh *shop) reconnect(t *testing.T) {
	t.Helper()
	for range 1000 {
		err := sh.in.Redis.Ping(t.Context()).Err()
		if dial := (*net.OpError)(nil); err == nil || errors.As(err, &dial) && dial.Op == "dial" {
			return
		}
	}
	t.Fatal("Redis neither answers nor refuses")
}

func judged(t *testing.T, r judge.Report, verdict judge.Verdict, rules ...string) {
	t.Helper()
	broken := labtest.Map(r.Violations, func(v judge.Violation) string { return v.Rule })
	if r.Verdict != verdict || !slices.Equal(broken, rules) {
		t.Errorf("the audit says %s by %v, want %s by %v: %+v", r.Verdict, broken, verdict, rules, r)
	}
}

func (sh *shop) number(t *testing.T) string {
	t.Helper()
	return sh.in.Redis.Get(t.Context(), fmt.Sprintf("seckill:stock:%d", sh.SKU)).Val()
}

// settled checks that number and row agree, and that no purchase is open.
func (sh *shop) settled(t *testing.T, left int64) {
	t.Helper()
	row, err := sh.Store.SKU(t.Context(), sh.SKU)
	open := sh.in.Redis.ZCard(t.Context(), fmt.Sprintf("{seckill:stock:%d}:open", sh.SKU)).Val()
	if got := sh.number(t); err != nil || got != fmt.Sprint(left) || row.Num != left || open != 0 {
		t.Errorf("the number is %s, the row %d, %d purchases are open (%v); want %d, %[5]d and 0", got, row.Num, open, err, left)
	}
}

func behindRow(info catalog.Info) bool { return info.Stock == seckill.InRowAndRedis }

// Redis comes back without its data. Nobody sells from a number that is missing. If a stock row is behind it, a new
// number is made from the row. (What happens if Redis comes back with an older number is seen at a failover.)
func TestRedisComesBackEmpty(t *testing.T) {
	onEach(t, func(t *testing.T, info catalog.Info) {
		sh := open(t, info, 10)
		sh.mustBuy(t, 1, 4)
		process := labtest.Value(labtest.Start(t, backend.Redis).Process(backend.NameRedis)).Must(t)
		labtest.Must(t, process.Kill(t.Context()))
		sh.reconnect(t)
		sh.refused(t, 50, 1, seckill.ErrUnavailable)
		labtest.Must(t, process.Restart(t.Context()))
		sh.reconnect(t)
		if behindRow(info) {
			sh.mustBuy(t, 2, 6)
			sh.refused(t, 3, 1, seckill.ErrSoldOut)
			sh.settled(t, 0)
			judged(t, sh.Judge(t, sh.told...), judge.Held)
			return
		}
		sh.refused(t, 2, 1, seckill.ErrUnavailable)
		labtest.Same(t, sh.in.Redis.DBSize(t.Context()).Val(), 0, "the keys that a refused purchase left behind")
		judged(t, sh.Judge(t, sh.told...), judge.NotValid, judge.RuleUnknownStore)
		sh.Reset(t, 10)
		sh.mustBuy(t, 2, 10)
	})
}

// The number is too high, because Redis has lost purchases. The row decides. When it refuses a buyer, the number loses
// the units that the row lacks, or all that is too much if nobody else is buying.
func TestRefusalsCorrectTheNumber(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 3)
	labtest.Must(t, sh.in.Redis.IncrBy(t.Context(), fmt.Sprintf("seckill:stock:%d", sh.SKU), 5).Err())
	meanwhile := taptest.Before(t.Context(), "BEGIN", func() { sh.mustBuy(t, 1, 1) })
	labtest.Value(sh.buy(meanwhile, 2, 4)).Check(t, seckill.ErrSoldOut, "who wanted 4 of 2")
	// 7 without the units of the four refused buyers, but with the two units of the row
	sh.numberIs(t, "5")
	sh.refused(t, 3, 4, seckill.ErrSoldOut)
	sh.settled(t, 2)
	sh.mustBuy(t, 6, 2)
	judged(t, sh.Judge(t, sh.told...), judge.Held)
}

// A cancellation that the database has certainly not done leaves nothing open, so nobody waits for a lease.
func TestARefusedCancellationLeavesNothingOpen(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 2)
	r := sh.mustBuy(t, 1, 2)
	fails := taptest.Tap{OnBefore: func(c *tap.Command) error {
		if c.Name == "COMMIT" {
			return seckill.ErrConflict
		}
		return nil
	}}
	labtest.Check(t, sh.Restore(tap.With(t.Context(), &fails), r.OrderID), seckill.ErrConflict, "the cancellation")
	sh.refused(t, 2, 1, seckill.ErrSoldOut)
	sh.settled(t, 0)
}

// A buyer who does not hear that Redis admitted them does not go on. The next buyer gets their units at once.
func TestWhoHearsNothingHoldsNothing(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 6)
	sh.mustBuy(t, 1, 1)
	lost := &taptest.Nth{N: 1, OnAfter: func(error) error { return taptest.ErrLostReply }}
	labtest.Value(sh.buy(tap.With(t.Context(), lost), 2, 5)).Check(t, seckill.ErrUnavailable,
		"a buyer who hears nothing of Redis")
	sh.mustBuy(t, 3, 5)
	sh.settled(t, 0)
}

// dies makes the process die after it has taken units, just before it writes the order.
func (sh *shop) dies(t *testing.T, p seckill.Purchase) {
	t.Helper()
	labtest.Value(sh.Deduct(taptest.Before(t.Context(), "BEGIN", sh.in.Dialer.Kill), p)).Fails(t, "",
		"the order of a process that died")
}

// The id of a request belongs to a user, not to a SKU. An order of another SKU does not settle
// the request that is open at this one.
func TestOpenRequestBoughtAnotherSKU(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 5)
	elsewhere := open(t, counter.RedisCounterMySQL, 5)
	p := elsewhere.Purchase(1, 2)
	labtest.Value(elsewhere.Deduct(t.Context(), p)).Must(t)
	alive := sh.other(t)
	p.SKU = sh.SKU
	sh.dies(t, p)
	alive.mustBuy(t, 2, 1)
	judged(t, alive.Judge(t, alive.told...), judge.Held)
	alive.later()
	alive.mustBuy(t, 3, 4)
	alive.settled(t, 0)
}

// A buyer who took nothing is not told that the outcome is unknown because a look at
// the purchases of others got no answer.
func TestALookAtOthersGetsNoAnswer(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 1)
	alive := sh.other(t)
	sh.dies(t, sh.Purchase(1, 1))
	sent := 0
	lost := taptest.LoseReplies(t.Context(), func(c *tap.Command) bool {
		sent++
		return c.Backend == tap.Redis && sent > 1
	})
	if _, err := alive.Deduct(lost, alive.Purchase(2, 1)); !seckill.NothingTaken(err) {
		t.Errorf("the next buyer: got %v, want an error that says that nothing was taken", err)
	}
}

// loses imitates a Redis that comes back without its data. The next buyer sets the number again from the row.
func loses(t *testing.T) (sh *shop, before seckill.Receipt) {
	t.Helper()
	sh = open(t, counter.RedisCounterMySQL, 5)
	before = sh.mustBuy(t, 1, 2)
	sh.flush(t)
	// Two processes rebuild the number. The slower one has read the row already, and must not set the number any more.
	late := &taptest.Nth{N: 3, OnBefore: func() { sh.mustBuy(t, 2, 1) }}
	labtest.Value(sh.buy(tap.With(t.Context(), late), 9, 3)).Check(t, seckill.ErrSoldOut,
		"the one who is late wanted 3 of 2")
	sh.settled(t, 2)
	return sh, before
}

func (sh *shop) flush(t *testing.T) {
	t.Helper()
	labtest.Must(t, sh.in.Redis.FlushAll(t.Context()).Err())
}

func (sh *shop) cancels(t *testing.T, ctx context.Context, r seckill.Receipt) {
	t.Helper()
	labtest.Check(t, sh.Restore(ctx, r.OrderID), nil, "cancel")
}

func TestCancelWhatRedisForgot(t *testing.T) {
	sh, before := loses(t)
	other := sh.other(t)
	for range 2 {
		sh.cancels(t, t.Context(), before)
		other.cancels(t, t.Context(), before)
		sh.settled(t, 4)
	}
	anew := seckill.Purchase{SKU: sh.SKU, User: 1, Quantity: 1, RequestID: fmt.Sprint("anew", sh.SKU)}
	labtest.Value(sh.Deduct(t.Context(), anew)).Check(t, nil, "the same buyer may buy again")
	sh.cancels(t, t.Context(), before)
	sh.settled(t, 3)
	sh.mustBuy(t, 3, 3)
	sh.settled(t, 0)
	sh.refused(t, 4, 1, seckill.ErrSoldOut)
}

// A process dies between its COMMIT and Redis. Another one finds the cancellation after a lease,
// and returns the units once.
func TestDeadWhileCancellingWhatRedisForgot(t *testing.T) {
	sh, before := loses(t)
	alive := sh.other(t)
	alive.mustBuy(t, 8, 1)
	dies := taptest.EachAfter(t.Context(), func(c *tap.Command, _ error) {
		if c.Name == "COMMIT" {
			sh.in.Dialer.Kill()
		}
	})
	_ = sh.Restore(dies, before.OrderID)
	alive.refused(t, 9, 3, seckill.ErrBusy) // 1 unit is left, and 2 are about to return
	alive.later()
	alive.mustBuy(t, 9, 3)
	alive.settled(t, 0)
	alive.cancels(t, t.Context(), before)
	alive.settled(t, 0)
}

// The number was rebuilt from a row that already lacked the order's units. A copy of the order's
// request takes no units.
func TestACopyOfWhatRedisForgotTakesNothing(t *testing.T) {
	sh, _ := loses(t)
	for range 2 {
		sh.refused(t, 1, 2, seckill.ErrDuplicate)
		sh.settled(t, 2)
	}
	sh.mustBuy(t, 3, 2)
	sh.settled(t, 0)
}

// seedAgain resets the current run once more, as another strategy or process may do at any later
// time. Keys with a time to live have expired by then.
func (sh *shop) seedAgain(t *testing.T) error {
	t.Helper()
	companions := fmt.Sprintf("{seckill:stock:%d}:*", sh.SKU)
	for _, key := range sh.in.Redis.Keys(t.Context(), companions).Val() {
		if sh.in.Redis.PTTL(t.Context(), key).Val() > 0 {
			sh.in.Redis.Del(t.Context(), key)
		}
	}
	return sh.Strategy.(seckill.Resetter).Reset(t.Context(), sh.SKU, 0)
}

func (sh *shop) numberIs(t *testing.T, want string) {
	t.Helper()
	labtest.Same(t, sh.number(t), want, "the number")
}

// elsewhere returns a shop that sells the same SKU through the same Redis, but from another
// database. Its run has the same number.
func (sh *shop) elsewhere(t *testing.T) *shop {
	t.Helper()
	in := labtest.Open(t, labtest.InOtherDatabase(t, labtest.Config(t, backend.SQL, backend.Redis)))
	d, ahead := deps(in)
	s := &saletest.Sale{Info: sh.Info, SKU: sh.SKU, Stock: 20}
	s.Join(t, d)
	for s.Run < sh.Run {
		s.Run = labtest.Value(s.Store.Schedule(t.Context(), s.SKU, "elsewhere", s.Stock, nil)).Must(t).Run
	}
	return &shop{Sale: s, Strategy: s.Processes[0], in: in, ahead: ahead}
}

func TestAnotherDatabaseTakesOver(t *testing.T) {
	onEach(t, func(t *testing.T, info catalog.Info) {
		sh := open(t, info, 10)
		mine := sh.mustBuy(t, 1, 4)
		o := sh.elsewhere(t)
		labtest.Same(t, o.Run, sh.Run, "the run in the other database")
		o.refused(t, 5, 1, seckill.ErrUnavailable)
		sh.numberIs(t, "6")
		labtest.Must(t, o.seedAgain(t))
		o.mustBuy(t, 1, 5)
		o.numberIs(t, "15")

		// Late commands for the first database neither sell from the second database's number, nor
		// set it, nor return units to it.
		sh.refused(t, 2, 1, seckill.ErrUnavailable)
		labtest.Check(t, sh.seedAgain(t), nil, "seed again")
		labtest.Check(t, sh.Restore(t.Context(), mine.OrderID), nil, "cancel")
		labtest.Value(sh.Strategy.(seckill.Counter).Count(t.Context(), sh.SKU)).Check(t, seckill.ErrUnknownSKU,
			"the count of another database's number")
		o.numberIs(t, "15")
		judged(t, o.Judge(t), judge.Held)

		sh.Reset(t, 3) // the first database sells again
		sh.mustBuy(t, 3, 1)
		sh.numberIs(t, "2")
		o.refused(t, 6, 1, seckill.ErrUnavailable)
	})
}

// A restored database has an older run than Redis, and the error says so.
func TestADatabaseThatWasSetBack(t *testing.T) {
	sh := open(t, counter.RedisCounter, 10)
	sh.Reset(t, 10)
	labtest.Must(t, sh.Store.DB(t.Context()).Exec("UPDATE stock SET run = run - 1 WHERE id = ?", sh.SKU).Error)
	labtest.Check(t, sh.seedAgain(t), seckill.ErrUnavailable, "seed again")
}
