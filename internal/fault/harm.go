package fault

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// A harm is done to the process of a scene, which is locked.
type harm func(context.Context, *scene) (*Injection, error)

// injected is a fault that took effect or not. undo, unless nil, ends what lasts.
func (s *scene) injected(took bool, undo func(context.Context, *Effect) error) (*Injection, error) {
	s.seen.Took = took
	s.seen.weigh()
	return &Injection{s.seen, undo}, nil
}

func pause(ctx context.Context, s *scene) (*Injection, error) {
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
	return s.injected(paused == nil, func(ctx context.Context, e *Effect) error {
		p.Harm.Lock()
		defer p.Harm.Unlock()
		if !e.Took || p.Done() != run || !p.Paused() {
			e.void(WentOn)
		} else {
			e.Stood = int(time.Since(begun).Milliseconds())
		}
		if p.Done() != run || !p.Alive() {
			return nil
		}
		return p.Resume()
	})
}

// kill ends the process until it is undone.
func kill(ctx context.Context, s *scene) (*Injection, error) {
	p := s.process
	run := p.Done()
	if err := p.Kill(ctx); err != nil {
		return nil, err
	}
	return s.injected(!p.Alive(), func(ctx context.Context, _ *Effect) error {
		p.Harm.Lock()
		defer p.Harm.Unlock()
		if p.Done() != run {
			return nil
		}
		return p.Restart(ctx)
	})
}

// restart kills a server and starts it again, on its data.
func restart(ctx context.Context, s *scene) (*Injection, error) {
	run := s.process.Done()
	if err := s.process.Kill(ctx); err != nil {
		return nil, err
	}
	// It comes back whatever becomes of the caller: there is only one.
	if err := s.process.Restart(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	return s.injected(s.process.Done() != run, nil)
}

// restartEmpty restarts Redis, which took effect if the mark in it is gone.
func restartEmpty(ctx context.Context, s *scene) (*Injection, error) {
	if err := s.markRedis(ctx); err != nil {
		return nil, fmt.Errorf("leave a mark in Redis: %w", err)
	}
	i, err := restart(ctx, s)
	if err != nil {
		return nil, err
	}
	kept, err := s.redisMarked(context.WithoutCancel(ctx))
	if err != nil {
		return nil, fmt.Errorf("look for the mark in Redis: %w", err)
	}
	if kept {
		i.Effect.void(DataKept)
	}
	return i, nil
}

// partition holds back what passes between a process and a server, both ways. It
// arrives in the end.
func partition(_ context.Context, s *scene) (*Injection, error) {
	return s.hold((*lab.Relay).Flow, lab.Requests, lab.Replies)
}

// loseReplies holds back what a server answers, and loses it.
func loseReplies(_ context.Context, s *scene) (*Injection, error) {
	return s.hold((*lab.Relay).Drop, lab.Replies)
}

func (s *scene) hold(end func(*lab.Relay), directions ...int) (*Injection, error) {
	begun := time.Now()
	s.link.Hold(directions...)
	return s.injected(true, func(_ context.Context, e *Effect) error {
		end(s.link)
		e.Stood = int(time.Since(begun).Milliseconds())
		if s.link.Held() == 0 {
			e.void(NothingPassed)
		}
		return nil
	})
}

// lose kills the leader of several, and starts it again when it is undone.
func lose(ctx context.Context, s *scene) (*Injection, error) {
	if !s.servers.Whole() {
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
	next, err := s.servers.Leader(ctx) // the others must go on
	if err != nil {
		return nil, errors.Join(err, restart(context.WithoutCancel(ctx)))
	}
	return s.injected(next != p, func(ctx context.Context, _ *Effect) error {
		p.Harm.Lock()
		defer p.Harm.Unlock()
		return restart(ctx)
	})
}

// failover stops replication while the primary goes on to acknowledge writes, of
// which the mark is one. Then it loses the primary: sentinels promote a replica
// that does not have them. The old primary comes back as a replica.
func failover(ctx context.Context, s *scene) (*Injection, error) {
	primary := s.process
	err := s.servers.Lag(ctx)
	if err == nil {
		if err = s.markRedis(ctx); err != nil {
			err = fmt.Errorf("leave a mark in Redis: %w", err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.servers.Heal(context.WithoutCancel(ctx)))
	}
	return s.injected(true, func(ctx context.Context, e *Effect) error {
		primary.Harm.Lock()
		err := s.servers.Lose(ctx, primary)
		primary.Harm.Unlock()
		if err != nil {
			return errors.Join(fmt.Errorf("have a replica take over: %w", err), s.servers.Heal(ctx))
		}
		kept, err := s.redisMarked(ctx)
		if err == nil && kept {
			e.void(DataKept)
		}
		return errors.Join(err, s.servers.Heal(ctx))
	})
}

const redisMark = "seckill:lab:mark"

func (s *scene) markRedis(ctx context.Context) error {
	return s.onRedis(ctx, func(in *backend.Instance) error { return in.Redis.Set(ctx, redisMark, 1, 0).Err() })
}

func (s *scene) redisMarked(ctx context.Context) (there bool, err error) {
	err = s.onRedis(ctx, func(in *backend.Instance) error {
		n, err := in.Redis.Exists(ctx, redisMark).Result()
		there = n > 0
		return err
	})
	return there, err
}

func (s *scene) onRedis(ctx context.Context, do func(*backend.Instance) error) error {
	in, err := backend.Open(ctx, s.lab.Config().Only(backend.Redis))
	if err != nil {
		return err
	}
	defer in.Close()
	return do(in)
}

// lockRow holds the row for longer than a statement waits for it (error 1205).
func lockRow(ctx context.Context, s *scene) (*Injection, error) {
	c := s.lab.Config().Only(backend.SQL)
	c.RowLockWait = harming // buyers are before it
	in, err := backend.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	tx := in.DB.WithContext(context.WithoutCancel(ctx)).Begin()
	var num int64
	err = tx.WithContext(ctx).Raw("SELECT num FROM stock WHERE id = ? FOR UPDATE", s.aim.SKU).Scan(&num).Error
	waited, unread := rowLockWaits(ctx, in.DB) // after this one, which may have waited, too
	if err = errors.Join(err, unread); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", LockRow, err), tx.Rollback().Error, in.Close())
	}
	begun := time.Now()
	return s.injected(true, func(ctx context.Context, e *Effect) error {
		defer in.Close()
		after, err := rowLockWaits(ctx, in.DB)
		e.Stood = int(time.Since(begun).Milliseconds())
		if after == waited {
			e.void(NotMet)
		}
		return errors.Join(err, tx.Rollback().Error)
	})
}

// rowLockWaits is how often statements have waited for rows, as the server counts.
func rowLockWaits(ctx context.Context, db *gorm.DB) (n int64, err error) {
	var name string
	err = db.WithContext(ctx).Raw("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'").Row().Scan(&name, &n)
	return n, err
}
