package backend

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/tap"
)

// DefaultMaster is the name of a Redis that sentinels watch, if none is given:
// that of the configuration which comes with Redis.
const DefaultMaster = "mymaster"

// RedisAddresses are those of Redis, of its sentinels or of its shards,
// whichever is configured.
func (c Config) RedisAddresses() []string {
	kind, _ := KindNamed(NameRedis)
	return kind.In(c)
}

// checkRedis finds settings that exclude each other.
func (c Config) checkRedis() error {
	kind, _ := KindNamed(NameRedis)
	ways := 0
	for _, a := range kind.Addresses {
		if len(a.In(c)) > 0 {
			ways++
		}
	}
	switch {
	case ways > 1:
		return fmt.Errorf("%s are given: give --redis-addrs; or --redis-sentinels, which know where Redis is; or --redis-ring, which has several", kind.Flags(c))
	case len(c.RedisSentinels) == 0 && c.RedisMasterName != "":
		return errors.New("--redis-master-name is a name that sentinels know: give --redis-sentinels as well")
	case len(c.RedisRing) == 0 && c.RedisRingLost != "":
		return errors.New("--redis-ring-lost is about shards: give --redis-ring as well")
	case c.RedisRingLost != "" && c.RedisRingLost != RingRefuse && c.RedisRingLost != RingRehash:
		return fmt.Errorf("--redis-ring-lost is %s or %s, not %q", RingRefuse, RingRehash, c.RedisRingLost)
	}
	return nil
}

// newFailover is a client of the primary that the sentinels name. It asks them
// when it opens a connection, and closes all connections to the old primary when
// they name another. A command is sent once: MaxRetries is -1, and what an open
// connection had not answered is an unknown outcome, as on one server.
func (in *Instance) newFailover() (redis.UniversalClient, error) {
	hosts, sentinels, err := parseRedisList(in.Config.RedisSentinels)
	if err != nil {
		return nil, fmt.Errorf("--redis-sentinels: %w", err)
	}
	given := in.Config.Logins[NameRedis]
	user, password := given.or(sentinels.User, sentinels.Password)
	wait := orElse(in.Config.RedisTimeout, 3*time.Second)
	c := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName:       cmp.Or(in.Config.RedisMasterName, DefaultMaster),
		SentinelAddrs:    hosts,
		SentinelUsername: sentinels.User, SentinelPassword: sentinels.Password,
		Username: user, Password: password, Dialer: in.dialRedis(given.TLS),
		MaxRetries:            -1,
		DialTimeout:           in.dialTimeout(),
		DialerRetries:         1, // a primary that is gone is not waited for: the sentinels are asked again
		ReadTimeout:           wait,
		WriteTimeout:          wait,
		ContextTimeoutEnabled: true,
		PoolSize:              orElse(in.Config.RedisConns, 64),
		DisableIdentity:       true,
	})
	c.AddHook(tap.RedisHook{})
	return c, nil
}
