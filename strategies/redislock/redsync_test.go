package redislock

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/backend/backendtest"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/ledger"
	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func TestInfoSaysEverything(t *testing.T) {
	for _, i := range []catalog.Info{Redsync} {
		if i.Name == "" || i.Title == "" || i.Family != "redislock" || i.Source == "" || i.Idea == "" ||
			i.Promises == "" || i.Breaks == "" || len(i.Guarantees) == 0 || len(i.Needs) == 0 ||
			i.Stock != ledger.HomeRow || len(i.Options) == 0 || i.Locker == nil || i.Key == nil {
			t.Errorf("%s is not described completely: %+v", i.Name, i)
		}
		source, err := i.Files.ReadFile(strings.ReplaceAll(i.Name, "-", "_") + ".go")
		if err != nil || !strings.Contains(string(source), "package redislock") {
			t.Errorf("%s does not show its source: %v", i.Name, err)
		}
		for n, line := range strings.Split(string(source), "\n") {
			if len(strings.ReplaceAll(line, "\t", "    ")) > 80 {
				t.Errorf("%s, line %d, is too wide for the page: %s", i.Name, n+1, line)
			}
		}
	}
	if got := Redsync.Key(7); got != "seckill:lock:stock:7" {
		t.Errorf("SKU 7 is locked by %q", got)
	}
}

// A bench is a lock on an instance, and the Redis behind it.
type bench struct {
	lock.Locker
	redis redis.UniversalClient
	in    *backend.Instance
	key   string
}

func newBench(t *testing.T, ttl time.Duration) *bench {
	t.Helper()
	return benchOn(t, labtest.Instance(t, backend.Redis), ttl)
}

func benchOn(t *testing.T, in *backend.Instance, ttl time.Duration) *bench {
	t.Helper()
	l, err := Redsync.Locker(catalog.Deps{Instance: in, Settings: catalog.Settings{LockLease: ttl}})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{l, in.Redis, in, "test:" + t.Name()}
	if err := in.Redis.Del(t.Context(), b.key).Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) acquire(t *testing.T, o lock.Options) lock.Lease {
	t.Helper()
	l, err := b.Acquire(t.Context(), b.key, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (b *bench) value(t *testing.T) string {
	t.Helper()
	v, err := b.redis.Get(context.Background(), b.key).Result()
	if err != nil && err != redis.Nil {
		t.Fatal(err)
	}
	return v
}

func release(t *testing.T, l lock.Lease) {
	t.Helper()
	if err := l.Release(context.Background()); err != nil {
		t.Errorf("release: %v", err)
	}
}

func ended(t *testing.T, l lock.Lease) error {
	t.Helper()
	select {
	case <-l.Context().Done():
		return context.Cause(l.Context())
	case <-time.After(time.Minute):
		t.Fatal("nobody told the holder")
		return nil
	}
}

const long = time.Minute

// A meddler does something before and after chosen commands.
type meddler struct {
	before, after func(c *tap.Command) error
	seen          atomic.Int64
}

func (m *meddler) Before(_ context.Context, c *tap.Command) error {
	if m.before != nil {
		return m.before(c)
	}
	return nil
}

func (m *meddler) After(_ context.Context, c *tap.Command, err error) error {
	m.seen.Add(1)
	if m.after != nil {
		if meant := m.after(c); meant != nil {
			return meant
		}
	}
	return err
}

var errLostReply = errors.New("the reply was lost")

func TestOneHolderAtATime(t *testing.T) {
	benches := []*bench{newBench(t, long), newBench(t, long)}
	var inside atomic.Int32
	var count int // guarded by the lock alone: the race detector looks on
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			b := benches[i%2]
			for range 5 {
				l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: -1, Lease: long})
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				count++
				runtime.Gosched()
				inside.Add(-1)
				release(t, l)
			}
		})
	}
	all.Wait()
	if count != 80 {
		t.Errorf("counted to %d, want 80", count)
	}
}

func TestWaitHasALimit(t *testing.T) {
	b := newBench(t, long)
	holder := b.acquire(t, lock.Options{Lease: long})
	before := b.value(t)
	for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
		begin := time.Now()
		_, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: wait, Lease: long})
		if took := time.Since(begin); !errors.Is(err, seckill.ErrBusy) || took < wait {
			t.Errorf("waiting %v gave %v after %v, want busy", wait, err, took)
		}
	}
	if after := b.value(t); after != before || after == "" {
		t.Errorf("the key had %q, has %q", before, after)
	}
	release(t, holder)
	if left := b.value(t); left != "" {
		t.Errorf("the key has %q after the release", left)
	}
}

func TestBuyerLeavesWhileHeWaits(t *testing.T) {
	b := newBench(t, long)
	holder := b.acquire(t, lock.Options{Lease: long})
	ctx, leave := context.WithCancel(t.Context())
	m := &meddler{before: func(c *tap.Command) error {
		if c.Backend == tap.Waiting {
			leave()
		}
		return nil
	}}
	if _, err := b.Acquire(tap.With(ctx, m), b.key, lock.Options{Wait: -1, Lease: long}); !errors.Is(err, context.Canceled) {
		t.Errorf("a buyer who left was told %v", err)
	}
	release(t, holder)
	if left := b.value(t); left != "" {
		t.Errorf("the key has %q", left)
	}
}

func TestNothingIsLeftWhenTheReplyIsLost(t *testing.T) {
	b := newBench(t, long)
	for name, leaves := range map[string]bool{"reply lost": false, "buyer left": true} {
		t.Run(name, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			took := ""
			m := &meddler{after: func(c *tap.Command) error {
				if c.Name != "SET" {
					return nil
				}
				took = b.value(t)
				if leaves {
					leave()
				}
				return errLostReply
			}}
			_, err := b.Acquire(tap.With(ctx, m), b.key, lock.Options{Wait: -1, Lease: long})
			want := seckill.ErrUnavailable
			if leaves {
				want = context.Canceled
			}
			if !errors.Is(err, want) {
				t.Errorf("it said %v, want %v", err, want)
			}
			if left := b.value(t); took == "" || left != "" {
				t.Errorf("the lock was taken as %q, and %q is left", took, left)
			}
		})
	}
}

func TestLeaseEnds(t *testing.T) {
	b := newBench(t, long)
	first := b.acquire(t, lock.Options{Lease: 200 * time.Millisecond})
	mine := b.value(t)
	if err := ended(t, first); !errors.Is(err, lock.ErrLost) {
		t.Errorf("the lease ended with %v", err)
	}
	if now := b.value(t); now != "" && now != mine {
		t.Errorf("the holder was told after his successor %q got in", now)
	}
	second := b.acquire(t, lock.Options{Wait: -1, Lease: long})
	if err := first.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing what is lost gave %v", err)
	}
	if b.value(t) == "" {
		t.Error("the late release freed the successor's lock")
	}
	release(t, second)
	if err := second.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing twice gave %v", err)
	}
	if err := context.Cause(second.Context()); err == nil || errors.Is(err, lock.ErrLost) {
		t.Errorf("a lease that was given back ended with %v", err)
	}
}

func TestRenewal(t *testing.T) {
	b := newBench(t, 900*time.Millisecond)
	before := goroutines()
	extended := make(chan struct{}, 100)
	m := &meddler{after: func(c *tap.Command) error {
		if c.Backend == tap.Redis && strings.HasPrefix(c.Name, "EVAL") {
			extended <- struct{}{}
		}
		return nil
	}}
	ctx, leave := context.WithCancel(tap.With(t.Context(), m))
	l, err := b.Acquire(ctx, b.key, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	leave() // the buyer has gone, his COMMIT may be on its way
	for range 4 {
		<-extended
	}
	if b.value(t) == "" {
		t.Error("a lock that is renewed is gone")
	}
	release(t, l)
	if left := b.value(t); left != "" {
		t.Errorf("the key has %q after the release", left)
	}

	l = b.acquire(t, lock.Options{})
	if err := b.redis.Del(t.Context(), b.key).Err(); err != nil {
		t.Fatal(err)
	}
	if err := ended(t, l); !errors.Is(err, lock.ErrLost) {
		t.Errorf("the renewer found the key gone and said %v", err)
	}
	if b.value(t) != "" {
		t.Error("the renewer set a key that was gone")
	}
	if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing what is lost gave %v", err)
	}
	soon(t, "no goroutine is left", func() bool { return goroutines() <= before })
}

// A renewal that fails once is tried again; one that fails for a whole lease
// loses the lock, by the holder's own clock.
func TestRenewalFails(t *testing.T) {
	b := newBench(t, 1500*time.Millisecond)
	var failing atomic.Int32
	failing.Store(1)
	asked := make(chan error, 100)
	m := &meddler{before: func(c *tap.Command) error {
		var err error
		if strings.HasPrefix(c.Name, "EVAL") {
			if failing.Add(-1) >= 0 {
				err = errLostReply
			}
			asked <- err
		}
		return err
	}}
	l, err := b.Acquire(tap.With(t.Context(), m), b.key, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if first, second, third := <-asked, <-asked, <-asked; first == nil || second != nil || third != nil {
		t.Errorf("renewals: %v, %v, %v", first, second, third)
	}
	if err := l.Context().Err(); err != nil {
		t.Errorf("one failed renewal ended the lease: %v", context.Cause(l.Context()))
	}
	failing.Store(1 << 20)
	if err := ended(t, l); !errors.Is(err, lock.ErrLost) {
		t.Errorf("a lease that cannot be renewed ended with %v", err)
	}
	failing.Store(0)
	_ = l.Release(t.Context())
}

func TestAnotherTypeOfKeyIsSomebodysLock(t *testing.T) {
	b := newBench(t, long)
	if err := b.redis.LPush(t.Context(), b.key, "waiter").Err(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), b.key, lock.Options{Lease: long}); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("a list under the lock's name gave %v, want busy", err)
	}
	if n, err := b.redis.LLen(t.Context(), b.key).Result(); n != 1 || err != nil {
		t.Errorf("the list has %d elements, %v", n, err)
	}
	b.redis.Del(t.Context(), b.key)
	l := b.acquire(t, lock.Options{Lease: long})
	b.redis.Del(t.Context(), b.key)
	b.redis.LPush(t.Context(), b.key, "waiter")
	if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing what became somebody else's gave %v", err)
	}
	b.redis.Del(t.Context(), b.key)
}

func TestHolderDies(t *testing.T) {
	dead, alive := newBench(t, long), newBench(t, long)
	l := dead.acquire(t, lock.Options{Lease: 300 * time.Millisecond})
	dead.in.Kill()
	if err := l.Release(t.Context()); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("the dead released and got %v", err)
	}
	if _, err := dead.Acquire(t.Context(), dead.key, lock.Options{}); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("the dead acquired and got %v", err)
	}
	release(t, alive.acquire(t, lock.Options{Wait: long, Lease: long}))
}

func TestRedisGoesAndComesBack(t *testing.T) {
	wire, address := backendtest.NewRedisWire(t, labtest.Instance(t, backend.Redis).Config.RedisAddrs[0])
	in, err := backend.Open(t.Context(), backend.Config{RedisAddrs: []string{address}})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	b := benchOn(t, in, long)
	wire.Cut()
	if _, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: -1, Lease: long}); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("without Redis: %v, want unavailable", err)
	}
	wire.Freeze()
	begin := time.Now()
	if _, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: -1, Lease: 2 * time.Second}); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("with a Redis that hangs: %v, want unavailable", err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("it took %v to say so", took)
	}
	wire.Pass()
	soon(t, "the lock is there again", func() bool { // a late SET lives for its lease
		l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: long, Lease: long})
		if err != nil {
			return false
		}
		return l.Release(t.Context()) == nil
	})
}

// A Redis that comes back without its data has forgotten the lock: two hold it.
func TestRedisForgets(t *testing.T) {
	b := newBench(t, long)
	first := b.acquire(t, lock.Options{Lease: long})
	process, err := labtest.Start(t, backend.Redis).Process(backend.NameRedis)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	var second lock.Lease
	soon(t, "the lock is there again", func() bool {
		second, err = b.Acquire(t.Context(), b.key, lock.Options{Lease: long})
		return err == nil
	})
	if err := first.Context().Err(); err != nil {
		t.Errorf("the first holder's lease ended with %v: how did he know?", err)
	}
	if err := first.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing what Redis forgot gave %v", err)
	}
	release(t, second)
}

func TestCommands(t *testing.T) {
	b := newBench(t, long)
	release(t, b.acquire(t, lock.Options{Lease: long})) // loads the script
	n := &tap.Counter{}
	ctx := tap.With(t.Context(), n)
	l, err := b.Acquire(ctx, b.key, lock.Options{Lease: long})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Count(tap.Redis); got != 1 {
		t.Errorf("taking a free lock cost %d commands, want 1", got)
	}
	if err := l.Release(ctx); err != nil {
		t.Error(err)
	}
	if got := n.Count(tap.Redis); got != 2 || n.Count(tap.Waiting) != 0 {
		t.Errorf("with its release it cost %d commands and %d waits, want 2 and 0", got, n.Count(tap.Waiting))
	}
	if l.Fence() != 0 {
		t.Errorf("it has a fence: %d", l.Fence())
	}
}

func goroutines() (n int) {
	all := make([]byte, 1<<20)
	for one := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(one, "redislock.(*redsync") {
			n++
		}
	}
	return n
}

func soon(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting after a minute: %s", what)
		}
	}
}

// BenchmarkRedsync takes and frees a lock that nobody else wants, and one that
// eight workers hold for 5 ms each (200 a second would be perfect).
func BenchmarkRedsync(b *testing.B) {
	in := labtest.Instance(b, backend.Redis)
	l, _ := Redsync.Locker(catalog.Deps{Instance: in})
	for name, c := range map[string]struct {
		workers int
		hold    time.Duration
	}{"free": {1, 0}, "contended": {8, 5 * time.Millisecond}} {
		b.Run(name, func(b *testing.B) {
			var all sync.WaitGroup
			var next atomic.Int64
			most, least := int64(0), int64(1<<60)
			var mu sync.Mutex
			n := &tap.Counter{}
			ctx := tap.With(b.Context(), n)
			for range c.workers {
				all.Go(func() {
					mine := int64(0)
					for next.Add(1) <= int64(b.N) {
						lease, err := l.Acquire(ctx, "test:bench", lock.Options{Wait: -1, Lease: long})
						if err != nil {
							b.Error(err)
							return
						}
						time.Sleep(c.hold)
						if err := lease.Release(ctx); err != nil {
							b.Error(err)
						}
						mine++
					}
					mu.Lock()
					most, least = max(most, mine), min(least, mine)
					mu.Unlock()
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "locks/s")
			b.ReportMetric(float64(n.Count(tap.Redis))/float64(b.N), "commands/lock")
			b.ReportMetric(float64(most), "most")
			b.ReportMetric(float64(least), "least")
		})
	}
}
