package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/catalog"
	"seckill/internal/tap"
)

// A redisProbe probes one Redis server, a Cluster, a ring, or several independent nodes.
type redisProbe struct {
	single redis.UniversalClient // nil if there are several independent nodes
	nodes  []redis.UniversalClient
	stored catalog.Stored
}

// isBlocked matches a client with the flag b (blocked) in CLIENT LIST.
var isBlocked = regexp.MustCompile(`^id=(\d+) addr=\S*:(\d+) .* flags=\w*b`)

// waits returns the clients that wait in a blocking command (BLPOP). It asks all primaries of a Cluster, or all
// shards of a ring.
func (p *redisProbe) waits(ctx context.Context) (list []Wait, err error) {
	var one sync.Mutex
	ask := func(ctx context.Context, c *redis.Client) error {
		clients, err := c.ClientList(ctx).Result()
		if err != nil {
			return fmt.Errorf("ask Redis for its clients: %w", err)
		}
		one.Lock()
		defer one.Unlock()
		for line := range strings.Lines(clients) {
			if m := isBlocked.FindStringSubmatch(line); m != nil {
				id, _ := strconv.ParseInt(m[1], 10, 64)
				list = append(list, Wait{Backend: tap.Redis, Port: m[2],
					Why:  "Redis counts it among its blocked clients",
					wake: func(ctx context.Context) error { return c.ClientUnblock(ctx, id).Err() }})
			}
		}
		return nil
	}
	if p.single != nil {
		err = p.eachServer(ctx, ask)
	}
	return list, err
}

func (p *redisProbe) eachServer(ctx context.Context, visit func(context.Context, *redis.Client) error) (err error) {
	for _, c := range p.nodes {
		switch c := c.(type) {
		case *redis.Client:
			err = errors.Join(err, visit(ctx, c))
		case *redis.ClusterClient:
			err = c.ForEachMaster(ctx, visit)
		case *redis.Ring:
			err = c.ForEachShard(ctx, visit)
		}
	}
	return err
}

// expire deletes the lock's key if the key has a lease. On several nodes, it deletes only keys that the holder has
// written. If the strategy uses a stream, expire instead makes old the entries that a writer has read and not finished
// (see ageScript).
func (p *redisProbe) expire(ctx context.Context, key string, sku int64, h *Holder) (string, error) {
	if p.stored.Entries != nil {
		return p.ageEntries(ctx, p.stored.Entries(sku))
	}
	var did string
	for _, c := range p.nodes {
		ttl, err := c.PTTL(ctx, key).Result()
		if err != nil {
			return "", err
		}
		if ttl < 0 { // there is no key, or the key has no lease
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
	return did, nil
}

func (p *redisProbe) values(ctx context.Context, key string, sku int64) []Value {
	keys := []string{key}
	if p.stored.RedisKeys != nil {
		keys = append(keys, p.stored.RedisKeys(sku)[0])
	}
	var values []Value
	for i, c := range p.nodes {
		for _, k := range keys {
			if k == "" { // the strategy is not a lock, so there is no key
				continue
			}
			shown := cmp.Or(redisValue(ctx, c, k), "—")
			if p.single == nil {
				k = fmt.Sprintf("%s on node %d", k, i+1)
			}
			values = append(values, Value{k, shown})
		}
	}
	return values
}

// giveUp does nothing, because everything that Redis stores for a process ends by itself with a lease.
func (p *redisProbe) giveUp(context.Context, string, *Holder) ([]string, error) { return nil, nil }

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

// ageScript changes the entries of a stream that a writer has read and not finished. They then look as if they had
// been read ARGV[1] ms ago. This time is longer than any lease, so other writers may take the entries over.
const ageScript = `
local aged = 0
if redis.call('EXISTS', KEYS[1]) == 1 then
	for _, e in ipairs(redis.call('XPENDING', KEYS[1], 'writers', '-', '+', 1000)) do
		if e[3] < ARGV[1] / 2 then
			redis.call('XCLAIM', KEYS[1], 'writers', e[2], 0, e[1], 'IDLE', ARGV[1], 'JUSTID')
			aged = aged + 1
		end
	end
end
return aged`

func (p *redisProbe) ageEntries(ctx context.Context, stream string) (string, error) {
	aged, err := p.single.Eval(ctx, ageScript, []string{stream}, time.Hour.Milliseconds()).Int()
	if aged == 0 {
		return "", err
	}
	return fmt.Sprintf("%d entries of the stream may be taken over", aged), err
}
