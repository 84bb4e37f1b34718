package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/lock"
	"seckill/internal/tap"
)

func stockPath(sku int64) string {
	return fmt.Sprint("/seckill/locks/stock-", sku)
}

// sessions gives all locks of one process the same lease, and keeps the lease
// alive as long as the process lives. A lease for each lock would cost two
// more round trips to a majority of the servers: one to grant the lease, and
// one to revoke it.
type sessions struct {
	etcd *clientv3.Client
	ttl  time.Duration

	mu   sync.Mutex
	last *session
}

// A session is one lease from its grant to its end. At its end etcd deletes
// all keys that belong to the lease.
type session struct {
	etcd  *clientv3.Client
	ready chan struct{} // closed when the lease is granted or refused (err)
	id    clientv3.LeaseID
	err   error

	alive context.Context
	end   context.CancelCauseFunc

	mu          sync.Mutex
	names       int   // the number of names given to contenders
	freeNumbers []int // the numbers of names that no contender uses
}

// commandTimeout bounds a command, in case the client has no connection.
const commandTimeout = 2 * time.Second

var errDown = errors.New("etcd does not answer")

// current returns the living session or, if there is none, a new one. For a
// new session, a goroutine asks etcd for the lease, and buyers wait for the
// answer.
func (c *sessions) current(ctx context.Context) (*session, error) {
	c.mu.Lock()
	s := c.last
	if s == nil || s.alive.Err() != nil {
		s = &session{etcd: c.etcd, ready: make(chan struct{})}
		s.alive, s.end = context.WithCancelCause(c.etcd.Ctx())
		c.last = s
		go s.keepAlive(c.ttl)
	}
	c.mu.Unlock()
	select {
	case <-s.ready:
	default:
		ctx, cancel := context.WithTimeoutCause(ctx, commandTimeout, errDown)
		defer cancel()
		_, err := tap.WaitWithin(ctx, "this process's lease",
			tap.NoLimit, s.ready,
			func(context.Context) error {
				<-s.ready
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return s, s.err
}

// keepAlive asks for the lease and renews it until the lease is lost or the
// client is closed. It counts each deadline from the time before the request
// was sent. The server begins to count later, so a running holder learns of
// the end before another buyer can get the lock. (The client's own KeepAlive
// counts from the answer.)
func (s *session) keepAlive(ttl time.Duration) {
	sent := time.Now()
	ctx, cancel := context.WithTimeoutCause(s.alive, commandTimeout, errDown)
	lease, err := s.etcd.Grant(ctx, int64((ttl+time.Second-1)/time.Second))
	cancel()
	if err != nil {
		s.err = err
		s.end(err)
		close(s.ready)
		return
	}
	// Use the granted lease, because etcd grants at least two seconds.
	s.id, ttl = lease.ID, time.Duration(lease.TTL)*time.Second
	silent := time.AfterFunc(time.Until(sent.Add(ttl)), func() {
		s.end(fmt.Errorf("%w: %w", lock.ErrPlaceLost, errDown))
	})
	defer silent.Stop()
	close(s.ready)

	for pause := ttl / 3; ; {
		select {
		case <-time.After(pause):
		case <-s.alive.Done():
			return
		}
		sent := time.Now()
		left, err := s.renewOnce(ttl / 3)
		switch {
		case err != nil: // try again until the lease ends
			pause = ttl / 20
		case left <= 0:
			s.end(lock.ErrPlaceLost)
			return
		default:
			silent.Reset(time.Until(sent.Add(left)))
			pause = ttl / 3
		}
	}
}

// renewOnce sends one renewal and returns the remaining life of the lease. The
// client's KeepAliveOnce would repeat the renewal without a pause while there
// is no connection.
func (s *session) renewOnce(
	limit time.Duration,
) (left time.Duration, err error) {
	ctx, cancel := context.WithTimeout(s.alive, limit)
	defer cancel()
	stream, err := pb.NewLeaseClient(s.etcd.ActiveConnection()).
		LeaseKeepAlive(ctx)
	if err != nil {
		return 0, err
	}
	err = stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(s.id)})
	if err != nil {
		return 0, err
	}
	answer, err := stream.Recv()
	if err != nil {
		return 0, err
	}
	return time.Duration(answer.TTL) * time.Second, nil
}
