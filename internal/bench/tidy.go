package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// tidy removes what released locks leave on the servers: the parent of a queue's
// nodes, rows kept for the next acquisition, and the number of the last grant.
func (p *place) tidy() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if len(p.instances) == 0 {
		return nil
	}
	in := p.instances[0]
	err := errors.Join(p.tidyNodes(ctx, in.ZooKeeper), p.tidyRows(ctx, in), p.tidyGrants(ctx, in.Redis))
	if err != nil {
		return fmt.Errorf("clean up the servers: %w", err)
	}
	return nil
}

func (p *place) tidyNodes(ctx context.Context, c *backend.ZooKeeperClient) error {
	if c == nil {
		return nil
	}
	queue := lockPath(p.sku)
	if err := c.Sweep(ctx, queue, ""); err != nil { // of contenders still waiting
		return err
	}
	for _, node := range []string{queue, "/seckill/locks", "/seckill"} {
		err := c.Delete(ctx, node)
		switch {
		case errors.Is(err, zk.ErrNotEmpty): // others' locks
			return nil
		case err != nil && !errors.Is(err, zk.ErrNoNode):
			return err
		}
	}
	return nil
}

// tidyGrants removes the number of the last grant, which outlives its lock.
func (p *place) tidyGrants(ctx context.Context, c redis.UniversalClient) error {
	if c == nil {
		return nil
	}
	return c.Del(ctx, "{"+lockName(p.sku)+"}:grants").Err()
}

func (p *place) tidyRows(ctx context.Context, in *backend.Instance) error {
	if in.LockDB == nil {
		return nil
	}
	db := in.LockDB.WithContext(ctx)
	for _, table := range []string{"distributed_lock", "lock_row", "lock_record"} {
		if !db.Migrator().HasTable(table) {
			continue
		}
		if err := db.Exec("DELETE FROM "+table+" WHERE name = ?", lockName(p.sku)).Error; err != nil {
			return err
		}
	}
	return nil
}
