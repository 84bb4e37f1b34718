package backend

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/tap"
)

// DefaultMaster is the name of a Redis that sentinels watch, if none is given:
// that of the configuration which comes with Redis.
const DefaultMaster = "mymaster"

// RedisAddresses are those of Redis or of its sentinels, whichever is
// configured.
func (c Config) RedisAddresses() []string {
	if len(c.RedisSentinels) > 0 {
		return c.RedisSentinels
	}
	return c.RedisAddrs
}

// ParseRedisLogin reads [user]:password, or a password alone. The error does not
// repeat it.
func ParseRedisLogin(login string) (user, password string, err error) {
	user, password, both := strings.Cut(strings.TrimSpace(login), ":")
	if !both {
		user, password = "", user
	}
	if user != "" && password == "" {
		return "", "", errors.New("the Redis login has a user and no password: give user:password, or the password alone")
	}
	return user, password, nil
}

// checkSentinels finds settings that exclude each other.
func (c Config) checkSentinels() error {
	switch {
	case len(c.RedisSentinels) > 0 && len(c.RedisAddrs) > 0:
		return errors.New("both Redis servers and sentinels are configured: give --redis-addrs, or --redis-sentinels, which know where Redis is")
	case len(c.RedisSentinels) == 0 && c.RedisMasterName != "":
		return errors.New("--redis-master-name is a name that sentinels know: give --redis-sentinels as well")
	case len(c.RedisSentinels) == 0 && c.RedisLogin != "":
		return errors.New("--redis-login is of Redis servers that sentinels name: give --redis-sentinels as well, or the password in --redis-addrs")
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
	user, password, err := ParseRedisLogin(in.Config.RedisLogin)
	if err != nil {
		return nil, err
	}
	given := in.Config.Logins[NameRedis]
	user, password = given.or(user, password)
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
