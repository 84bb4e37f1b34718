package probe

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// Only has the probes count and wake the clients at these ports and no others:
// the servers are shared.
func (s Set) Only(ports func() []string) {
	for _, p := range s {
		if r, ok := p.(*redisProbe); ok {
			r.mine = ports
		}
	}
}

// Forget implements Probe.
func (p *redisProbe) Forget(ctx context.Context, digits string) error {
	forget := func(ctx context.Context, c redis.UniversalClient) error {
		for cursor := uint64(0); ; {
			keys, next, err := c.Scan(ctx, cursor, "*:"+digits+"??????*", 1000).Result() // no shorter number is a game's
			for _, key := range keys {
				err = errors.Join(err, c.Del(ctx, key).Err())
			}
			if err != nil || next == 0 {
				return err
			}
			cursor = next
		}
	}
	if p.one != nil {
		return p.each(ctx, forget)
	}
	for _, c := range p.nodes {
		if err := forget(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// locksAt is the parent of all locks, in ZooKeeper and etcd.
const locksAt = "/seckill/locks"

func (p zookeeper) Forget(ctx context.Context, digits string) error {
	return p.removeAll(ctx, locksAt, "stock-"+digits)
}

// removeAll removes children whose names begin so, and what is below them.
func (p zookeeper) removeAll(ctx context.Context, parent, prefix string) error {
	names, _, err := p.client.Children(ctx, parent)
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		path := parent + "/" + name
		if err := p.removeAll(ctx, path, ""); err != nil {
			return err
		}
		if err := p.client.Delete(ctx, path); err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

func (p etcd) Forget(ctx context.Context, digits string) error {
	_, err := p.client.Delete(ctx, locksAt+"/stock-"+digits, clientv3.WithPrefix())
	return err
}
