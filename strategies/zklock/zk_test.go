package zklock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

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
	for _, i := range []catalog.Info{ZK, ZKNoRecheck, ZKHerd, ZKNode} {
		if i.Name == "" || i.Title == "" || i.Family != "zklock" || i.Source == "" || i.Idea == "" ||
			i.Promises == "" || i.Breaks == "" || len(i.Guarantees) == 0 || len(i.Needs) == 0 ||
			i.Stock != ledger.HomeRow || len(i.Options) == 0 || i.Locker == nil || i.Key == nil {
			t.Errorf("%s is not described completely: %+v", i.Name, i)
		}
		source, err := i.Files.ReadFile(strings.ReplaceAll(i.Name, "-", "_") + ".go")
		if err != nil || !strings.Contains(string(source), "package zklock") {
			t.Errorf("%s does not show its source: %v", i.Name, err)
		}
		for n, line := range strings.Split(string(source), "\n") {
			if len(strings.ReplaceAll(line, "\t", "    ")) > 80 {
				t.Errorf("%s, line %d, is too wide for the page: %s", i.Name, n+1, line)
			}
		}
	}
	if got := ZK.Key(7); got != "/seckill/locks/stock-7" {
		t.Errorf("SKU 7 is locked by %q", got)
	}
}

func TestPredecessor(t *testing.T) {
	const max = "lock-2147483647"
	for name, c := range map[string]struct {
		own   string
		names []string
		ahead string
		here  bool
	}{
		"alone":              {"lock-0000000000", []string{"lock-0000000000"}, "", true},
		"first":              {"lock-0000000003", []string{"lock-0000000004", "lock-0000000003"}, "", true},
		"the nearest":        {"lock-0000000007", []string{"lock-0000000002", "lock-0000000006", "lock-0000000007", "lock-0000000008"}, "lock-0000000006", true},
		"not in the list":    {"lock-0000000007", []string{"lock-0000000008"}, "", false},
		"any prefix":         {"_c_ffff-lock-0000000009", []string{"_c_ffff-lock-0000000009", "x-99-0000000008", "a__lock__0000000001"}, "x-99-0000000008", true},
		"prefix with digits": {"lock-0000000009", []string{"lock-0000000009", "n1230000000008"}, "n1230000000008", true},
		"strangers":          {"lock-0000000009", []string{"config", "lock-0000000009", "v1", "x-99999999999"}, "", true},
		"counter overflows":  {"lock--2147483648", []string{"lock--2147483648", max, "lock--2147483647"}, max, true},
		"before it":          {max, []string{max, "lock--2147483648"}, "", true},
		"below zero":         {"lock--000000001", []string{"lock--000000002", "lock--000000001", "lock-0000000000"}, "lock--000000002", true},
		"long below zero":    {"lock--1234567890", []string{"lock--1234567891", "lock--1234567890"}, "lock--1234567891", true},
	} {
		t.Run(name, func(t *testing.T) {
			if ahead, here := predecessor(c.names, c.own); ahead != c.ahead || here != c.here {
				t.Errorf("ahead of %s in %q is %q, %v, want %q, %v", c.own, c.names, ahead, here, c.ahead, c.here)
			}
		})
	}
}

// A bench is a lock on an instance, and the ZooKeeper behind it.
type bench struct {
	lock.Locker
	zk  *backend.ZooKeeperClient
	in  *backend.Instance
	key string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return benchOn(t, labtest.Instance(t, backend.ZooKeeper))
}

func benchOn(t *testing.T, in *backend.Instance) *bench {
	t.Helper()
	l, err := ZK.Locker(catalog.Deps{Instance: in})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{l, in.ZooKeeper, in, "/test/locks/" + strings.ReplaceAll(t.Name(), "/", "-")}
	return b
}

// session opens an instance with a session of its own, as short as the server
// allows or as long, reached through a wire.
func shortLived(t *testing.T) (*bench, *backendtest.Wire) { return wired(t, 100*time.Millisecond) }
func longLived(t *testing.T) (*bench, *backendtest.Wire)  { return wired(t, time.Minute) }

func wired(t *testing.T, session time.Duration) (*bench, *backendtest.Wire) {
	t.Helper()
	w := backendtest.NewWire(t, labtest.Instance(t, backend.ZooKeeper).Config.ZooKeeperAddrs[0])
	in, err := backend.Open(t.Context(), backend.Config{ZooKeeperAddrs: []string{w.Addr}, ZooKeeperSession: session})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	})
	return benchOn(t, in), w
}

func (b *bench) acquire(t *testing.T, wait time.Duration) lock.Lease {
	t.Helper()
	l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// queue lists who is there.
func (b *bench) queue(t *testing.T) []string {
	t.Helper()
	names, _, err := b.zk.Children(context.Background(), b.key)
	if err != nil && !errors.Is(err, zk.ErrNoNode) {
		t.Fatal(err)
	}
	return names
}

func (b *bench) queued(t *testing.T, n int) {
	t.Helper()
	soon(t, fmt.Sprintf("%d nodes in the queue", n), func() bool { return len(b.queue(t)) == n })
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

func soon(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !f(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still waiting after a minute: %s", what)
		}
	}
}

const long = time.Minute

// A meddler does something before and after chosen commands.
type meddler struct {
	before func(c *tap.Command) error
	after  func(c *tap.Command, err error) error
}

func (m *meddler) Before(_ context.Context, c *tap.Command) error {
	if m.before != nil {
		return m.before(c)
	}
	return nil
}

func (m *meddler) After(_ context.Context, c *tap.Command, err error) error {
	if m.after != nil {
		return m.after(c, err)
	}
	return err
}

var errLostReply = errors.New("the reply was lost")

func TestOneHolderAtATime(t *testing.T) {
	benches := []*bench{newBench(t), newBench(t)}
	var inside atomic.Int32
	var count int // guarded by the lock alone: the race detector looks on
	var fence atomic.Uint64
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			b := benches[i%2]
			for range 5 {
				l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: -1})
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders at once", n)
				}
				if before := fence.Swap(l.Fence()); l.Fence() <= before {
					t.Errorf("the fencing token %d follows %d", l.Fence(), before)
				}
				count++
				runtime.Gosched()
				inside.Add(-1)
				release(t, l)
			}
		})
	}
	all.Wait()
	if left := benches[0].queue(t); count != 80 || len(left) != 0 {
		t.Errorf("counted to %d, want 80; left: %q", count, left)
	}
}

func TestWaitHasALimit(t *testing.T) {
	b, other := newBench(t), newBench(t)
	holder := b.acquire(t, 0)
	for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
		begin := time.Now()
		_, err := other.Acquire(t.Context(), b.key, lock.Options{Wait: wait})
		if took := time.Since(begin); !errors.Is(err, seckill.ErrBusy) || took < wait {
			t.Errorf("waiting %v gave %v after %v, want busy", wait, err, took)
		}
		if q := b.queue(t); len(q) != 1 {
			t.Errorf("who gave up left a node: %q", q)
		}
	}
	release(t, holder)
	if q := b.queue(t); len(q) != 0 {
		t.Errorf("left after the release: %q", q)
	}
	if err := holder.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing twice gave %v", err)
	}
	if err := context.Cause(holder.Context()); err == nil || errors.Is(err, lock.ErrLost) {
		t.Errorf("a lease that was given back ended with %v", err)
	}
}

func TestNameAsCuratorHasIt(t *testing.T) {
	b := newBench(t)
	defer release(t, b.acquire(t, 0))
	name := b.queue(t)[0]
	guid, ok := strings.CutPrefix(name, "_c_")
	guid, number, cut := strings.Cut(guid, "-lock-")
	if !ok || !cut || len(guid) != 32 || len(number) != 10 {
		t.Errorf("the node is called %q", name)
	}
}

func TestForeignContendersQueueWithOurs(t *testing.T) {
	b, other := newBench(t), newBench(t)
	if err := b.zk.EnsurePath(t.Context(), b.key); err != nil {
		t.Fatal(err)
	}
	node, err := other.zk.Create(t.Context(), b.key+"/x-216-", nil, zk.FlagEphemeralSequential)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), b.key, lock.Options{}); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("a foreign client holds the lock, and we were told %v", err)
	}
	got := make(chan error, 1)
	go func() {
		l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: long})
		if err == nil {
			err = l.Release(t.Context())
		}
		got <- err
	}()
	b.queued(t, 2)
	if err := other.zk.Delete(t.Context(), node); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// contender queues and says when it is in.
type contender struct {
	in    chan lock.Lease
	leave context.CancelFunc
	err   chan error
}

func (b *bench) contend(t *testing.T, others int) *contender {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	c := &contender{make(chan lock.Lease, 1), leave, make(chan error, 1)}
	watching := make(chan struct{}, 100)
	ctx = tap.With(ctx, &meddler{before: func(c *tap.Command) error {
		if c.Backend == tap.Waiting {
			watching <- struct{}{}
		}
		return nil
	}})
	go func() {
		l, err := b.Acquire(ctx, b.key, lock.Options{Wait: -1})
		if err != nil {
			c.err <- err
			return
		}
		c.in <- l
	}()
	b.queued(t, others+1)
	<-watching
	return c
}

func TestFirstComeFirstServed(t *testing.T) {
	benches := []*bench{newBench(t), newBench(t)}
	holder := benches[0].acquire(t, 0)
	var queue []*contender
	for i := range 6 {
		queue = append(queue, benches[i%2].contend(t, i+1))
	}
	for i, c := range queue {
		release(t, holder)
		holder = <-c.in
		for j, later := range queue[i+1:] {
			if len(later.in) > 0 {
				t.Errorf("number %d is in together with %d", i+j+1, i)
			}
		}
	}
	release(t, holder)
}

// The middle one of three goes: the last is told, and must not take that for
// his turn.
func TestMiddleOneOfThreeGoes(t *testing.T) {
	b := newBench(t)
	for name, other := range map[string]func(t *testing.T) (*bench, func(*contender)){
		"leaves": func(t *testing.T) (*bench, func(*contender)) {
			return newBench(t), func(c *contender) {
				c.leave()
				if err := <-c.err; !errors.Is(err, context.Canceled) {
					t.Errorf("a buyer who left was told %v", err)
				}
			}
		},
		"dies": func(t *testing.T) (*bench, func(*contender)) {
			o, _ := shortLived(t)
			return o, func(*contender) { o.in.Kill() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, goes := other(t)
			o.key = b.key
			holder := b.acquire(t, 0)
			middle := o.contend(t, 1)
			last := b.contend(t, 2)
			goes(middle)
			b.queued(t, 2)
			// The last has been told when he watches the holder's node instead.
			first := b.contend(t, 2)
			if len(last.in) > 0 {
				t.Fatal("the last is in beside the holder")
			}
			release(t, holder)
			release(t, <-last.in)
			release(t, <-first.in)
			b.queued(t, 0)
			if name == "dies" {
				if err := <-middle.err; !errors.Is(err, seckill.ErrUnavailable) {
					t.Errorf("a waiter cut off from ZooKeeper was told %v", err)
				}
			}
		})
	}
}

func TestHolderDies(t *testing.T) {
	dead, _ := shortLived(t)
	alive := newBench(t)
	l := dead.acquire(t, 0)
	next := alive.contend(t, 1)
	dead.in.Kill()
	if err := ended(t, l); !errors.Is(err, lock.ErrLost) {
		t.Errorf("the lease ended with %v", err)
	}
	release(t, <-next.in) // within the session's time-out
	if err := l.Release(t.Context()); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("the dead released and got %v", err)
	}
	if _, err := dead.Acquire(t.Context(), dead.key, lock.Options{}); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("the dead acquired and got %v", err)
	}
}

func TestSessionEndsUnderTheHolder(t *testing.T) {
	for name, fault := range map[string]func(*backendtest.Wire){
		"connection cut":   (*backendtest.Wire).Cut,
		"server is silent": (*backendtest.Wire).Freeze,
	} {
		t.Run(name, func(t *testing.T) {
			b, wire := shortLived(t)
			other := newBench(t)
			l := b.acquire(t, 0)
			next := other.contend(t, 1)
			fault(wire)
			if err := ended(t, l); !errors.Is(err, lock.ErrLost) {
				t.Errorf("the lease ended with %v", err)
			}
			second := <-next.in
			wire.Pass()
			if _, err := b.zk.Session(t.Context()); err != nil {
				t.Fatal(err)
			}
			soon(t, "the first finds that he holds nothing", func() bool {
				err := l.Release(t.Context())
				return errors.Is(err, lock.ErrNotHeld)
			})
			if q := other.queue(t); len(q) != 1 {
				t.Errorf("the late release freed the successor's lock: %q", q)
			}
			if second.Fence() <= l.Fence() {
				t.Errorf("the fencing token %d follows %d", second.Fence(), l.Fence())
			}
			release(t, second)
			release(t, b.acquire(t, long)) // and the client works again
		})
	}
}

func TestSessionEndsUnderAWaiter(t *testing.T) {
	b, wire := shortLived(t)
	other := newBench(t)
	holder := other.acquire(t, 0)
	got := make(chan error, 1)
	go func() {
		l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: -1})
		if err == nil {
			err = l.Release(t.Context())
		}
		got <- err
	}()
	other.queued(t, 2) // b's own session may end at any moment
	wire.Cut()
	other.queued(t, 1)
	wire.Pass()
	// He queues again, or was told that ZooKeeper could not be asked.
	release(t, holder)
	if err := <-got; err != nil && !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("the waiter was told %v", err)
	}
	other.queued(t, 0)
}

// The connection breaks, the session does not: nobody loses his place.
func TestConnectionBreaks(t *testing.T) {
	b, wire := longLived(t)
	l := b.acquire(t, 0)
	next := b.contend(t, 1)
	wire.Cut()
	soon(t, "the client notices", func() bool { return !b.zk.Connected() })
	if l.Context().Err() != nil {
		t.Error("a lost connection ended the lease")
	}
	err := l.Release(t.Context())
	wire.Pass()
	if err != nil && !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("releasing without a connection gave %v", err)
	}
	release(t, <-next.in)
	b.queued(t, 0)
}

// Whatever single reply is lost, Acquire ends with the lock or with an error,
// and no node is left in either case.
func TestLostReplies(t *testing.T) {
	b, other := newBench(t), newBench(t)
	for _, contended := range []bool{false, true} {
		for n := 1; ; n++ {
			var holder lock.Lease
			if contended {
				holder = other.acquire(t, 0)
			}
			var seen atomic.Int64
			lost := ""
			ctx := tap.With(t.Context(), &meddler{after: func(c *tap.Command, err error) error {
				if c.Backend == tap.Waiting || seen.Add(1) != int64(n) {
					return err
				}
				lost = c.Text
				return errLostReply
			}})
			got := make(chan error, 1)
			go func() {
				l, err := b.Acquire(ctx, b.key, lock.Options{Wait: -1})
				if q := len(b.queue(t)); err == nil && q != 1 {
					t.Errorf("%d nodes after the reply to %q was lost", q, lost)
				}
				if err == nil {
					err = l.Release(ctx)
				}
				got <- err
			}()
			if contended {
				b.queued(t, 2)
				release(t, holder)
			}
			err := <-got
			t.Logf("contended %v, %q: %v", contended, lost, err)
			if err != nil && !errors.Is(err, seckill.ErrUnavailable) {
				t.Errorf("the reply to %q was lost, and it said %v", lost, err)
			}
			b.queued(t, 0)
			if lost == "" {
				break
			}
		}
	}
}

// Whenever the buyer goes, no node is left.
func TestBuyerLeaves(t *testing.T) {
	b, other := newBench(t), newBench(t)
	holder := other.acquire(t, 0)
	for _, when := range []string{"before", "after"} {
		for n := 1; ; n++ {
			ctx, leave := context.WithCancel(t.Context())
			var seen atomic.Int64
			left := false
			leaves := func(which string) {
				if which == when && seen.Add(1) == int64(n) {
					left = true
					leave()
				}
			}
			_, err := b.Acquire(tap.With(ctx, &meddler{
				before: func(*tap.Command) error { leaves("before"); return nil },
				after:  func(_ *tap.Command, err error) error { leaves("after"); return err },
			}), b.key, lock.Options{Wait: 30 * time.Millisecond})
			leave()
			if left && !errors.Is(err, context.Canceled) && !errors.Is(err, seckill.ErrBusy) {
				t.Errorf("the buyer left %s command %d and was told %v", when, n, err)
			}
			b.queued(t, 1)
			if !left {
				break
			}
		}
	}
	release(t, holder)
}

// A command that was left while the server was silent still arrives.
func TestBuyerLeavesWhileTheServerIsSilent(t *testing.T) {
	b, wire := longLived(t)
	other := newBench(t)
	holder := b.acquire(t, 0)
	wire.Freeze()
	ctx, leave := context.WithCancel(t.Context())
	m := &meddler{before: func(c *tap.Command) error {
		if c.Name == "create" {
			time.AfterFunc(20*time.Millisecond, leave)
		}
		return nil
	}}
	if _, err := b.Acquire(tap.With(ctx, m), b.key, lock.Options{Wait: -1}); !errors.Is(err, context.Canceled) {
		t.Errorf("a buyer who left was told %v", err)
	}
	ctx, leave = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer leave()
	if err := holder.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a release without an answer gave %v", err)
	}
	wire.Pass()
	// The holder's node and the buyer's: two came, two go.
	soon(t, "both nodes are gone", func() bool {
		stat, err := other.zk.Exists(t.Context(), b.key)
		return err == nil && stat != nil && stat.Cversion >= 4 && stat.NumChildren == 0
	})
}

func TestZooKeeperIsAway(t *testing.T) {
	b, wire := longLived(t)
	wire.Cut()
	soon(t, "the client notices", func() bool { return !b.zk.Connected() })
	for _, wait := range []time.Duration{0, -1} {
		if _, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: wait}); !errors.Is(err, seckill.ErrUnavailable) {
			t.Errorf("waiting %v without ZooKeeper gave %v", wait, err)
		}
	}
	wire.Pass()
	soon(t, "the lock is there again", func() bool {
		l, err := b.Acquire(t.Context(), b.key, lock.Options{Wait: long})
		return err == nil && l.Release(t.Context()) == nil
	})
}

// The server itself dies and comes back, with its queue and its sessions.
func TestServerRestarts(t *testing.T) {
	b, _ := longLived(t)
	process, err := labtest.Start(t, backend.ZooKeeper).Process(backend.NameZooKeeper)
	if err != nil {
		t.Fatal(err)
	}
	l := b.acquire(t, 0)
	if err := process.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Acquire(t.Context(), b.key, lock.Options{}); !errors.Is(err, seckill.ErrUnavailable) {
		t.Errorf("without a server it said %v", err)
	}
	if err := process.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	soon(t, "the server is there again", b.zk.Connected)
	if l.Context().Err() == nil { // the session was taken up again in time
		release(t, l)
	}
	next := b.acquire(t, long)
	if next.Fence() <= l.Fence() {
		t.Errorf("the fencing token %d follows %d", next.Fence(), l.Fence())
	}
	release(t, next)
	b.queued(t, 0)
}

func TestReentrant(t *testing.T) {
	b, other := newBench(t), newBench(t)
	outer := b.acquire(t, 0)
	n := &tap.Counter{}
	inner, err := b.Acquire(tap.With(outer.Context(), n), b.key, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	third, err := b.Acquire(inner.Context(), b.key, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if inner.Fence() != outer.Fence() || n.Count(tap.ZooKeeper) != 0 {
		t.Errorf("fences %d and %d, %d commands", outer.Fence(), inner.Fence(), n.Count(tap.ZooKeeper))
	}
	for _, l := range []lock.Lease{third, inner} {
		release(t, l)
		if err := l.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("releasing twice gave %v", err)
		}
		if _, err := other.Acquire(t.Context(), b.key, lock.Options{}); !errors.Is(err, seckill.ErrBusy) {
			t.Errorf("an inner release freed the lock: %v", err)
		}
	}
	// Another key, another instance and a context without the lease are
	// strangers.
	if _, err := other.Acquire(outer.Context(), b.key, lock.Options{}); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("another process shares our lease: %v", err)
	}
	if _, err := b.Acquire(t.Context(), b.key, lock.Options{}); !errors.Is(err, seckill.ErrBusy) {
		t.Errorf("a buyer without the lease is in: %v", err)
	}
	release(t, outer)
	if _, err := b.Acquire(outer.Context(), b.key, lock.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a lease that was given back lets its holder in: %v", err)
	}
	release(t, other.acquire(t, 0))
}

// Nodes that somebody else removes, as an operator may: those who wait queue
// again, and the holder finds out when he releases.
func TestRemovedByHand(t *testing.T) {
	b, other := newBench(t), newBench(t)
	holder := b.acquire(t, 0)
	waiter := other.contend(t, 1)
	removeAll(t, b)
	next := <-waiter.in // he queued again
	if err := holder.Release(t.Context()); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("releasing what was cleared gave %v", err)
	}
	if next.Fence() <= holder.Fence() {
		t.Errorf("the fencing token %d follows %d", next.Fence(), holder.Fence())
	}
	release(t, next)
}

// removeAll removes every contender, the last first, so that none is let in
// only to be removed.
func removeAll(t *testing.T, b *bench) {
	t.Helper()
	names, _, err := b.zk.Children(t.Context(), b.key)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(names, func(a, b string) int {
		m, _ := sequence(a)
		n, _ := sequence(b)
		return int(n - m)
	})
	for _, name := range names {
		if err := b.zk.Delete(t.Context(), b.key+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommands(t *testing.T) {
	b := newBench(t)
	release(t, b.acquire(t, 0)) // makes the parents
	n := &tap.Counter{}
	ctx := tap.With(t.Context(), n)
	l, err := b.Acquire(ctx, b.key, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Count(tap.ZooKeeper); got != 2 {
		t.Errorf("taking a free lock cost %d commands, want 2", got)
	}
	if err := l.Release(ctx); err != nil {
		t.Error(err)
	}
	if got := n.Count(tap.ZooKeeper); got != 3 || n.Count(tap.Waiting) != 0 {
		t.Errorf("with its release it cost %d commands and %d waits, want 3 and 0", got, n.Count(tap.Waiting))
	}

	// The parents are made on demand, and only then.
	var names []string
	ctx = tap.With(t.Context(), &meddler{before: func(c *tap.Command) error {
		names = append(names, c.Name)
		return nil
	}})
	if err := b.zk.Delete(t.Context(), b.key); err != nil {
		t.Fatal(err)
	}
	if l, err = b.Acquire(ctx, b.key, lock.Options{}); err != nil {
		t.Fatal(err)
	}
	release(t, l)
	if want := []string{"create", "create", "create", "create", "create", "getChildren"}; !slices.Equal(names, want) {
		t.Errorf("the first buyer ever sent %q, want %q", names, want)
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := goroutines()
	t.Run("closed in mid-wait", func(t *testing.T) {
		b, wire := longLived(t)
		l := b.acquire(t, 0)
		waiter := b.contend(t, 1)
		wire.Cut()
		_ = l.Release(t.Context())
		if err := b.in.Close(); err != nil {
			t.Error(err)
		}
		if err := <-waiter.err; !errors.Is(err, seckill.ErrUnavailable) {
			t.Errorf("the client was closed, and a waiter was told %v", err)
		}
	})
	soon(t, "no goroutine is left", func() bool { return goroutines() <= before })
}

func goroutines() (n int) {
	all := make([]byte, 1<<20)
	for one := range strings.SplitSeq(string(all[:runtime.Stack(all, true)]), "\n\n") {
		if strings.Contains(one, "zklock.(*zk") || strings.Contains(one, "go-zookeeper") ||
			strings.Contains(one, "ZooKeeperClient") {
			n++
		}
	}
	return n
}

// BenchmarkZK takes and frees a lock that nobody else wants, and one that
// eight workers hold for 5 ms each (200 a second would be perfect).
func BenchmarkZK(b *testing.B) {
	in := labtest.Instance(b, backend.ZooKeeper)
	l, _ := ZK.Locker(catalog.Deps{Instance: in})
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
						lease, err := l.Acquire(ctx, "/test/locks/bench", lock.Options{Wait: -1})
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
			b.ReportMetric(float64(n.Count(tap.ZooKeeper))/float64(b.N), "commands/lock")
			b.ReportMetric(float64(most), "most")
			b.ReportMetric(float64(least), "least")
		})
	}
}
