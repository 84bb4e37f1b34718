package etcdlock

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/seckill"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

const (
	long  = time.Minute
	short = 2 * time.Second // the smallest lease that etcd grants
)

// A bench is a process with a lock, and the etcd behind the lock.
type bench struct{ *locktest.Process }

func (b *bench) sessions() *sessions { return b.Locker.(*etcdLock).sessions }

// newBench returns a bench on an instance of its own, or on the given instance.
func newBench(t testing.TB, lease time.Duration, in ...*backend.Instance) *bench {
	t.Helper()
	d := catalog.Deps{Settings: catalog.Settings{LockTimes: catalog.LockTimes{LockLease: lease}}}
	for _, given := range in {
		d.Instance = given
	}
	b := &bench{locktest.Open(t, Etcd, d)}
	b.Waiting = func(c *tap.Command) bool { return strings.HasPrefix(c.Text, "end of") }
	return b
}

// keys lists the keys of the contenders in the order in which they came.
func (b *bench) keys(t *testing.T) (keys []string) {
	t.Helper()
	got := labtest.Value(b.In.Etcd.Get(context.Background(), b.Key, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))).Must(t)
	for _, kv := range got.Kvs {
		keys = append(keys, string(kv.Key))
	}
	return keys
}

func (b *bench) queued(t *testing.T, n int) {
	t.Helper()
	labtest.Soon(t, fmt.Sprintf("%d keys", n), func() bool { return len(b.keys(t)) == n })
}

// The lease is revoked. The process notices at the next renewal, or when it queues again
// (under a new lease), or when a contender that has left makes sure that its key will not appear.
func TestLeaseIsRevoked(t *testing.T) {
	for name, notice := range map[string]struct {
		lease time.Duration
		by    func(*bench)
	}{
		"renewal": {short, func(*bench) {}},
		"another": {locktest.Long, func(b *bench) { locktest.Free(t, b.Take(t, lock.Options{})) }},
		"a tombstone": {locktest.Long, func(b *bench) {
			me := b.sessions().last.newContender(t.Context(), t.Context())
			me.key, me.unclear = b.Key+"/"+me.name, true
			labtest.Must(t, me.leave(t.Context()))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, notice.lease)
			l := b.Take(t, lock.Options{})
			labtest.Value(b.In.Etcd.Revoke(t.Context(), b.sessions().last.id)).Must(t)
			notice.by(b)
			labtest.Soon(t, "the holder is told", func() bool { return l.Context().Err() != nil })
			labtest.Check(t, context.Cause(l.Context()), lock.ErrLost, "the lease")
			labtest.Check(t, l.Release(t.Context()), lock.ErrNotHeld, "releasing a lock that is lost")
			locktest.Free(t, b.Take(t, lock.Options{}))
		})
	}
}

// If the lease of a waiter ends, the waiter queues again. It does not enter.
func TestLeaseEndsUnderAWaiter(t *testing.T) {
	b, other := newBench(t, short), newBench(t, long)
	holder := other.Take(t, lock.Options{})
	waiter := b.Contend(t)
	before := b.keys(t)
	labtest.Value(other.In.Etcd.Revoke(t.Context(), b.sessions().last.id)).Must(t)
	labtest.Soon(t, "the waiter lines up again", func() bool { k := b.keys(t); return len(k) == 2 && k[1] != before[1] })
	labtest.Same(t, len(waiter.In), 0, "the waiters who are in beside the holder")
	_, err := other.In.Etcd.Delete(t.Context(), b.keys(t)[1]) // the same once more
	labtest.Must(t, err)
	locktest.Free(t, holder)
	l := locktest.In(t, waiter)
	b.queued(t, 1)
	locktest.Free(t, l)
}

// The lease ends while the answer that grants the lock is on its way. The buyer queues again under the next lease.
func TestLeaseEndsBeforeTheAnswer(t *testing.T) {
	b := newBench(t, long)
	s := labtest.Value(b.sessions().current(t.Context())).Must(t)
	ends := taptest.EachAfter(t.Context(), func(*tap.Command, error) { s.end(lock.ErrPlaceLost) })
	l := labtest.Value(b.Acquire(ends, b.Key, lock.Options{Wait: long})).Must(t)
	if key := b.keys(t)[0]; strings.Contains(key, fmt.Sprintf("%016x", int64(s.id))) {
		t.Errorf("the lock was granted under a lease that has ended: %s", key)
	}
	locktest.Free(t, l)
}

// A contender that tries only once puts no key behind the holder's key. Such a key would turn away the next contender.
func TestTryingOncePutsNoKey(t *testing.T) {
	b := newBench(t, long)
	held := b.Take(t, lock.Options{})
	look := taptest.EachAfter(t.Context(), func(*tap.Command, error) {
		labtest.Same(t, len(b.keys(t)), 1, "the keys, of which the holder has one")
	})
	labtest.Value(b.Acquire(look, b.Key, lock.Options{})).Check(t, seckill.ErrBusy,
		"while the lock is held, who tries once")
	locktest.Free(t, held)
}

// A transaction that arrives when its sender has already left is refused.
func TestLatePutMakesNoKey(t *testing.T) {
	b := newBench(t, long)
	s := labtest.Value(b.sessions().current(t.Context())).Must(t)
	me := &contender{session: s, buyer: t.Context(), waiting: t.Context(), name: fmt.Sprintf("%016x-late", int64(s.id)), key: b.Key}
	me.unclear = true // its put was sent, and not answered
	labtest.Must(t, me.leave(t.Context()))
	got, err := me.putKey([]clientv3.Cmp{isMissing(me.key)})
	if err != nil || got.Succeeded || len(b.keys(t)) != 0 {
		t.Errorf("the transaction came late and gave %+v, %v; keys: %q", got, err, b.keys(t))
	}
}

// The server does not answer when the lock is released. The release is repeated in the background,
// long before the lease could end.
func TestReleaseIsMadeUpFor(t *testing.T) {
	endpoint := labtest.Instance(t, backend.Etcd).Config.EtcdEndpoints[0]
	wire := labtest.NewWire(t, strings.TrimPrefix(endpoint, "http://"))
	b := newBench(t, long, labtest.Open(t, backend.Config{EtcdEndpoints: []string{wire.Addr()}}))
	other := newBench(t, long)
	l := b.Take(t, lock.Options{})
	wire.Cut()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	labtest.Check(t, l.Release(ctx), seckill.ErrUnavailable, "releasing without a server")
	wire.Pass()
	other.queued(t, 0)
	labtest.Check(t, b.sessions().last.alive.Err(), nil, "the lease, which is not how the key should go")
}

// etcd remembers every name until its history is compacted, so contenders use a name one after the
// other. A name is not used again while a command with this name may still arrive.
func TestNamesAreUsedAgain(t *testing.T) {
	b := newBench(t, long)
	held := func(ctx context.Context) string {
		l := labtest.Value(b.Acquire(ctx, b.Key, lock.Options{Wait: long})).Must(t)
		defer locktest.Free(t, l)
		return b.keys(t)[0]
	}
	first := held(t.Context())
	for range 5 {
		labtest.Same(t, held(t.Context()), first, "the key")
	}
	commands := 0
	lost := tap.With(t.Context(), &taptest.Tap{OnAfter: func(c *tap.Command, err error) error {
		if commands++; err == nil && commands == 1 {
			return taptest.ErrLostReply
		}
		return err
	}})
	labtest.Value(b.Acquire(lost, b.Key, lock.Options{Wait: long})).Fails(t, "", "acquired without a reply")
	second := held(t.Context())
	if second == first {
		t.Errorf("%s is used again, though its put may still come", first)
	}
	l := b.Take(t, lock.Options{})
	commands = 0
	labtest.Must(t, l.Release(lost))
	if held(t.Context()) == second {
		t.Errorf("%s is used again, though its delete may still come", second)
	}
}

// Before we watch the key ahead, it is deleted and created again under the same name. The new key is behind us.
func TestKeyAheadComesAgain(t *testing.T) {
	a, b := newBench(t, long), newBench(t, long)
	holder := a.Take(t, lock.Options{})
	var behind *locktest.Waiter
	ctx := taptest.EachAfter(t.Context(), func(c *tap.Command, _ error) {
		if c.Backend != tap.Waiting && behind == nil {
			locktest.Free(t, holder)
			behind = a.Contend(t)
		}
	})
	l := labtest.Value(b.Acquire(ctx, b.Key, lock.Options{Wait: 10 * time.Second})).Must(t)
	locktest.Free(t, l)
	locktest.Free(t, locktest.In(t, behind))
}

// A server may lag behind a state that we have already seen. Its answer is not enough, so the majority is asked.
func TestLookAsksTheMajorityWhenItsServerLags(t *testing.T) {
	b := newBench(t, long)
	l := b.Locker.(*etcdLock)
	s := labtest.Value(l.current(t.Context())).Must(t)
	for noticed, want := range map[int64]int{1: 1, math.MaxInt64: 2} {
		asked := 0
		ctx := taptest.EachBefore(t.Context(), func(*tap.Command) { asked++ })
		me := s.newContender(ctx, ctx)
		me.key = b.Key + "/" + me.name
		labtest.Value(l.readAhead(me, b.Key+"/", 1, noticed)).Must(t)
		labtest.Same(t, asked, want, "the questions when it was noticed at revision %d", noticed)
	}
}
