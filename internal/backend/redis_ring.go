package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/tap"
)

// What becomes of the keys of a shard that does not answer.
const (
	// RingRefuse: its keys are unavailable until it answers again.
	RingRefuse = "refuse"
	// RingRehash: they move to the other shards, and back when it answers, as
	// go-redis does by itself. A lock or a counter there starts from nothing.
	RingRehash = "rehash"
)

// ringMark is a key of every shard. It says which shard of which ring it is:
// services that do not agree would keep the same lock on two servers.
const ringMark = "seckill:ring"

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
		for other, host := range hosts {
			if other == name || host == a.Host {
				return nil, login, fmt.Errorf("--redis-ring: %s is there twice: each shard has a name and a server of its own", name)
			}
		}
		hosts[name], addresses = a.Host, append(addresses, address)
	}
	if len(hosts) < 2 {
		return nil, login, errors.New("--redis-ring: a ring has two shards or more; one server is --redis-addrs")
	}
	_, login, err = parseRedisList(addresses)
	return hosts, login, err
}

// newRing is a client that chooses a key's shard by the hash of the key and of
// the shards' names (rendezvous hashing). A command is sent once, as to one
// server. By default go-redis gives the keys of a shard whose heartbeats fail
// to the others: see RingRehash.
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
	}
	if in.Config.RedisRingLost != RingRehash {
		o.HeartbeatFn = func(context.Context, *redis.Client) bool { return true }
	}
	ring := redis.NewRing(o)
	ring.AddHook(oneShard{ring})
	return ring, nil
}

// meetRing asks every shard for its version, and marks it as the one of its name.
func meetRing(ctx context.Context, ring *redis.Ring) (info string, err error) {
	hosts := ring.Options().Addrs
	names := slices.Sorted(maps.Keys(hosts))
	for _, name := range names {
		c := shardAt(ring, hosts[name])
		if info, err = c.Info(ctx).Result(); err != nil {
			return "", fmt.Errorf("shard %s at %s: %w", name, hosts[name], err)
		}
		is := name + " of " + strings.Join(names, ",")
		if err := c.SetNX(ctx, ringMark, is, 0).Err(); err != nil {
			return "", fmt.Errorf("mark shard %s at %s: %w", name, hosts[name], err)
		}
		if was, err := c.Get(ctx, ringMark).Result(); err != nil {
			return "", fmt.Errorf("read the mark of shard %s at %s: %w", name, hosts[name], err)
		} else if was != is {
			return "", fmt.Errorf("the Redis at %s is shard %s of the services that use it, and here it is %s: all services must give the same --redis-ring; "+
				"to change the ring, stop all of them, delete the key %s on every shard, and set the stock again", hosts[name], was, is, ringMark)
		}
	}
	return info, nil
}

func shardAt(ring *redis.Ring, host string) *redis.Client {
	for _, c := range ring.GetShardClients() {
		if c.Options().Addr == host {
			return c
		}
	}
	return nil
}

// ShardOf is the host:port of the shard that has a key while all answer.
func ShardOf(c Config, key string) (host string, err error) {
	in := &Instance{Config: c, Dialer: &Dialer{}}
	in.Config.RedisRingLost = RingRefuse // so nothing is sent
	client, err := in.newRing()
	if err != nil {
		return "", err
	}
	defer client.Close()
	shard, err := client.(*redis.Ring).GetShardClientForKey(key)
	if err != nil {
		return "", err
	}
	return shard.Options().Addr, nil
}

// askRing needs every shard: each has keys that no other has.
func askRing(ctx context.Context, ring *redis.Ring) error {
	hosts := ring.Options().Addrs
	names := slices.Sorted(maps.Keys(hosts))
	errs := make([]error, len(names))
	var asking sync.WaitGroup
	for i, name := range names {
		c := shardAt(ring, hosts[name])
		if c == nil {
			errs[i] = fmt.Errorf("shard %s at %s is dropped", name, hosts[name])
			continue
		}
		asking.Go(func() {
			if err := c.Ping(ctx).Err(); err != nil {
				errs[i] = fmt.Errorf("shard %s at %s: %w", name, hosts[name], err)
			}
		})
	}
	asking.Wait()
	return errors.Join(errs...)
}

// oneShard refuses a command, script or transaction whose keys are on several
// shards, before anything is sent. A Cluster answers CROSSSLOT. go-redis' Ring goes
// by the first key and finds nothing of the others there, and makes one
// transaction for each shard.
type oneShard struct{ ring *redis.Ring }

func (oneShard) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s oneShard) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := s.check(keysOf(cmd)); err != nil {
			return err
		}
		return next(ctx, cmd)
	}
}

func (s oneShard) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		var all []string
		together := len(cmds) > 0 && cmds[0].Name() == "multi"
		for _, cmd := range cmds {
			keys := keysOf(cmd)
			if together {
				all = append(all, keys...)
				keys = all
			}
			if err := s.check(keys); err != nil {
				for _, cmd := range cmds {
					cmd.SetErr(err)
				}
				return err
			}
		}
		return next(ctx, cmds)
	}
}

func (s oneShard) check(keys []string) error {
	var first *redis.Client
	for i, key := range keys {
		c, err := s.ring.GetShardClientForKey(key)
		if err != nil {
			return err
		}
		if i == 0 {
			first = c
		} else if c != first {
			return fmt.Errorf("the keys %s and %s are on different shards of the ring: give them the same {tag}", keys[0], key)
		}
	}
	return nil
}

// keysOf are the keys of the commands that strategies send with several; of
// others the first argument.
func keysOf(cmd redis.Cmder) (keys []string) {
	args := cmd.Args()
	text := func(i int) string { return fmt.Sprint(args[i]) }
	from, to := 1, 2
	switch cmd.Name() {
	case "multi", "exec":
		return nil
	case "eval", "evalsha", "eval_ro", "evalsha_ro":
		if len(args) < 3 {
			return nil
		}
		var n int
		if _, err := fmt.Sscan(text(2), &n); err != nil {
			return nil
		}
		from, to = 3, 3+n
	case "del", "unlink", "exists", "mget", "touch", "watch":
		to = len(args)
	case "blpop", "brpop": // the last is how long to wait
		to = len(args) - 1
	}
	for i := from; i < min(to, len(args)); i++ {
		keys = append(keys, text(i))
	}
	return keys
}
