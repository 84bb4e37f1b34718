package backend

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/tap"
)

// mostRedirects is how many redirections of one command a Cluster's client
// follows.
const mostRedirects = 5

func (in *Instance) openRedis(ctx context.Context) error {
	addresses := in.Config.RedisAddresses()
	if len(addresses) == 0 {
		return nil
	}
	open := in.newRedis
	switch {
	case len(in.Config.RedisSentinels) > 0:
		open = in.newFailover
	case len(in.Config.RedisRing) > 0:
		open = in.newRing
	}
	c, err := open()
	if err != nil {
		return err
	}
	in.closers = append(in.closers, c.Close)
	info, err := "", error(nil)
	if ring, is := c.(*redis.Ring); is {
		info, err = meetRing(ctx, ring)
	} else {
		info, err = c.Info(ctx).Result()
	}
	if err != nil {
		return unreachable(NameRedis, ShowAddresses(addresses), err)
	}
	in.Redis = c
	in.versions[NameRedis] = redisVersion(info)
	return nil
}

// newRedis is a client of one server or of a Cluster.
func (in *Instance) newRedis() (redis.UniversalClient, error) {
	hosts, login, err := parseRedisList(in.Config.RedisAddrs)
	if err != nil {
		return nil, err
	}
	given := in.Config.Logins[NameRedis]
	login.User, login.Password = given.or(login.User, login.Password)
	wait := orElse(in.Config.RedisTimeout, 3*time.Second)
	c := redis.NewUniversalClient(&redis.UniversalOptions{
		Addrs: hosts, Username: login.User, Password: login.Password, Dialer: in.dialRedis(given.TLS),
		MaxRetries:            -1, // a silent retry deducts twice: see dialRedis
		MaxRedirects:          mostRedirects,
		DialTimeout:           in.dialTimeout(),
		ReadTimeout:           wait,
		WriteTimeout:          wait,
		ContextTimeoutEnabled: true,
		PoolSize:              orElse(in.Config.RedisConns, 64),
		DisableIdentity:       true,
	})
	if cluster, ok := c.(*redis.ClusterClient); ok {
		watchCluster(cluster)
	} else {
		c.AddHook(tap.RedisHook{})
	}
	return c, nil
}

// openRedlock needs a majority of the nodes, as the lock does: the service can
// start while a minority is down.
func (in *Instance) openRedlock(ctx context.Context) error {
	var lost error
	given, wait := in.Config.Logins[NameRedlock], orElse(in.Config.RedisTimeout, time.Second)
	reached := 0
	for i, address := range in.Config.RedlockAddrs {
		a, err := ParseRedis(address)
		if err != nil {
			return err
		}
		a.User, a.Password = given.or(a.User, a.Password)
		c := redis.NewClient(&redis.Options{
			Addr: a.Host, Username: a.User, Password: a.Password, Dialer: in.dialRedis(given.TLS),
			MaxRetries:            -1,
			DialTimeout:           in.dialTimeout(),
			DialerRetries:         1, // a node that is down costs a vote, not a wait
			ReadTimeout:           wait,
			WriteTimeout:          wait,
			ContextTimeoutEnabled: true, // redsync bounds each node by its context
			PoolSize:              orElse(in.Config.RedisConns, 64),
			DisableIdentity:       true,
		})
		c.AddHook(tap.RedisHook{Node: fmt.Sprint("node ", i+1)})
		in.closers = append(in.closers, c.Close)
		in.RedisNodes = append(in.RedisNodes, c)
		info, err := c.Info(ctx).Result()
		if err != nil {
			lost = unreachable(NameRedlock, a.Host, err)
			continue
		}
		reached++
		in.versions[NameRedlock] = redisVersion(info)
	}
	if reached <= len(in.Config.RedlockAddrs)/2 {
		return lost
	}
	return nil
}

// askRedis is the question of Status.
func (in *Instance) askRedis(ctx context.Context) error {
	if ring, is := in.Redis.(*redis.Ring); is {
		return askRing(ctx, ring)
	}
	return in.Redis.Ping(ctx).Err()
}

// redisVersion reads INFO's redis_version line. The embedded engine has neither
// a section "server" nor a version.
func redisVersion(info string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); ok {
			return "Redis " + v
		}
	}
	return "miniredis"
}
