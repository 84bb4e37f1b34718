package probe

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
)

// redisProbe looks into one Redis, a Cluster, a ring, or several like nodes. What a
// process that has died kept there ends by its own time.
type redisProbe struct {
	one   redis.UniversalClient // nil with several nodes
	nodes []redis.UniversalClient
	mine  func() []string // the ports of the clients that count; nil: all do
}

func newRedis(in *backend.Instance) *redisProbe {
	p := &redisProbe{one: in.Redis}
	if in.Redis != nil {
		p.nodes = append(p.nodes, in.Redis)
	}
	for _, c := range in.RedisNodes {
		p.nodes = append(p.nodes, c)
	}
	return p
}

// each visits the server where commands may wait: every primary of a Cluster,
// every shard of a ring.
func (p *redisProbe) each(ctx context.Context, visit func(context.Context, redis.UniversalClient) error) error {
	var one sync.Mutex
	inTurn := func(ctx context.Context, c *redis.Client) error {
		one.Lock()
		defer one.Unlock()
		return visit(ctx, c)
	}
	switch c := p.one.(type) {
	case nil:
		return nil
	case *redis.ClusterClient:
		return c.ForEachMaster(ctx, inTurn)
	case *redis.Ring:
		return c.ForEachShard(ctx, inTurn)
	default:
		return visit(ctx, c)
	}
}

// waiting counts clients that block (BLPOP).
func (p *redisProbe) waiting(ctx context.Context) (total int, err error) {
	err = p.eachBlocked(ctx, func(context.Context, redis.UniversalClient, int64) error {
		total++
		return nil
	})
	return total, err
}

// expire removes the lock's key, or the lease of what was read from a stream. On
// each of several nodes only what the holder wrote there ends with its lease.
func (p *redisProbe) expire(ctx context.Context, key string, h *Holder) (did string, err error) {
	for _, c := range p.nodes {
		ttl, err := c.PTTL(ctx, key).Result()
		if err != nil {
			return "", err
		}
		if ttl < 0 { // no key, or no lease
			continue
		}
		if h != nil && len(p.nodes) > 1 && !h.wrote(key, c.Get(ctx, key).Val()) {
			continue
		}
		if err := c.Del(ctx, key).Err(); err != nil {
			return "", err
		}
		did = "the key " + key + " expires"
	}
	if did != "" {
		return did, nil
	}
	return p.idle(ctx, key)
}

// blockedClient finds the flag b in a line of CLIENT LIST.
var blockedClient = regexp.MustCompile(`^id=(\d+) addr=\S*:(\d+) .* flags=\w*b`)

// eachBlocked visits the clients that block, of those that count.
func (p *redisProbe) eachBlocked(ctx context.Context, visit func(context.Context, redis.UniversalClient, int64) error) error {
	return p.each(ctx, func(ctx context.Context, c redis.UniversalClient) error {
		clients, err := c.ClientList(ctx).Result()
		if err != nil {
			return fmt.Errorf("ask Redis for its clients: %w", err)
		}
		for line := range strings.Lines(clients) {
			m := blockedClient.FindStringSubmatch(line)
			if m == nil || p.mine != nil && !slices.Contains(p.mine(), m[2]) {
				continue
			}
			id, _ := strconv.ParseInt(m[1], 10, 64)
			if err := visit(ctx, c, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// wake ends the time-out of clients that block.
func (p *redisProbe) wake(ctx context.Context) (any bool, err error) {
	err = p.eachBlocked(ctx, func(ctx context.Context, c redis.UniversalClient, id int64) error {
		any = true
		return c.ClientUnblock(ctx, id).Err()
	})
	return any, err
}

// look shows the lock's key and the counter, whatever their types.
func (p *redisProbe) look(ctx context.Context, key string, sku int64) (values []Value) {
	counter := fmt.Sprint("seckill:stock:", sku)
	for i, c := range p.nodes {
		for _, k := range []string{key, counter} {
			shown := redisValue(ctx, c, k)
			if shown == "" {
				if k == counter {
					continue
				}
				shown = "—"
			}
			if k == key && p.one == nil {
				k = fmt.Sprintf("%s on node %d", key, i+1)
			}
			values = append(values, Value{k, shown})
		}
	}
	return values
}

func redisValue(ctx context.Context, c redis.UniversalClient, key string) string {
	switch kind, _ := c.Type(ctx, key).Result(); kind {
	case "none", "":
		return ""
	case "string":
		return c.Get(ctx, key).Val()
	case "hash":
		return fmt.Sprint(c.HGetAll(ctx, key).Val())
	default:
		return "a " + kind
	}
}
