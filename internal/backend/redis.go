package backend

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/seckill"
	"seckill/internal/tap"
)

// redisConns bounds the connections to each Redis.
const redisConns = 64

// redisWait bounds the wait for an answer of Redis, and redlockWait for that of each node
// of a quorum.
const redisWait, redlockWait = 3 * time.Second, time.Second

// DefaultMaster is the name of a Redis that sentinels watch: that of the configuration
// which comes with Redis.
const DefaultMaster = "mymaster"

// RedisError classifies the error of a command that changes something in Redis.
// Where Redis was not reached, or answered that it refuses, nothing was changed;
// any other failure may have come after the change. That includes an error from
// inside a script: see insideScript.
func RedisError(err error) error {
	var refused redis.Error
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.ErrPoolTimeout):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	case errors.As(err, &refused) && !insideScript(refused), errors.Is(err, ErrKilled), errors.As(err, &network) && network.Op == "dial":
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: no answer from Redis: %w", seckill.ErrUnknown, err)
}

// insideScript reports whether a command of a script was refused, perhaps after another had
// changed something: Redis keeps that. Redis 7 ends such an error with "script: SHA, on
// @user_script:LINE"; Redis 6 begins it with "ERR Error running script (call to f_SHA):
// @user_script:LINE:", the embedded engine with "ERR Error compiling script". An error that a
// script returns as its answer is its own business, and has none of these.
func insideScript(refused redis.Error) bool {
	text := refused.Error()
	for _, code := range atFirstWrite {
		if strings.HasPrefix(text, code+" ") || strings.Contains(text, "-"+code+" ") {
			return false
		}
	}
	return strings.Contains(text, "user_script:") || strings.Contains(text, "Error compiling script")
}

// atFirstWrite are the codes of errors that a script meets at its first write or never:
// afterwards Redis lets it go on (scriptPrepareForRun and scriptCall, in its script.c).
var atFirstWrite = []string{"OOM", "READONLY", "NOREPLICAS", "MISCONF"}

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
	if hosts, _, wrong := parseRedisList(addresses); wrong == nil && len(in.Config.RedisRing) == 0 {
		err = in.Dialer.dialAny(ctx, tap.Redis, hosts...)
	}
	if err == nil {
		err = in.askRedis(ctx)
	}
	if err != nil {
		return explainUnreachable(NameRedis, showAddresses(addresses), in.explainRedis(ctx, addresses[0], err))
	}
	in.versions[NameRedis] = redisVersion(ctx, c)
	in.askRights(ctx, c, Redis, addresses)
	return nil
}

// redisVersion reads it from INFO, which an administrator may have forbidden: then the
// version is not known.
func redisVersion(ctx context.Context, c redis.Cmdable) string {
	info, err := c.Info(ctx).Result()
	if err != nil {
		return "Redis"
	}
	return RedisVersion(info)
}

// explainRedis adds to an error what go-redis leaves out: which user may not do that, or
// what a server that turns clients away (in protected mode, or with too many of them) says
// before it closes the connection. go-redis takes that for the words of an old server, and
// fails when it writes again.
func (in *Instance) explainRedis(ctx context.Context, address string, err error) error {
	var answer redis.Error
	login, wrong := ParseRedis(address)
	switch {
	case wrong != nil, nobodyAnswered(err):
		return err
	case redis.IsAuthError(err), redis.IsPermissionError(err):
		return fmt.Errorf("user %s: %w", cmp.Or(login.Username, "default"), err)
	case errors.As(err, &answer):
		return err
	}
	conn, unreached := in.dialRedis(login.TLSConfig != nil)(ctx, "tcp", login.Addr)
	if unreached != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(redlockWait)) // a server that goes on says nothing, as it is asked nothing
	said, _ := io.ReadAll(io.LimitReader(conn, 300))
	if words, refused := strings.CutPrefix(string(said), "-"); refused {
		return errors.New(strings.TrimSpace(words))
	}
	return err
}

// redisOptions are those of one server, of a Cluster and of what sentinels watch.
func (in *Instance) redisOptions(hosts []string, login *redis.Options, wait time.Duration) *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Addrs: hosts, Username: login.Username, Password: login.Password, Dialer: in.dialRedis(login.TLSConfig != nil),
		MaxRetries:            -1, // a silent retry deducts twice: see dialRedis
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

// newNode is a client of one of several servers that know nothing of each other: one that
// is down costs a vote, or its share of the keys, and no wait.
func (in *Instance) newNode(host string, login *redis.Options, wait time.Duration, name string) *redis.Client {
	o := in.redisOptions([]string{host}, login, wait)
	o.DialerRetries = 1
	c := redis.NewClient(o.Simple())
	c.AddHook(tap.RedisHook{Node: name})
	return c
}

// openRedlock needs a majority of the nodes, as the lock does: the service can
// start while a minority is down, or hangs.
func (in *Instance) openRedlock(ctx context.Context) error {
	for i, address := range in.Config.RedlockAddrs {
		a, err := ParseRedis(address)
		if err != nil {
			return err
		}
		c := in.newNode(a.Addr, a, redlockWait, fmt.Sprint("node ", i+1)) // redsync bounds each node by its context
		in.closers = append(in.closers, c.Close)
		in.RedisNodes = append(in.RedisNodes, c)
	}
	if len(in.RedisNodes) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, redisWait)
	defer cancel()
	node, err := in.reachMajority(ctx)
	if err != nil {
		err = in.explainRedis(ctx, in.Config.RedlockAddrs[0], err)
		return explainUnreachable(NameRedlock, showAddresses(in.Config.RedlockAddrs), err)
	}
	in.versions[NameRedlock] = redisVersion(ctx, node)
	in.askRights(ctx, node, RedisQuorum, in.Config.RedlockAddrs)
	return nil
}

// reachMajority asks all nodes at once, and returns one that answers as soon as most have
// answered, or an error as soon as too many have not.
func (in *Instance) reachMajority(ctx context.Context) (one *redis.Client, err error) {
	type answer struct {
		node *redis.Client
		err  error
	}
	answers := make(chan answer, len(in.RedisNodes))
	for _, node := range in.RedisNodes {
		go func() {
			in.Background.RLock()
			defer in.Background.RUnlock()
			answers <- answer{node, node.Ping(ctx).Err()}
		}()
	}
	all := len(in.RedisNodes)
	most, answered, failed := all/2+1, 0, 0
	for answered < most {
		if a := <-answers; a.err == nil {
			one, answered = a.node, answered+1
		} else if failed++; failed+most > all {
			return nil, fmt.Errorf("%d of %d nodes failed, one of them with: %w", failed, all, a.err)
		}
	}
	return one, nil
}

// askRedis is the question of Status.
func (in *Instance) askRedis(ctx context.Context) error {
	ring, is := in.Redis.(*redis.Ring)
	if !is {
		return in.Redis.Ping(ctx).Err()
	}
	return ring.ForEachShard(ctx, func(ctx context.Context, shard *redis.Client) error { // each has keys that no other has
		if err := shard.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("the shard at %s: %w", shard.Options().Addr, err)
		}
		return nil
	})
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

// A command that was sent may have run even if its reply was lost, so it must
// not be repeated silently: that deducts, or gives back, twice. For one server
// MaxRetries -1 is enough. A Cluster's client also repeats, up to MaxRedirects
// times, after errors that look like a lost connection or a time-out. The errors
// of open connections are therefore disguised here: go-redis closes the
// connection and repeats nothing. It still repeats what has provably not run: a
// failed dial, and refusals such as MOVED and ASK.

// dialRedis opens connections whose errors are noAnswer.
func (in *Instance) dialRedis(encrypted bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := in.Dialer.dial(ctx, tap.Redis, network, addr)
		if err != nil {
			return nil, err
		}
		if !encrypted {
			return struct {
				redisConn
				syscall.Conn // see trackedConn
			}{redisConn{c}, c.(syscall.Conn)}, nil
		}
		host, _, _ := net.SplitHostPort(addr) // for which the certificate must be, by one of the system's authorities
		t := tls.Client(c, &tls.Config{ServerName: host})
		if err := t.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		// It has no SyscallConn: a server may send session tickets at any time, which
		// go-redis would take for an answer without a question. A connection that
		// was closed while it was idle is noticed by the next command, whose outcome is
		// then unknown.
		return redisConn{t}, nil
	}
}

type redisConn struct{ net.Conn }

func (c redisConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, markUnanswered(err)
}

func (c redisConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, markUnanswered(err)
}

func markUnanswered(err error) error {
	if err == nil {
		return nil
	}
	return &noAnswer{err}
}

// noAnswer is the error of an open connection. It hides what go-redis repeats
// a command for: io.EOF and Timeout().
type noAnswer struct{ err error }

func (e *noAnswer) Error() string { return e.err.Error() }

func (e *noAnswer) Is(target error) bool {
	return target != io.EOF && target != io.ErrUnexpectedEOF && errors.Is(e.err, target)
}

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
	return redis.NewRing(&redis.RingOptions{
		Addrs:       hosts,
		NewClient:   func(o *redis.Options) *redis.Client { return in.newNode(o.Addr, login, redisWait, names[o.Addr]) },
		MaxRetries:  -1, // 0 would be three
		HeartbeatFn: func(context.Context, *redis.Client) bool { return true },
	}), nil
}
