package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/tap"
)

// parseRing reads NAME=ADDRESS of each shard. All shards share one login.
func parseRing(list []string) (hosts map[string]string, login RedisAddress, err error) {
	hosts = map[string]string{}
	var addresses []string
	for _, shard := range list {
		name, address, named := strings.Cut(shard, "=")
		if name = strings.TrimSpace(name); !named || name == "" || strings.ContainsAny(name, ":/@ ") {
			return nil, login, fmt.Errorf("--redis-ring: a shard is NAME=HOST:PORT, such as a=10.0.0.1:6379: the name decides which keys it has; got %q",
				ShowAddresses([]string{shard}))
		}
		a, err := ParseRedis(address)
		if err != nil {
			return nil, login, fmt.Errorf("--redis-ring: shard %s: %w", name, err)
		}
		hosts[name], addresses = a.Host, append(addresses, address)
	}
	if len(hosts) < len(list) {
		return nil, login, errors.New("--redis-ring: each shard has a name of its own")
	}
	_, login, err = parseRedisList(addresses)
	return hosts, login, err
}

// newRing is a client that chooses a key's shard by the hash of the key and of
// the shards' names (rendezvous hashing). A command is sent once, as to one
// server. The keys of a shard that does not answer are unavailable: by default
// go-redis would give them to the others, which know nothing of its locks and
// counters.
func (in *Instance) newRing() (redis.UniversalClient, error) {
	hosts, login, err := parseRing(in.Config.RedisRing)
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for name, host := range hosts {
		names[host] = name
	}
	wait := cmp.Or(in.Config.RedisTimeout, 3*time.Second)
	o := &redis.RingOptions{
		Addrs: hosts, Username: login.User, Password: login.Password, Dialer: in.dialRedis(login.TLS),
		NewClient: func(o *redis.Options) *redis.Client {
			c := redis.NewClient(o)
			c.AddHook(tap.RedisHook{Node: names[o.Addr]})
			return c
		},
		MaxRetries:            -1, // 0 would be three
		DialTimeout:           dialTimeout,
		DialerRetries:         1, // a shard that is gone is not waited for
		ReadTimeout:           wait,
		WriteTimeout:          wait,
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
