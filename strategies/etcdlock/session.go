package etcdlock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"seckill/internal/tap"
)

// sessions gives all locks of one process one lease, which it keeps alive for
// as long as the process lives. A lease for every lock would cost two more
// round trips to a majority of the servers: to grant it, and to revoke it.
type sessions struct {
	etcd *clientv3.Client
	ttl  time.Duration

	mu   sync.Mutex
	last *session
}

func newSessions(etcd *clientv3.Client, ttl time.Duration) *sessions {
	return &sessions{etcd: etcd, ttl: ttl}
}

// A session is one lease, from its grant to its end. A key that belongs to
// its lease goes with it.
type session struct {
	etcd  *clientv3.Client
	ready chan struct{} // closed when it is granted, or refused with err
	id    clientv3.LeaseID
	err   error

	alive context.Context
	end   context.CancelCauseFunc

	mu    sync.Mutex
	names int          // made so far
	spare []int        // of those, free to be used again
	left  []*contender // whose keys could not be deleted yet
}

// patience is how long a command may take: without a connection, the client
// waits for one for as long as it is let.
const patience = 2 * time.Second

var (
	errBusy = errors.New("the wait is over")
	errGone = errors.New("our key is gone, or our lease")
	errDown = errors.New("etcd does not answer")
)

// get returns the session that is alive, or a new one. Its grant belongs to
// the process, not to the buyer that happens to come first.
func (c *sessions) get(ctx context.Context) (*session, error) {
	c.mu.Lock()
	s := c.last
	if s == nil || s.alive.Err() != nil {
		s = &session{etcd: c.etcd, ready: make(chan struct{})}
		s.alive, s.end = context.WithCancelCause(c.etcd.Ctx())
		c.last = s
		go s.live(c.ttl)
	}
	c.mu.Unlock()
	select {
	case <-s.ready:
	default:
		ctx, cancel := context.WithTimeoutCause(ctx, patience, errDown)
		defer cancel()
		_, err := tap.WaitAtMost(ctx, "this process's lease",
			tap.Forever, s.ready,
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

// live has the lease granted and keeps it alive until it is lost or the
// client is closed. Every deadline is counted from before its request was
// sent: the server began to count later, so a holder that runs is told before
// its successor gets in. (The client's own KeepAlive counts from the answer.)
func (s *session) live(ttl time.Duration) {
	sent := time.Now()
	ctx, cancel := context.WithTimeoutCause(s.alive, patience, errDown)
	lease, err := s.etcd.Grant(ctx, int64((ttl+time.Second-1)/time.Second))
	cancel()
	if err != nil {
		s.err = err
		s.end(err)
		close(s.ready)
		return
	}
	// The smallest lease that etcd grants is two seconds, whatever we asked.
	s.id, ttl = lease.ID, time.Duration(lease.TTL)*time.Second
	silent := time.AfterFunc(time.Until(sent.Add(ttl)), func() {
		s.end(fmt.Errorf("%w: %w", errGone, errDown))
	})
	defer silent.Stop()
	close(s.ready)

	for pause := ttl / 3; ; {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-s.alive.Done():
			timer.Stop()
			return
		}
		sent := time.Now()
		left, err := s.renew(ttl / 3)
		switch {
		case err != nil: // it may pass; silent has the last word
			pause = ttl / 20
		case left <= 0:
			s.end(errGone)
			return
		default:
			silent.Reset(time.Until(sent.Add(left)))
			pause = ttl / 3
		}
	}
}

// renew asks once. The client's KeepAliveOnce would ask again without a pause
// for as long as there is no connection.
func (s *session) renew(limit time.Duration) (left time.Duration, err error) {
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
