package prove

import (
	"context"
	"errors"
	"fmt"

	"seckill/internal/explore"
	"seckill/internal/seckill"
)

func (b *bench) reentrant(ctx context.Context, _ int) (Cell, error) {
	p, sku, err := b.opened(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer p.In.Close()
	key, o := b.info.Key(sku), b.info.LockOptions(realSettings())
	outer, err := p.Locker.Acquire(ctx, key, o)
	if err != nil {
		return Cell{}, err
	}
	defer outer.Release(context.WithoutCancel(ctx))
	o.Wait = 0
	inner, err := p.Locker.Acquire(outer.Context(), key, o)
	switch {
	case errors.Is(err, seckill.ErrBusy):
		return Cell{Answer: Measured, Text: "no; the holder would wait for itself"}, nil
	case err != nil:
		return Cell{}, err
	}
	if err := inner.Release(ctx); err != nil {
		return Cell{}, fmt.Errorf("release the inner lease: %w", err)
	}
	// It must be held still: another process must not get it.
	other, err := b.party(ctx)
	if err != nil {
		return Cell{}, err
	}
	defer other.In.Close()
	if stranger, err := other.Locker.Acquire(ctx, key, o); err == nil {
		stranger.Release(ctx)
		s, err := b.sound(ctx, 2)
		if err != nil {
			return Cell{}, err
		}
		if s.unsound() {
			return Cell{Answer: Measured, Text: "yes"}, nil
		}
		return Cell{Answer: Measured, Text: "no; the inner lock excludes no one, or its release freed the outer one"}, nil
	}
	return Cell{Answer: Measured, Text: "yes"}, nil
}

// releasedTwice asks whether releasing a second time, when another buyer has
// the lock, frees that buyer's.
func (b *bench) releasedTwice(ctx context.Context, c Cell) (Cell, error) {
	p, sku, err := b.opened(ctx)
	if err != nil {
		return c, err
	}
	defer p.In.Close()
	key, o := b.info.Key(sku), b.info.LockOptions(realSettings())
	first, err := p.Locker.Acquire(ctx, key, o)
	if err != nil {
		return c, err
	}
	if err := first.Release(ctx); err != nil {
		return c, err
	}
	second, err := p.Locker.Acquire(ctx, key, o)
	if err != nil {
		return c, err
	}
	defer second.Release(context.WithoutCancel(ctx))
	_ = first.Release(ctx)
	o.Wait = 0
	third, err := p.Locker.Acquire(ctx, key, o)
	if err == nil {
		third.Release(ctx)
		c.Answer, c.Rule, c.Text = Breaks, explore.RuleOverlap, "a second release frees the next holder's lock"
		return c, nil
	}
	if !errors.Is(err, seckill.ErrBusy) {
		return c, err
	}
	return c, nil
}
