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

// A contender is one attempt to get a lock under one session:
//
//  1. A transaction puts the contender's key. etcd deletes the key when the
//     session's lease ends.
//  2. If another contender's key blocks the lock, the contender watches that
//     key until it is deleted, and then reads the keys again.
//  3. To release the lock, or to give up, the contender deletes its own key.
type contender struct {
	*session
	key    string // the contender's key, in the lock's directory
	number int    // the number at the end of the contender's name
	name   string // the contender's name, which is the value of its key

	buyer   context.Context // the buyer's context, for commands
	waiting context.Context // context of the waits: see lock.WaitContext

	hasKey  bool // true if the key exists
	unclear bool // a put was not answered, so its key may appear later
}

// newContender returns a contender. If possible, the contender gets the name
// of an earlier contender whose key was deleted. Names are used again because
// etcd, when it lists a lock's directory, also reads deleted keys until its
// history is compacted. After 5,000 locks with new names, reading the list
// took longer than a commit.
func (s *session) newContender(buyer, waiting context.Context) *contender {
	s.mu.Lock()
	defer s.mu.Unlock()
	me := &contender{session: s, buyer: buyer, waiting: waiting}
	if last := len(s.freeNumbers) - 1; last >= 0 {
		me.number, s.freeNumbers = s.freeNumbers[last], s.freeNumbers[:last]
	} else {
		s.names++
		me.number = s.names
	}
	me.name = fmt.Sprintf("%016x-%d", int64(s.id), me.number)
	return me
}

// freeName lets another contender use the name. It keeps the name if a put
// under this name may still arrive.
func (me *contender) freeName() {
	if me.unclear {
		return
	}
	me.mu.Lock()
	defer me.mu.Unlock()
	me.freeNumbers = append(me.freeNumbers, me.number)
}

// acquire makes attempts until one succeeds or the wait ends. In each attempt
// it calls tryLock, which takes the lock and returns its fencing token.
// o.Lease has no effect: the lock lives as long as the session.
func (c *sessions) acquire(
	ctx context.Context, o lock.Options,
	tryLock func(*contender) (fence uint64, err error),
) (lock.Lease, error) {
	return lock.LineUp(ctx, o.Wait, func(end time.Time) (lock.Lease, error) {
		s, err := c.current(ctx)
		if err != nil {
			return nil, err
		}
		waiting, stop := lock.WaitContext(ctx, s.alive, o.Wait, end)
		defer stop()
		me := s.newContender(ctx, waiting)
		fence, err := tryLock(me)
		if err == nil && s.alive.Err() != nil {
			err = lock.ErrPlaceLost
		}
		if err != nil {
			if left := me.leave(ctx); left != nil && ctx.Err() == nil {
				// Our key may still block the lock, so return leave's error.
				err = left
			}
			return nil, err
		}
		hold := lock.NewHold(ctx, fence, me.release)
		hold.ExpireWith(s.alive)
		return hold, nil
	})
}

func (me *contender) commandContext() (context.Context, context.CancelFunc) {
	return tap.WithTimeout(me.buyer, commandTimeout)
}

func isMissing(key string) clientv3.Cmp {
	return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
}

// putKey sends the transaction that puts our key if the conditions hold. The
// transaction runs the operations in reads before the put.
//
// The client never repeats the transaction. If its answer is lost, the
// transaction may still arrive after this contender has given up. So deleteKey
// then writes another key, the tombstone. If there is a tombstone, the
// transaction puts nothing.
func (me *contender) putKey(
	conditions []clientv3.Cmp, reads ...clientv3.Op,
) (*clientv3.TxnResponse, error) {
	me.unclear = true
	put := clientv3.OpPut(me.key, me.name, clientv3.WithLease(me.id))
	ctx, cancel := me.commandContext()
	defer cancel()
	got, err := me.etcd.Txn(ctx).
		If(append(conditions, isMissing(me.tombstone()))...).
		Then(append(reads, put)...).Commit()
	switch {
	case err == nil:
		me.hasKey, me.unclear = got.Succeeded, false
	case errors.Is(err, rpctypes.ErrLeaseNotFound):
		me.unclear = false
		me.end(lock.ErrPlaceLost) // the lease ended with all its locks
		err = lock.ErrPlaceLost
	}
	return got, err
}

// tombstone returns the name of the key that a contender writes if it gives up
// before its put was answered. The key lies outside the directories of all
// locks. etcd deletes it at the end of the lease.
func (me *contender) tombstone() string {
	return "/seckill/graves/" + me.name
}

// waitUntilGone waits until a key that existed at revision rev is deleted. It
// returns the revision of the deletion. It may return too early, so the caller
// has to read the keys again.
//
// The watch begins now. If etcd has written anything since rev, waitUntilGone
// also reads the key. A watch from rev + 1 would need no read. But a server
// serves a watch that begins in the past only every 100 ms. With other locks
// in use, etcd then granted 31 locks a second instead of 200.
// (concurrency.Mutex watches from the past and always waits.)
func (me *contender) waitUntilGone(
	key string, rev int64,
) (noticed int64, _ error) {
	ctx, cancel := context.WithCancel(me.waiting)
	defer cancel()
	changes := me.etcd.Watch(ctx, key,
		clientv3.WithCreatedNotify(), clientv3.WithFilterPut())
	begun, ok := <-changes
	if ok && begun.Created && begun.Header.Revision != rev {
		ctx, cancel := me.commandContext()
		defer cancel()
		got, err := me.etcd.Get(ctx, key)
		if err != nil {
			return 0, err
		}
		if !stillExists(got, rev) {
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
	_, err := tap.WaitWithin(me.waiting, "end of "+key, tap.NoLimit, gone,
		func(ctx context.Context) error {
			// If the key is gone, the watch will soon report the deletion.
			got, err := me.etcd.Get(ctx, key)
			if err == nil && !stillExists(got, rev) {
				<-gone
			}
			return err
		})
	if err != nil {
		return 0, err
	}
	return at, broken
}

// stillExists reports whether the key that existed at revision rev still
// exists. A key that was created later under the same name does not count.
func stillExists(got *clientv3.GetResponse, rev int64) bool {
	return len(got.Kvs) > 0 && got.Kvs[0].CreateRevision <= rev
}

// leave deletes the key of a contender that gives up, even when its buyer has
// left, because the key would otherwise stay as long as the session's lease.
func (me *contender) leave(ctx context.Context) error {
	if me.hasKey || me.unclear {
		_, err := me.deleteKey(context.WithoutCancel(ctx))
		if err != nil {
			go me.deleteInBackground()
			return err
		}
	}
	me.freeName()
	return nil
}

// release deletes a holder's key. It returns ErrNotHeld if the key is gone.
func (me *contender) release(ctx context.Context) error {
	deleted, err := me.deleteKey(ctx)
	if err == nil {
		me.freeName()
		if !deleted {
			return lock.ErrNotHeld
		}
		return nil
	}
	// The first delete got no reply: it may have taken effect, or may still
	// arrive. If another contender used this name, the command could delete
	// that contender's key. So the name is not freed.
	if _, err = me.deleteKey(ctx); err != nil {
		go me.deleteInBackground()
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return nil
}

// deleteKey deletes our key and reports whether there was one. If a put was
// not answered, deleteKey also writes a tombstone.
func (me *contender) deleteKey(ctx context.Context) (bool, error) {
	ctx, cancel := tap.WithTimeout(ctx, commandTimeout)
	defer cancel()
	isOurs := clientv3.Compare(clientv3.Value(me.key), "=", me.name)
	then := []clientv3.Op{clientv3.OpDelete(me.key)}
	var otherwise []clientv3.Op
	if me.unclear {
		put := clientv3.OpPut(me.tombstone(), "", clientv3.WithLease(me.id))
		then, otherwise = append(then, put), append(otherwise, put)
	}
	got, err := me.etcd.Txn(ctx).If(isOurs).
		Then(then...).Else(otherwise...).Commit()
	if errors.Is(err, rpctypes.ErrLeaseNotFound) {
		me.end(lock.ErrPlaceLost)
		return false, nil // etcd has deleted our key together with the lease
	}
	if err != nil {
		return false, err
	}
	return got.Succeeded, nil
}

// deleteInBackground repeats deleteKey until it succeeds, or until the lease
// ends, because etcd then deletes the key. These commands bypass package tap.
func (me *contender) deleteInBackground() {
	for me.alive.Err() == nil {
		if _, err := me.deleteKey(me.alive); err == nil {
			return
		}
		select {
		case <-time.After(commandTimeout / 10):
		case <-me.alive.Done():
		}
	}
}
