package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/lock"
	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// A contender is one attempt to get a lock, under one session.
type contender struct {
	*session
	key    string // that it makes, or tries to
	number int    // of its name
	name   string // its value, and no other's

	buyer   context.Context
	waiting context.Context // ends with its time, too, or with the lease

	there  bool // its key may be there
	late   bool // the key may still come: its put was not answered
	unsure bool // a command was not answered, and may still come
}

// contender names one among those of this session. A name is used again once
// its key is gone: etcd remembers every key that ever was until it is
// compacted, and goes through all of them to look into a lock's directory.
// After 5,000 locks under names of their own that took longer than a commit.
func (s *session) contender(buyer, waiting context.Context) *contender {
	s.mu.Lock()
	defer s.mu.Unlock()
	me := &contender{session: s, buyer: buyer, waiting: waiting}
	if last := len(s.spare) - 1; last >= 0 {
		me.number, s.spare = s.spare[last], s.spare[:last]
	} else {
		s.names++
		me.number = s.names
	}
	me.name = fmt.Sprintf("%016x-%d", int64(s.id), me.number)
	return me
}

// retire gives a contender's name back, unless a command that it has sent may
// still meet the next one's key.
func (me *contender) retire() {
	if me.unsure {
		return
	}
	me.mu.Lock()
	defer me.mu.Unlock()
	me.spare = append(me.spare, me.number)
}

// contend makes attempts until one succeeds or the wait is over. try takes the
// lock and returns its fencing token.
//
// o.Lease means nothing here: the lock lives as long as the session.
func (c *sessions) contend(
	ctx context.Context, o lock.Options,
	try func(*contender) (fence uint64, err error),
) (lock.Lease, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	end := time.Now().Add(o.Wait)
	for again := false; ; again = true {
		lease, err := c.attempt(ctx, o.Wait, end, try)
		switch {
		case err == nil:
			return lease, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, errBusy):
			return nil, seckill.ErrBusy
		case !errors.Is(err, errGone):
			return nil, fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
		case again && o.Wait >= 0 && time.Now().After(end):
			return nil, seckill.ErrBusy
		}
		// A new lease, or our key was deleted: line up again.
	}
}

func (c *sessions) attempt(
	ctx context.Context, wait time.Duration, end time.Time,
	try func(*contender) (fence uint64, err error),
) (lock.Lease, error) {
	s, err := c.get(ctx)
	if err != nil {
		return nil, err
	}
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(s.alive, func() { stop(errGone) })()
	if wait >= 0 {
		timer := time.AfterFunc(time.Until(end), func() { stop(errBusy) })
		defer timer.Stop()
	}
	me := s.contender(ctx, waiting)
	fence, err := try(me)
	if err == nil && s.alive.Err() != nil {
		err = errGone
	}
	if err != nil {
		if left := me.leave(ctx); left != nil && ctx.Err() == nil {
			err = left // we cannot tell whether it was busy
		}
		return nil, err
	}
	hold := lock.NewHold(ctx, fence, me.free)
	hold.ExpireWith(s.alive)
	return hold, nil
}

// command is the context of one command.
func (me *contender) command() (context.Context, context.CancelFunc) {
	return tap.WithTimeout(me.buyer, patience)
}

// none: there is no such key.
func none(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// put sends the transaction that makes our key if the conditions hold; in the
// same step, but before, it does what comes first.
//
// The client never sends it twice. But if its answer is lost, it may still be
// on its way when we have left; so it makes no key for a contender that has a
// grave.
func (me *contender) put(
	conditions []clientv3.Cmp, first ...clientv3.Op,
) (*clientv3.TxnResponse, error) {
	me.there, me.late, me.unsure = true, true, true
	put := clientv3.OpPut(me.key, me.name, clientv3.WithLease(me.id))
	ctx, cancel := me.command()
	defer cancel()
	got, err := me.etcd.Txn(ctx).
		If(append(conditions, none(me.grave()))...).
		Then(append(first, put)...).Commit()
	switch {
	case err == nil:
		me.there, me.late, me.unsure = got.Succeeded, false, false
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		me.there, me.late, me.unsure = false, false, false
		me.end(errGone) // all who hold a lock under it are told
		err = errGone
	}
	return got, err
}

// grave is a key that says that its contender left before its key came. It lies
// outside every lock's directory, and goes with the lease.
func (me *contender) grave() string { return "/seckill/graves/" + me.name }

// untilGone waits for a key to be deleted that was there at revision rev, and
// says at which revision it was told. It may also return early: the caller
// looks again.
//
// It watches from now on, and looks at the key once more if anything at all
// was written since rev. To watch from rev + 1 would save that, but a watch
// that begins behind the others waits for the server's next round, up to
// 100 ms: with other locks written beside, we had 31 hand-overs a second that
// way, and 200 this way. (concurrency.Mutex watches from rev: it always waits.)
func (me *contender) untilGone(
	key string, rev int64,
) (told int64, _ error) {
	ctx, cancel := context.WithCancel(me.waiting)
	defer cancel()
	changes := me.etcd.Watch(ctx, key,
		clientv3.WithCreatedNotify(), clientv3.WithFilterPut())
	begun, ok := <-changes
	if ok && begun.Created && begun.Header.Revision != rev {
		ctx, cancel := me.command()
		defer cancel()
		got, err := me.etcd.Get(ctx, key)
		if err != nil {
			return 0, err
		}
		if !isThere(got, rev) {
			return got.Header.Revision, nil
		}
	}

	gone, broken, at := make(chan struct{}), errDown, int64(0)
	go func() {
		defer close(gone)
		for change := range changes {
			if change.Err() != nil {
				broken = change.Err()
			} else if len(change.Events) > 0 {
				at, broken = change.Header.Revision, nil
				return
			}
		}
	}()
	_, err := tap.WaitAtMost(me.waiting, "end of "+key, tap.Forever, gone,
		func(ctx context.Context) error { // is the news under way to us?
			got, err := me.etcd.Get(ctx, key)
			if err == nil && !isThere(got, rev) {
				<-gone
			}
			return err
		})
	if err != nil {
		return 0, err
	}
	return at, broken
}

// isThere: the key is still the one that was there at rev.
func isThere(got *clientv3.GetResponse, rev int64) bool {
	return len(got.Kvs) > 0 && got.Kvs[0].CreateRevision <= rev
}

// leave deletes our key, also when the buyer has gone. What cannot be done at
// once is done in the background: as long as our lease lives, no one
// else would.
func (me *contender) leave(ctx context.Context) error {
	if !me.there {
		me.retire()
		return nil
	}
	_, err := me.remove(context.WithoutCancel(ctx))
	if err != nil {
		me.forget(me)
		return err
	}
	me.retire()
	return nil
}

// free gives the lock back.
func (me *contender) free(ctx context.Context) error {
	was, err := me.remove(ctx)
	if err != nil {
		_, err = me.remove(ctx) // the first may have done it
		was = true
	}
	switch {
	case err != nil:
		me.forget(me)
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	case !was:
		err = lock.ErrNotHeld
	}
	me.retire()
	return err
}

// remove deletes our key if it is ours, and says whether it was. A grave keeps
// it from coming later.
func (me *contender) remove(ctx context.Context) (was bool, err error) {
	ctx, cancel := tap.WithTimeout(ctx, patience)
	defer cancel()
	ours := clientv3.Compare(clientv3.Value(me.key), "=", me.name)
	then := []clientv3.Op{clientv3.OpDelete(me.key)}
	var otherwise []clientv3.Op
	if me.late {
		grave := clientv3.OpPut(me.grave(), "", clientv3.WithLease(me.id))
		then, otherwise = append(then, grave), append(otherwise, grave)
	}
	got, err := me.etcd.Txn(ctx).If(ours).
		Then(then...).Else(otherwise...).Commit()
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		me.end(errGone)
		return false, nil // and our key went with the lease
	}
	if err != nil {
		me.unsure = true
		return false, err
	}
	return got.Succeeded, nil
}

// forget goes on removing a contender's key, past every tap, until that is
// done or the lease has ended, and the key with it.
func (s *session) forget(one *contender) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, one)
	if len(s.left) == 1 {
		go s.sweep()
	}
}

func (s *session) sweep() {
	for s.alive.Err() == nil {
		s.mu.Lock()
		one := s.left[0]
		s.mu.Unlock()
		if _, err := one.remove(s.alive); err != nil {
			select {
			case <-time.After(patience / 10):
			case <-s.alive.Done():
			}
			continue
		}
		s.mu.Lock()
		s.left = s.left[1:]
		done := len(s.left) == 0
		s.mu.Unlock()
		if done {
			return
		}
	}
}
