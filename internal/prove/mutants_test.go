package prove_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/httpapi"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/prove"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/strategies/counter"
	"seckill/strategies/etcdlock"
	"seckill/strategies/hotsku"
	"seckill/strategies/local"
	"seckill/strategies/mysqllock"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
	"seckill/strategies/zklock"
)

// Which question must catch which mutant: a correct strategy with one guard
// removed. The question that finds the original sound must break it: what it asks
// can fail.
func TestQuestionsCatchMutants(t *testing.T) {
	renewing := withLock(redislock.RedisRenew, func(d catalog.Deps) lock.Locker { return &renewed{redis: d.Redis} })
	fenced := func(i catalog.Info, f looseFence) catalog.Info {
		return guarded(i, func(g *lock.Guarded) seckill.Strategy {
			f.Guarded = g
			return &f
		})
	}
	again := locker(redislock.RedisFenced, func(l lock.Locker, _ *backend.Instance) lock.Locker { return repeating{l} })
	turns := withLock(redislock.RedisRegistry, perTurn)
	again.Name, renewing.Name, turns.Name = "redis-fenced-again", "renewing", "turns"
	const early, always, forAll = "unlocks before its COMMIT", "takes a busy lock for its own", "names the lock after the buyer"
	const blind = "deletes the key, whoever holds it"
	mutants := []struct {
		question string
		original catalog.Info
		mutant   catalog.Info
		guard    string // that is missing
		// schedules of a search in make test, enough to catch it; 0: only in make verify.
		schedules int
		service   explore.Service
	}{
		{"lost-update", sqlrow.Conditional, restoring(func(context.Context, *ledger.Store, string) error { return nil }), "Restore does nothing", 8, nil},
		{"cancel", sqlrow.Conditional, restoring(givesBackAgain), "Restore does not ask whether it was done before", 8, nil},
		{"reset", sqlrow.Conditional, restoring(givesToAnyRun), "Restore does not ask which sale the order is of", 0, nil},
		{"sold-out", hotsku.UnitRows, hotsku.UnitRowsHasty, "who finds the rest held does not wait", 0, nil},
		{"leaves", hotsku.RedisStream, hotsku.RedisStreamTwoCalls, "units are taken, and the purchase is not written down", 8, nil},
		{"cancel", hotsku.Reserve, hotsku.ReserveLate, "a reservation expires by what was read", 0, nil},
		{"owner", turns, withLock(redislock.RedisRegistry, perProcess), "the lock's value is the process's", 25, nil},
		{"renewal", renewing, withLock(renewing, func(d catalog.Deps) lock.Locker { return &renewed{redis: d.Redis, blind: true} }), "the renewer does not ask whose the lock is", 0, nil},
		{"renewal", renewing, withLock(renewing, func(d catalog.Deps) lock.Locker { return &renewed{redis: d.Redis, deaf: true} }), "the renewer outlives the release", 0, nil},
		{"renewal", renewing, withLock(renewing, func(d catalog.Deps) lock.Locker { return &renewed{redis: d.Redis, tidy: true} }), "the renewer deletes the key when it fails", 0, nil},
		{"renewal", redislock.RedisWatchdog, rewritten(redislock.RedisWatchdog, "watchdog_renew.lua", "redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1", "true"),
			"the watchdog does not ask whose the lock is", 60, nil},
		{"same-key", sqlrow.Conditional, sqlrow.Conditional, "the service does not read the key", 8, keyless},
		{"same-key", sqlrow.Conditional, sqlrow.Conditional, "a claim of another process does not count", 8, alone},
		{"same-key", sqlrow.Conditional, strategy(sqlrow.Conditional, func(s seckill.Strategy, l *ledger.Store) seckill.Strategy { return &swallows{s, l} }), "a second order of the user is told sold, and not written", 8, nil},
		{"two-faults", sqlrow.Conditional, strategy(sqlrow.Conditional, func(s seckill.Strategy, l *ledger.Store) seckill.Strategy { return &insistent{s, l} }), "sells again when it cannot ask what became of the first try", 0, nil},

		{"lost-update", sqlrow.Conditional, strategy(sqlrow.Conditional, func(s seckill.Strategy, l *ledger.Store) seckill.Strategy { return &careless{s, l} }), "does not look at the affected rows", 8, nil},
		{"lost-update", sqlrow.ForUpdate, strategy(sqlrow.ForUpdate, func(s seckill.Strategy, l *ledger.Store) seckill.Strategy { return &snapshot{s, l} }), "reads before it locks", 8, nil},
		{"lost-update", counter.RedisMulti, unwatching(), "does not WATCH", 8, nil},
		{"cancel", hotsku.Reserve, latePayer(), "pays after the deadline", 8, nil},
		{"owner", redislock.RedisLua, locker(redislock.RedisLua, byDelete), blind, 25, nil},
		{"owner", redislock.RedisWatchdog, locker(redislock.RedisWatchdog, byDelete), blind, 0, nil},
		{"owner", redislock.Redsync, locker(redislock.Redsync, byDelete), blind, 0, nil},
		{"lease-end", redislock.RedisFenced, fenced(redislock.RedisFenced, looseFence{unchecked: true}), "does not check the fence when it writes", 8, nil},
		{"lease-end", redislock.RedisFenced, fenced(redislock.RedisFenced, looseFence{afterRead: true}), "raises the fence after its read", 0, nil},
		{"lease-end", again, fenced(again, looseFence{equal: true}), "raises the fence to the token that it has", 8, nil},
		{"lost-update", redislock.Redsync, guarded(redislock.Redsync, tooEarly), early, 8, nil},
		{"lost-update", redislock.RedisWatchdog, guarded(redislock.RedisWatchdog, tooEarly), early, 0, nil},
		{"lost-update", zklock.ZK, guarded(zklock.ZK, tooEarly), early, 0, nil},
		{"lost-update", etcdlock.Etcd, guarded(etcdlock.Etcd, tooEarly), early, 0, nil},
		{"lost-update", mysqllock.GetLock, guarded(mysqllock.GetLock, tooEarly), early, 0, nil},
		{"lost-update", local.MutexPerSKU, guarded(local.MutexPerSKU, byBuyer), forAll, 8, nil},
		{"lost-update", redislock.RedisLua, guarded(redislock.RedisLua, byBuyer), forAll, 0, nil},
		{"lost-update", mysqllock.GetLock, guarded(mysqllock.GetLock, byBuyer), forAll, 0, nil},
		{"lost-update", redislock.RedisBLPOP, locker(redislock.RedisBLPOP, deaf), always, 0, nil},
		{"lost-update", mysqllock.LockRow, locker(mysqllock.LockRow, deaf), always, 8, nil},
		{"lost-update", zklock.ZK, locker(zklock.ZK, deaf), always, 0, nil},
	}
	sound := published(t)
	for _, m := range mutants {
		schedules := m.schedules
		switch {
		case labtest.Verify && m.question == "two-faults":
			schedules = 800 // a sample of pairs
		case labtest.Verify:
			schedules = 60
		case schedules == 0:
			continue
		}
		t.Run(m.question+": "+m.original.Name+" "+m.guard, func(t *testing.T) {
			if asked := m.original.Name + " " + m.question; !sound[asked] {
				if c := askOne(t, m.question, m.original, service, schedules); c.Answer != prove.Holds {
					t.Fatalf("the original: %s", c.Summary())
				}
				sound[asked] = true
			}
			asked := service
			if m.service != nil {
				asked = m.service
			}
			if c := askOne(t, m.question, m.mutant, asked, schedules); c.Answer != prove.Breaks {
				t.Errorf("the mutant passes: %s", c.Summary())
			} else {
				t.Log(c.Summary())
			}
		})
	}
}

// published are the questions that the strategies hold by the matrix in the
// program. make verify asks them again: none.
func published(t *testing.T) map[string]bool {
	holds := map[string]bool{}
	if labtest.Verify {
		return holds
	}
	f, err := os.Open("../../web/guarantees/matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := prove.ReadMatrix(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range m.Rows {
		for question, c := range r.Cells {
			holds[r.Strategy+" "+question] = c.Answer == prove.Holds
		}
	}
	return holds
}

func askOne(t *testing.T, question string, info catalog.Info, s explore.Service, schedules int) prove.Cell {
	t.Helper()
	l := labtest.Start(t, append([]backend.Capability{backend.SQL, backend.Redis}, info.Uses()...)...)
	m, err := prove.Run(t.Context(), prove.Options{Infos: []catalog.Info{info}, Questions: []string{question}, Workers: 1, Seed: 1, Schedules: schedules,
		Budget: 20 * time.Second, Service: s, Servers: func(context.Context) (prove.Servers, error) { return servers{l}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return m.Rows[0].Cells[question]
}

func service(in *backend.Instance, info catalog.Info, settings catalog.Settings) (http.Handler, func() error, error) {
	s, err := httpapi.New(httpapi.Config{Instance: in, Infos: []catalog.Info{info}, Default: info.Name, Settings: settings, PurchaseTimeout: time.Minute})
	if err != nil {
		return nil, nil, err
	}
	return s.Handler(), func() error { return nil }, nil
}

// keyless loses the Idempotency-Key on the way.
func keyless(in *backend.Instance, info catalog.Info, settings catalog.Settings) (http.Handler, func() error, error) {
	h, end, err := service(in, info, settings)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Idempotency-Key")
		h.ServeHTTP(w, r)
	}), end, err
}

// alone claims keys within its process only.
func alone(in *backend.Instance, info catalog.Info, settings catalog.Settings) (http.Handler, func() error, error) {
	keys := in.KeyDB
	in.KeyDB = nil
	defer func() { in.KeyDB = keys }()
	return service(in, info, settings)
}

// restoring is conditional with another Restore.
func restoring(restore func(context.Context, *ledger.Store, string) error) catalog.Info {
	i := sqlrow.Conditional
	build := i.New
	i.New = func(d catalog.Deps) (seckill.Strategy, error) {
		inner, err := build(d)
		return &restorer{inner, d.Ledger, restore}, err
	}
	return i
}

type restorer struct {
	seckill.Strategy
	store   *ledger.Store
	restore func(context.Context, *ledger.Store, string) error
}

func (s *restorer) Restore(ctx context.Context, orderID string) error {
	return s.restore(ctx, s.store, orderID)
}

func givesBackAgain(ctx context.Context, store *ledger.Store, orderID string) error {
	return store.Tx(ctx, func(tx *gorm.DB) error {
		o, _, err := store.Cancel(tx, orderID)
		if err != nil {
			return err
		}
		return tx.Exec("UPDATE stock SET num = num + ? WHERE id = ? AND run = ?", o.Quantity, o.SKUID, o.Run).Error
	})
}

func givesToAnyRun(ctx context.Context, store *ledger.Store, orderID string) error {
	return store.Tx(ctx, func(tx *gorm.DB) error {
		o, back, err := store.Cancel(tx, orderID)
		if err != nil || !back {
			return err
		}
		return tx.Exec("UPDATE stock SET num = num + ? WHERE id = ?", o.Quantity, o.SKUID).Error
	})
}

// swallows takes the units, and does not mind that the order is refused.
type swallows struct {
	seckill.Strategy
	store *ledger.Store
}

func (s *swallows) Deduct(ctx context.Context, p seckill.Purchase) (r seckill.Receipt, err error) {
	if r, err = s.Strategy.Deduct(ctx, p); !errors.Is(err, seckill.ErrDuplicate) {
		return r, err
	}
	_, err = s.store.Write(ctx, "UPDATE stock SET num = num - ? WHERE id = ?", p.Quantity, p.SKU)
	return seckill.Receipt{OrderID: "none", SKU: p.SKU, Quantity: p.Quantity}, err
}

// insistent looks up what became of an unknown purchase, and buys again when it
// gets no answer to that either.
type insistent struct {
	seckill.Strategy
	store *ledger.Store
}

func (s *insistent) Deduct(ctx context.Context, p seckill.Purchase) (seckill.Receipt, error) {
	r, err := s.Strategy.Deduct(ctx, p)
	if err == nil || seckill.NothingTaken(err) {
		return r, err
	}
	o, lost := s.store.Requested(ctx, p.SKU, p.User, p.RequestID)
	switch {
	case lost == nil:
		return o.Receipt(), nil
	case errors.Is(lost, seckill.ErrUnknownOrder):
		return r, err
	}
	p.RequestID, p.User = p.RequestID+"-again", p.User+50
	return s.Strategy.Deduct(ctx, p)
}

func withLock(i catalog.Info, build func(catalog.Deps) lock.Locker) catalog.Info {
	i.Locker = func(d catalog.Deps) (lock.Locker, error) { return build(d), nil }
	return i
}

// rewritten is a shipped lock that sends Redis another script in place of one
// of its own.
func rewritten(i catalog.Info, file, was, is string) catalog.Info {
	build := i.Locker
	i.Locker = func(d catalog.Deps) (lock.Locker, error) {
		source, err := i.Files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		other := strings.Replace(string(source), was, is, 1)
		if other == string(source) {
			return nil, fmt.Errorf("%s has no %q", file, was)
		}
		d.Redis.AddHook(rewriter{redis.NewScript(string(source)).Hash(), other})
		return build(d)
	}
	return i
}

// A rewriter sends other in place of the script with this hash.
type rewriter struct{ hash, other string }

func (rewriter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h rewriter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, c redis.Cmder) error {
		if args := c.Args(); args[0] == "evalsha" && args[1] == h.hash {
			args[0], args[1] = "eval", h.other
		}
		return next(ctx, c)
	}
}

func (rewriter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// renewed is a lock with a renewer in few lines, and three ways to get it wrong.
type renewed struct {
	redis             redis.UniversalClient
	blind, deaf, tidy bool
}

var (
	extend = redis.NewScript(`return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], 60000) or 0`)
	free   = redis.NewScript(`return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`)
)

func (l *renewed) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	token := rand.Text()
	err := lock.Poll(ctx, o.Wait, lock.Every(time.Millisecond), func() (bool, error) {
		return l.redis.SetNX(ctx, key, token, time.Minute).Result()
	})
	if err != nil {
		return nil, lock.Unavailable(ctx, err)
	}
	renew := func(ctx context.Context) (bool, error) {
		if l.blind || l.deaf {
			return true, l.redis.Set(ctx, key, token, time.Minute).Err()
		}
		n, err := extend.Run(ctx, l.redis, []string{key}, token).Int()
		if err != nil && l.tidy {
			_ = l.redis.Del(ctx, key).Err()
		}
		return n == 1, err
	}
	hold := lock.NewHold(ctx, 0, func(ctx context.Context) error {
		n, err := free.Run(ctx, l.redis, []string{key}, token).Int()
		if err == nil && n == 0 {
			err = lock.ErrNotHeld
		}
		return err
	})
	if l.deaf {
		background, helper := tap.Background(context.WithoutCancel(ctx))
		go func() {
			defer helper.Over()
			for tap.Sleep(background, 20*time.Second) == nil {
				_, _ = renew(background)
			}
		}()
		return hold, nil
	}
	hold.Renew(20*time.Second, 0, renew)
	return hold, nil
}

// perTurn's value in Redis is one holder's; perProcess's is the process's, as a
// registry of locks may have it.
func perTurn(d catalog.Deps) lock.Locker    { return &registered{redis: d.Redis} }
func perProcess(d catalog.Deps) lock.Locker { return &registered{redis: d.Redis, client: rand.Text()} }

type registered struct {
	redis  redis.UniversalClient
	client string
	local  lock.Gate[struct{}]
}

var take = redis.NewScript(`if redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end
return redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', 60000) and 1 or 0`)

func (l *registered) Acquire(ctx context.Context, key string, o lock.Options) (lock.Lease, error) {
	room, err := l.local.Enter(ctx, key, o.Wait)
	if err != nil {
		return nil, err
	}
	token := l.client
	if token == "" {
		token = rand.Text()
	}
	err = lock.Poll(ctx, o.Wait, lock.Every(time.Millisecond), func() (bool, error) {
		n, err := take.Run(ctx, l.redis, []string{key}, token).Int64()
		return n == 1, err
	})
	if err != nil {
		room.Leave()
		return nil, err
	}
	return lock.NewHold(ctx, 0, func(ctx context.Context) error {
		defer room.Leave()
		n, err := free.Run(ctx, l.redis, []string{key}, token).Int()
		if err == nil && n == 0 {
			err = lock.ErrNotHeld
		}
		return err
	}), nil
}
