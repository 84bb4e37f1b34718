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
	ahead *atomic.Int64 // of the real clock
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

// other is another process that sells the same.
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
	if _, err := sh.buy(t.Context(), user, quantity); !errors.Is(err, want) {
		t.Errorf("user %d wanted %d and was told %v, want %v", user, quantity, err, want)
	}
}

// reconnect drops the connections to a Redis that has ended meanwhile: who
// sends on one of them gets no answer, and cannot know why. It ends when Redis
// answers, or refuses to be dialled.
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
	var broken []string
	for _, v := range r.Violations {
		broken = append(broken, v.Rule)
	}
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

// Redis comes back empty: nobody sells from a number that is not there. Behind
// the row a new one is made from it. (That one which comes back with an older number
// sells it twice is seen at a failover.)
func TestRedisComesBackEmpty(t *testing.T) {
	onEach(t, func(t *testing.T, info catalog.Info) {
		sh := open(t, info, 10)
		sh.mustBuy(t, 1, 4)
		process, err := labtest.Start(t, backend.Redis).Process(backend.NameRedis)
		labtest.Must(t, err)
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
		if left := sh.in.Redis.DBSize(t.Context()).Val(); left != 0 {
			t.Errorf("a refused purchase left %d keys behind", left)
		}
		judged(t, sh.Judge(t, sh.told...), judge.NotValid, judge.RuleUnknownStore)
		sh.Reset(t, 10)
		sh.mustBuy(t, 2, 10)
	})
}

// The number is too high, as Redis has lost purchases. The row decides, and a refusal
// takes from the number what the row has not, or all that is too much if no one else buys.
func TestRefusalsCorrectTheNumber(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 3)
	labtest.Must(t, sh.in.Redis.IncrBy(t.Context(), fmt.Sprintf("seckill:stock:%d", sh.SKU), 5).Err())
	meanwhile := taptest.Before(t.Context(), "BEGIN", func() { sh.mustBuy(t, 1, 1) })
	if _, err := sh.buy(meanwhile, 2, 4); !errors.Is(err, seckill.ErrSoldOut) {
		t.Errorf("who wanted 4 of 2 was told %v", err)
	}
	sh.numberIs(t, "5") // 7, without the four that were refused, and with two of the row
	sh.refused(t, 3, 4, seckill.ErrSoldOut)
	sh.settled(t, 2)
	sh.mustBuy(t, 6, 2)
	judged(t, sh.Judge(t, sh.told...), judge.Held)
}

// A cancellation that the database has certainly not done leaves nothing open: nobody
// waits for a lease.
func TestARefusedCancellationLeavesNothingOpen(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 2)
	r := sh.mustBuy(t, 1, 2)
	fails := taptest.Tap{OnBefore: func(c *tap.Command) error {
		if c.Name == "COMMIT" {
			return seckill.ErrConflict
		}
		return nil
	}}
	if err := sh.Restore(tap.With(t.Context(), &fails), r.OrderID); !errors.Is(err, seckill.ErrConflict) {
		t.Errorf("the cancellation: %v, want %v", err, seckill.ErrConflict)
	}
	sh.refused(t, 2, 1, seckill.ErrSoldOut)
	sh.settled(t, 0)
}

// A buyer who has not heard that they are let through does not go on: the next one gets
// their units at once.
func TestWhoHearsNothingHoldsNothing(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 6)
	sh.mustBuy(t, 1, 1)
	lost := &taptest.Nth{N: 1, OnAfter: func(error) error { return taptest.ErrLostReply }}
	if _, err := sh.buy(tap.With(t.Context(), lost), 2, 5); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("a buyer who hears nothing of Redis was told %v", err)
	}
	sh.mustBuy(t, 3, 5)
	sh.settled(t, 0)
}

// dies has the process die when it has taken units and is about to write the order.
func (sh *shop) dies(t *testing.T, p seckill.Purchase) {
	t.Helper()
	if _, err := sh.Deduct(taptest.Before(t.Context(), "BEGIN", sh.in.Kill), p); err == nil {
		t.Error("a process that died has written its order")
	}
}

// The id of a request belongs to a user, not to a SKU. An order of another SKU does not settle
// the request that is open at this one.
func TestOpenRequestBoughtAnotherSKU(t *testing.T) {
	sh := open(t, counter.RedisCounterMySQL, 5)
	elsewhere := open(t, counter.RedisCounterMySQL, 5)
	p := elsewhere.Purchase(1, 2)
	if _, err := elsewhere.Deduct(t.Context(), p); err != nil {
		t.Fatal(err)
	}
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
	lost := &taptest.Tap{OnAfter: func(c *tap.Command, err error) error {
		if sent++; c.Backend == tap.Redis && sent > 1 {
			return taptest.ErrLostReply
		}
		return err
	}}
	if _, err := alive.Deduct(tap.With(t.Context(), lost), alive.Purchase(2, 1)); !seckill.NothingTaken(err) {
		t.Errorf("the next buyer: got %v, want an error that says that nothing was taken", err)
	}
}
