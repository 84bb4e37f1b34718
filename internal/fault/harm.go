package fault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// A harm is the function that performs a fault, such as killing the process strike.process. The caller holds the
// mutex Harm of that process.
type harm func(context.Context, *strike) (*Injection, error)

// newInjection returns the Injection of a fault that has happened. The function undo ends the fault. If the fault has
// ended already, undo is nil.
func (s *strike) newInjection(tookEffect bool, undo func(context.Context, *Effect) error) (*Injection, error) {
	e := s.before
	e.TookEffect = tookEffect
	e.judgeMatter()
	return &Injection{e, undo}, nil
}

func pauseProcess(ctx context.Context, s *strike) (*Injection, error) {
	p := s.process
	if p.Paused() {
		return nil, fmt.Errorf("%s is paused already", p.Name)
	}
	run, begun := p.Done(), time.Now()
	if err := p.Pause(); err != nil {
		return nil, err
	}
	paused := lab.Await(ctx, time.Second, func(context.Context) error {
		if !p.Paused() {
			return errors.New("it runs")
		}
		return nil
	})
	return s.newInjection(paused == nil, func(ctx context.Context, e *Effect) error {
		p.Harm.Lock()
		defer p.Harm.Unlock()
		if !e.TookEffect || p.Done() != run || !p.Paused() {
			e.markIneffective(WentOn)
		} else {
			e.StandstillMS = int(time.Since(begun).Milliseconds())
		}
		if p.Done() != run || !p.Alive() {
			return nil
		}
		return p.Resume()
	})
}

// killProcess kills the process. Undo starts it again.
func killProcess(ctx context.Context, s *strike) (*Injection, error) {
	p := s.process
	run := p.Done()
	if err := p.Kill(ctx); err != nil {
		return nil, err
	}
	return s.newInjection(!p.Alive(), func(ctx context.Context, _ *Effect) error {
		p.Harm.Lock()
		defer p.Harm.Unlock()
		if p.Done() != run {
			return nil
		}
		return p.Restart(ctx)
	})
}

// restartServer kills a server and starts it again with its data.
func restartServer(ctx context.Context, s *strike) (*Injection, error) {
	run := s.process.Done()
	if err := s.process.Kill(ctx); err != nil {
		return nil, err
	}
	// The server must come back even if ctx ends, because it is the only one of its kind.
	if err := s.process.Restart(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	return s.newInjection(s.process.Done() != run, nil)
}

// restartEmptyRedis sets a key and restarts Redis. If the key is gone after the restart, Redis has lost its data,
// and the fault took effect.
func restartEmptyRedis(ctx context.Context, s *strike) (*Injection, error) {
	if err := s.markRedis(ctx); err != nil {
		return nil, err
	}
	i, err := restartServer(ctx, s)
	if err != nil {
		return nil, err
	}
	kept, err := s.hasRedisMark(context.WithoutCancel(ctx))
	if kept {
		i.Effect.markIneffective(DataKept)
	}
	return i, err
}

// partitionLink holds back the bytes between a process and a server in both directions. Undo delivers these bytes.
func partitionLink(_ context.Context, s *strike) (*Injection, error) {
	return s.holdLink((*lab.Relay).Release, lab.Requests, lab.Replies)
}

// loseReplies holds back the replies of a server to a process. Undo drops these replies and closes their connections.
func loseReplies(_ context.Context, s *strike) (*Injection, error) {
	return s.holdLink((*lab.Relay).CloseConnections, lab.Replies)
}

func (s *strike) holdLink(end func(*lab.Relay), directions ...int) (*Injection, error) {
	begun := time.Now()
	s.link.Hold(directions...)
	return s.newInjection(true, func(_ context.Context, e *Effect) error {
		end(s.link)
		e.StandstillMS = int(time.Since(begun).Milliseconds())
		if s.link.HeldBytes() == 0 {
			e.markIneffective(NothingPassed)
		}
		return nil
	})
}

// loseLeader kills the leader of an ensemble of servers and waits until the others have elected a
// new leader. Undo starts the killed server again.
func loseLeader(ctx context.Context, s *strike) (*Injection, error) {
	if slices.ContainsFunc(s.servers.Nodes, func(p *lab.Process) bool { return !p.Alive() }) {
		return nil, fmt.Errorf("one of the servers beside %s is lost already", s.process.Name)
	}
	p, run := s.process, s.process.Done()
	if err := p.Kill(ctx); err != nil {
		return nil, err
	}
	restart := func(ctx context.Context) error {
		if p.Done() == run {
			if err := p.Restart(ctx); err != nil {
				return err
			}
		}
		_, err := s.servers.Leader(ctx)
		return err
	}
	next, err := s.servers.Leader(ctx)
	if err != nil {
		return nil, errors.Join(err, restart(context.WithoutCancel(ctx)))
	}
	return s.newInjection(next != p, func(ctx context.Context, _ *Effect) error {
		p.Harm.Lock()
		defer p.Harm.Unlock()
		return restart(ctx)
	})
}

// failOverRedis stops replication and sets a key, which the primary acknowledges and does not replicate. Undo kills
// the primary. The sentinels then promote a replica without the key, and the old primary becomes a replica.
func failOverRedis(ctx context.Context, s *strike) (*Injection, error) {
	primary := s.process
	err := s.servers.StopReplication(ctx)
	if err == nil {
		err = s.markRedis(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.servers.Repair(context.WithoutCancel(ctx)))
	}
	return s.newInjection(true, func(ctx context.Context, e *Effect) error {
		primary.Harm.Lock()
		err := s.servers.KillNode(ctx, primary)
		primary.Harm.Unlock()
		if err != nil {
			return errors.Join(fmt.Errorf("have a replica take over: %w", err), s.servers.Repair(ctx))
		}
		kept, err := s.hasRedisMark(ctx)
		if err == nil && kept {
			e.markIneffective(DataKept)
		}
		return errors.Join(err, s.servers.Repair(ctx))
	})
}

// redisMark is the key that shows whether Redis has lost its data.
const redisMark = "seckill:lab:mark"

func (s *strike) markRedis(ctx context.Context) error {
	return s.withRedis(ctx, func(in *backend.Instance) error { return in.Redis.Set(ctx, redisMark, 1, 0).Err() })
}

func (s *strike) hasRedisMark(ctx context.Context) (bool, error) {
	var n int64
	err := s.withRedis(ctx, func(in *backend.Instance) (err error) {
		n, err = in.Redis.Exists(ctx, redisMark).Result()
		return err
	})
	return n > 0, err
}

func (s *strike) withRedis(ctx context.Context, do func(*backend.Instance) error) error {
	in, err := backend.Open(ctx, s.lab.Config().Only(backend.Redis))
	if err == nil {
		err = errors.Join(do(in), in.Close())
	}
	if err != nil {
		return fmt.Errorf("write or read a mark in Redis: %w", err)
	}
	return nil
}

// lockStockRow locks the stock row for longer than statements wait for a row lock (error 1205).
func lockStockRow(ctx context.Context, s *strike) (*Injection, error) {
	c := s.lab.Config().Only(backend.SQL)
	c.RowLockWait = harmTimeout // a buyer may have locked the row, so the SELECT below may wait long
	in, err := backend.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	tx := in.DB.WithContext(context.WithoutCancel(ctx)).Begin()
	var num int64
	err = tx.WithContext(ctx).Raw("SELECT num FROM stock WHERE id = ? FOR UPDATE", s.aim.SKU).Scan(&num).Error
	// The SELECT may itself have waited for a row lock. So the waits are counted from here on, when buyers wait.
	waits, errWaits := rowLockWaits(ctx, in.DB)
	if err = errors.Join(err, errWaits); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the stock row: %w", err), tx.Rollback().Error, in.Close())
	}
	begun := time.Now()
	return s.newInjection(true, func(ctx context.Context, e *Effect) error {
		defer in.Close()
		after, err := rowLockWaits(ctx, in.DB)
		e.StandstillMS = int(time.Since(begun).Milliseconds())
		if after == waits {
			e.markIneffective(NotMet)
		}
		return errors.Join(err, tx.Rollback().Error)
	})
}

// rowLockWaits returns how often statements have waited for row locks since the server started.
func rowLockWaits(ctx context.Context, db *gorm.DB) (int64, error) {
	var name string
	var n int64
	err := db.WithContext(ctx).Raw("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'").Row().Scan(&name, &n)
	return n, err
}

// pauseHolderProcess pauses the process of the held purchase. In that process, the purchase is held no longer than the
// pause lasts. So when the process continues, the purchase does too, before it can learn that its lease has ended.
func pauseHolderProcess(ctx context.Context, s *strike) (*Injection, error) {
	i, err := pauseProcess(ctx, s)
	if err != nil {
		return nil, err
	}
	resume := i.Undo
	i.Undo = func(ctx context.Context, e *Effect) error {
		defer s.releasePurchase()
		return resume(ctx, e)
	}
	return i, nil
}

// hangPurchase holds the purchase until Undo releases it. The process itself goes on.
func hangPurchase(_ context.Context, s *strike) (*Injection, error) {
	begun := time.Now()
	return s.newInjection(true, func(_ context.Context, e *Effect) error {
		e.StandstillMS = int(time.Since(begun).Milliseconds())
		s.releasePurchase()
		if !s.process.Alive() {
			e.markIneffective(WentOn)
		}
		return nil
	})
}

// cutConnections closes the connections of the holder's process. Sessions that a backend ties to a connection end
// with the connection. The purchase stays held until Undo, so that another buyer can get the lock first.
func cutConnections(ctx context.Context, s *strike) (*Injection, error) {
	closed, err := s.pointsOf(s.process).Cut(ctx)
	if err == nil && closed == 0 {
		err = fmt.Errorf("%s had no connection to cut", s.process.Name)
	}
	if err != nil {
		return nil, err
	}
	return hangPurchase(ctx, s)
}
