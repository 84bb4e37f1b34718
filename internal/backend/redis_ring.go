package backend

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"seckill/internal/tap"
)

// newRing is a client that chooses a key's shard by the hash of the key and of
// the shard's number (rendezvous hashing). A command is sent once, as to one
// server. The keys of a shard that does not answer are unavailable: by default
// go-redis would give them to the others, which know nothing of its locks and
// counters.
func (in *Instance) newRing() (redis.UniversalClient, error) {
	addresses, login, err := parseRedisList(in.Config.RedisRing)
	if err != nil {
		return nil, err
	}
	hosts, names := map[string]string{}, map[string]string{}
	for i, host := range addresses {
		name := fmt.Sprint("shard-", i+1)
		hosts[name], names[host] = host, name
	}
	o := &redis.RingOptions{
		Addrs: hosts, Username: login.Username, Password: login.Password, Dialer: in.dialRedis(login.TLSConfig != nil),
		NewClient: func(o *redis.Options) *redis.Client {
			c := redis.NewClient(o)
			c.AddHook(tap.RedisHook{Node: names[o.Addr]})
			return c
		},
		MaxRetries:            -1, // 0 would be three
		DialTimeout:           dialTimeout,
		DialerRetries:         1, // a shard that is gone is not waited for
		ReadTimeout:           redisWait,
		WriteTimeout:          redisWait,
		ContextTimeoutEnabled: true,
		PoolSize:              redisConns,
		DisableIdentity:       true,
		HeartbeatFn:           func(context.Context, *redis.Client) bool { return true },
	}
	return redis.NewRing(o), nil
}

// askRing needs every shard: each has keys that no other has.
func askRing(ctx context.Context, ring *redis.Ring) error {
	return ring.ForEachShard(ctx, func(ctx context.Context, shard *redis.Client) error {
		if err := shard.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("the shard at %s: %w", shard.Options().Addr, err)
		}
		return nil
	})
}
