package backend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// redisConns bounds the connections to each Redis.
const redisConns = 64

// mostRedirects is how many redirections of one command a Cluster's client
// follows.
const mostRedirects = 5

// redisWait bounds the wait for an answer of Redis, and redlockWait for that of each node
// of a quorum.
const redisWait, redlockWait = 3 * time.Second, time.Second

// DefaultMaster is the name of a Redis that sentinels watch: that of the configuration
// which comes with Redis.
const DefaultMaster = "mymaster"

// RedisError classifies the error of a command that changes something in Redis.
// Where Redis was not reached, or answered that it refuses, nothing was changed;
// any other failure may have come after the change.
func RedisError(err error) error {
	var refused redis.Error
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.ErrPoolTimeout):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	case errors.As(err, &refused), errors.Is(err, ErrKilled), errors.As(err, &network) && network.Op == "dial":
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: no answer from Redis: %w", seckill.ErrUnknown, err)
}

func (in *Instance) openRedis(ctx context.Context) error {
	kind, _ := KindOf(Redis)
	addresses := kind.In(in.Config)
	if len(addresses) == 0 {
		return nil
	}
	open := in.newRedis
	if len(in.Config.RedisRing) > 0 {
		open = in.newRing
	}
	c, err := open()
	if err != nil {
		return err
	}
	in.closers = append(in.closers, c.Close)
	in.Redis = c
	info := ""
	if err = in.askRedis(ctx); err == nil {
		info, err = c.Info(ctx).Result()
	}
	if err != nil {
		return unreachable(NameRedis, showAddresses(addresses), err)
	}
	in.versions[NameRedis] = RedisVersion(info)
	return nil
}

// redisOptions are those of one server, of a Cluster and of what sentinels watch.
func (in *Instance) redisOptions(hosts []string, login *redis.Options, wait time.Duration) *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Addrs: hosts, Username: login.Username, Password: login.Password, Dialer: in.dialRedis(login.TLSConfig != nil),
		MaxRetries:            -1, // a silent retry deducts twice: see dialRedis
		MaxRedirects:          mostRedirects,
		DialTimeout:           dialTimeout,
		ReadTimeout:           wait,
		WriteTimeout:          wait,
		ContextTimeoutEnabled: true,
		PoolSize:              redisConns,
		DisableIdentity:       true,
	}
}

// newRedis is a client of one server, of a Cluster, or of the primary that sentinels
// name. It asks these when it opens a connection, and closes all connections to the
// old primary when they name another: what an open connection had not answered is an
// unknown outcome, as on one server.
func (in *Instance) newRedis() (redis.UniversalClient, error) {
	watched := len(in.Config.RedisSentinels) > 0
	addresses := in.Config.RedisAddrs
	if watched {
		addresses = in.Config.RedisSentinels
	}
	hosts, login, err := parseRedisList(addresses)
	if err != nil {
		return nil, err
	}
	o := in.redisOptions(hosts, login, redisWait)
	if watched {
		o.MasterName = DefaultMaster
		o.SentinelUsername, o.SentinelPassword = login.Username, login.Password
		o.DialerRetries = 1 // a primary that is gone is not waited for: the sentinels are asked again
	}
	c := redis.NewUniversalClient(o)
	if cluster, ok := c.(*redis.ClusterClient); ok { // the tap sees what is sent to every node, each time, not only the calls
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(tap.RedisHook{Node: node.Options().Addr}) })
	} else {
		c.AddHook(tap.RedisHook{})
	}
	return c, nil
}

// openRedlock needs a majority of the nodes, as the lock does: the service can
// start while a minority is down.
func (in *Instance) openRedlock(ctx context.Context) error {
	var lost error
	reached := 0
	for i, address := range in.Config.RedlockAddrs {
		a, err := ParseRedis(address)
		if err != nil {
			return err
		}
		o := in.redisOptions([]string{a.Addr}, a, redlockWait) // redsync bounds each node by its context
		o.DialerRetries = 1                                    // a node that is down costs a vote, not a wait
		c := redis.NewClient(o.Simple())
		c.AddHook(tap.RedisHook{Node: fmt.Sprint("node ", i+1)})
		in.closers = append(in.closers, c.Close)
		in.RedisNodes = append(in.RedisNodes, c)
		info, err := c.Info(ctx).Result()
		if err != nil {
			lost = unreachable(NameRedlock, a.Addr, err)
			continue
		}
		reached++
		in.versions[NameRedlock] = RedisVersion(info)
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

// RedisVersion reads it from INFO. Valkey says which Redis it is like, too. The embedded
// engine has neither a section "server" nor a version.
func RedisVersion(info string) string {
	for _, maker := range []string{"Valkey", "Redis"} {
		for line := range strings.Lines(info) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), strings.ToLower(maker)+"_version:"); ok {
				return maker + " " + v
			}
		}
	}
	return "miniredis"
}
