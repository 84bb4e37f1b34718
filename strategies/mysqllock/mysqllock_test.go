package mysqllock

import (
	"context"
	"strings"
	"testing"
	"time"

	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/lock"
	"seckill/internal/lock/locktest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// Waits longer than the server lets one statement wait are several statements.
func TestWaitIsLongerThanTheServersLimit(t *testing.T) {
	for _, info := range []catalog.Info{LockRow, GetLock} {
		t.Run(info.Name, func(t *testing.T) {
			b := newBench(t, info, func(d *catalog.Deps) {
				config := labtest.Config(t, info.Needs...)
				config.RowLockWait = time.Second
				d.Instance = labtest.Open(t, config)
			})
			for _, wait := range []time.Duration{-1, 20 * time.Second} {
				holder := b.Take(t, lock.Options{Lease: time.Minute})
				asked := make(chan struct{}, 100)
				m := &taptest.Tap{OnBefore: func(c *tap.Command) error {
					if strings.Contains(c.Text, "FOR UPDATE") || strings.Contains(c.Text, "GET_LOCK") {
						asked <- struct{}{}
					}
					return nil
				}}
				got := make(chan error, 1)
				go func() {
					l, err := b.Acquire(tap.With(context.Background(), m), b.Key, lock.Options{Wait: wait, Lease: time.Minute})
					if err == nil {
						err = l.Release(context.Background())
					}
					got <- err
				}()
				<-asked
				<-asked // the server has ended the first wait
				locktest.Free(t, holder)
				if err := <-got; err != nil {
					t.Errorf("waiting %v: %v", wait, err)
				}
			}
		})
	}
}
