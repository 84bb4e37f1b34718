package backend

import (
	"cmp"
	"context"
	"crypto/tls"
	"embed"
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

const (
	redisTimeout   = 3 * time.Second // maximum wait for an answer from Redis
	redlockTimeout = time.Second     // maximum wait for an answer from one node of a quorum
)

// DefaultMaster is the name by which sentinels know the primary server in Redis's sample configuration.
const DefaultMaster = "mymaster"

// Script returns the Redis script that consists of the named files, one after the other.
func Script(files embed.FS, names ...string) *redis.Script {
	var text string
	for _, name := range names {
		part, err := files.ReadFile(name)
		if err != nil {
			panic(err) // a strategy names a script that it does not embed
		}
		text += string(part)
	}
	return redis.NewScript(text)
}

// RedisError classifies the error of a command that changes data. It returns ErrBusy or ErrUnavailable if nothing was
// changed, because Redis was not reached or refused the command. After any other error, the data may have changed, and
// RedisError returns ErrUnknown. Most errors inside a script mean ErrUnknown.
func RedisError(err error) error {
	var refused redis.Error
	var network *net.OpError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, redis.ErrPoolTimeout):
		return fmt.Errorf("%w: %w", seckill.ErrBusy, err)
	case errors.As(err, &refused) && !failedInScript(refused), errors.Is(err, ErrKilled),
		errors.As(err, &network) && network.Op == "dial":
		return fmt.Errorf("%w: %w", seckill.ErrUnavailable, err)
	}
	return fmt.Errorf("%w: no answer from Redis: %w", seckill.ErrUnknown, err)
}

// failedInScript reports whether a command inside a script failed. Redis does not undo what earlier commands of the
// script have changed. Redis 7 ends such an error with "script: SHA, on @user_script:LINE". Redis 6 begins it with
// "ERR Error running script (call to f_SHA): @user_script:LINE:", and the embedded engine with "ERR Error compiling
// script". An error that a script returns on purpose has none of these texts.
func failedInScript(refused redis.Error) bool {
	text := refused.Error()
	for _, code := range firstWriteErrors {
		if strings.HasPrefix(text, code+" ") || strings.Contains(text, "-"+code+" ") {
			return false
		}
	}
	return strings.Contains(text, "user_script:") || strings.Contains(text, "Error compiling script")
}

// firstWriteErrors lists errors that only the first write of a script can cause, so nothing was changed. After a
// write, Redis does not check for these errors (scriptPrepareForRun and scriptCall in its script.c).
var firstWriteErrors = []string{"OOM", "READONLY", "NOREPLICAS", "MISCONF"}

func (in *Instance) openRedis(ctx context.Context, addresses []string) error {
	hosts, login, err := parseRedisList(addresses)
	if err != nil {
		return err
	}
	if len(in.Config.RedisRing) > 0 {
		in.Redis = in.newRing(hosts, login)
	} else {
		in.Redis = in.newRedis(hosts, login)
		err = in.Dialer.dialAny(ctx, tap.Redis, hosts...)
	}
	in.closers = append(in.closers, in.Redis.Close)
	if err == nil {
		err = in.askRedis(ctx)
	}
	if err != nil {
		return in.explainRedis(ctx, login, err)
	}
	in.versions[NameRedis] = redisVersion(ctx, in.Redis)
	in.askRights(ctx, in.Redis, Redis, login)
	return nil
}

// redisVersion returns the server's version. It returns "Redis" if the command INFO is forbidden.
func redisVersion(ctx context.Context, c redis.Cmdable) string {
	info, err := c.Info(ctx).Result()
	if err != nil {
		return "Redis"
	}
	return RedisVersion(info)
}

// explainRedis makes an error from go-redis more precise. If a right is missing, it adds the user's name. A server that
// refuses connections (protected mode, too many clients) sends a message and closes the connection. go-redis reports
// only a failed write, so explainRedis reads and returns this message.
func (in *Instance) explainRedis(ctx context.Context, login *redis.Options, err error) error {
	var answer redis.Error
	switch {
	case nobodyAnswered(err):
		return err
	case redis.IsAuthError(err), redis.IsPermissionError(err):
		return fmt.Errorf("user %s: %w", cmp.Or(login.Username, "default"), err)
	case errors.As(err, &answer):
		return err
	}
	conn, dialErr := in.dialRedis(login.TLSConfig != nil)(ctx, "tcp", login.Addr)
	if dialErr != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(redlockTimeout)) // the server may send nothing, so the read needs a deadline
	said, _ := io.ReadAll(io.LimitReader(conn, 300))
	if message, refused := strings.CutPrefix(string(said), "-"); refused {
		return errors.New(strings.TrimSpace(message))
	}
	return err
}

func (in *Instance) redisOptions(hosts []string, login *redis.Options, timeout time.Duration) *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Addrs: hosts, Username: login.Username, Password: login.Password,
		Dialer:                in.dialRedis(login.TLSConfig != nil),
		MaxRetries:            -1, // a silent retry could deduct twice: see dialRedis
		DialTimeout:           dialTimeout,
		ReadTimeout:           timeout,
		WriteTimeout:          timeout,
		ContextTimeoutEnabled: true,
		PoolSize:              64, // for each server
		DisableIdentity:       true,
	}
}

// newRedis returns a client of one server, of a Cluster, or of the primary that sentinels name. With sentinels, the
// client asks them before each new connection. When the sentinels name another primary, the client closes all
// connections to the old primary. Commands without an answer then have an unknown outcome.
func (in *Instance) newRedis(hosts []string, login *redis.Options) redis.UniversalClient {
	o := in.redisOptions(hosts, login, redisTimeout)
	if len(in.Config.RedisSentinels) > 0 {
		o.MasterName = DefaultMaster
		o.SentinelUsername, o.SentinelPassword = login.Username, login.Password
		o.DialerRetries = 1 // if the primary is down, ask the sentinels for another instead of dialing again
	}
	c := redis.NewUniversalClient(o)
	// One call to a Cluster may send commands to several nodes, so each node's client gets the hook.
	if cluster, ok := c.(*redis.ClusterClient); ok {
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(tap.RedisHook{Node: node.Options().Addr}) })
	} else {
		c.AddHook(tap.RedisHook{})
	}
	return c
}

func (in *Instance) newNode(host string, login *redis.Options, timeout time.Duration, name string) *redis.Client {
	o := in.redisOptions([]string{host}, login, timeout)
	o.DialerRetries = 1 // dial only once, because a server that is down must not delay the others
	c := redis.NewClient(o.Simple())
	c.AddHook(tap.RedisHook{Node: name})
	return c
}

// openRedlock connects to the independent nodes of RedlockAddrs. It returns an error if no majority
// answers. So the service can start while a minority of the nodes is down or hangs.
func (in *Instance) openRedlock(ctx context.Context, addresses []string) error {
	var first *redis.Options
	for i, address := range addresses {
		a, err := ParseRedis(address)
		if err != nil {
			return err
		}
		first = cmp.Or(first, a)
		// The strategy redlock sets a shorter limit for each command through the command's context.
		c := in.newNode(a.Addr, a, redlockTimeout, fmt.Sprint("node ", i+1))
		in.closers = append(in.closers, c.Close)
		in.RedisNodes = append(in.RedisNodes, c)
	}
	ctx, cancel := context.WithTimeout(ctx, redisTimeout)
	defer cancel()
	node, err := in.reachMajority(ctx)
	if err != nil {
		return in.explainRedis(ctx, first, err)
	}
	in.versions[NameRedlock] = redisVersion(ctx, node)
	in.askRights(ctx, node, RedisQuorum, first)
	return nil
}

// reachMajority pings all nodes concurrently. When a majority has answered, it returns one of these
// nodes. When a majority has become impossible, it returns an error.
func (in *Instance) reachMajority(ctx context.Context) (*redis.Client, error) {
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
	majority, answered, failed := all/2+1, 0, 0
	for {
		a := <-answers
		if a.err == nil {
			if answered++; answered == majority {
				return a.node, nil
			}
		} else if failed++; failed+majority > all {
			return nil, fmt.Errorf("%d of %d nodes failed, one of them with: %w", failed, all, a.err)
		}
	}
}

// askRedis returns nil if Redis answers. With a ring, every shard must answer.
func (in *Instance) askRedis(ctx context.Context) error {
	ring, isRing := in.Redis.(*redis.Ring)
	if !isRing {
		return in.Redis.Ping(ctx).Err()
	}
	return ring.ForEachShard(ctx, func(ctx context.Context, shard *redis.Client) error {
		if err := shard.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("the shard at %s: %w", shard.Options().Addr, err)
		}
		return nil
	})
}

// RedisVersion returns the server's name and version from its answer to INFO. Valkey's answer also has a Redis version,
// so RedisVersion looks for Valkey first. miniredis answers without a version.
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

// dialRedis returns a dial function. Its connections wrap every error in noAnswer, so that go-redis
// does not repeat a command whose reply was lost.
//
// Such a command may have run, and repeating it could deduct, or give back, twice. For a single server, MaxRetries -1
// prevents the repetition. But the client of a Cluster also repeats commands, up to MaxRedirects times, after errors
// that look like a lost connection or a timeout. noAnswer hides these properties of an error. go-redis then closes the
// connection and repeats nothing. It still repeats a command that has certainly not run: after a failed dial, and after
// refusals such as MOVED and ASK.
func (in *Instance) dialRedis(encrypted bool) func(ctx context.Context, network, addr string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := in.Dialer.dial(ctx, tap.Redis, network, addr)
		if err != nil {
			return nil, err
		}
		if !encrypted {
			return struct {
				redisConn
				syscall.Conn // lets go-redis call trackedConn.SyscallConn
			}{redisConn{c}, c.(syscall.Conn)}, nil
		}
		host, _, _ := net.SplitHostPort(addr) // the server's certificate must be valid for this host
		t := tls.Client(c, &tls.Config{ServerName: host})
		if err := t.HandshakeContext(ctx); err != nil {
			c.Close()
			return nil, err
		}
		// An encrypted connection has no SyscallConn. A server may send session tickets at any time, and go-redis would
		// mistake a ticket for an unexpected answer. So go-redis notices only at the next command that the server has
		// closed the connection. The outcome of this command is unknown.
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

// noAnswer wraps an error of an open connection. It hides from go-redis that the error is io.EOF or a timeout. After
// either of them, go-redis would repeat the command.
type noAnswer struct{ err error }

func (e *noAnswer) Error() string { return e.err.Error() }

func (e *noAnswer) Is(target error) bool {
	return target != io.EOF && target != io.ErrUnexpectedEOF && errors.Is(e.err, target)
}

// newRing returns a client of several independent servers (shards). The client chooses the shard of a key by rendezvous
// hashing. If a shard does not answer, its keys are unavailable. By default go-redis would send their commands to other
// shards, which do not have the values of these keys.
func (in *Instance) newRing(hosts []string, login *redis.Options) redis.UniversalClient {
	shards, names := map[string]string{}, map[string]string{}
	for i, host := range hosts {
		name := fmt.Sprint("shard-", i+1)
		shards[name], names[host] = host, name
	}
	return redis.NewRing(&redis.RingOptions{
		Addrs: shards,
		NewClient: func(o *redis.Options) *redis.Client {
			return in.newNode(o.Addr, login, redisTimeout, names[o.Addr])
		},
		MaxRetries:  -1, // -1 means no retries; 0 would mean three
		HeartbeatFn: func(context.Context, *redis.Client) bool { return true },
	})
}

// redisCalls lists every command that strategies and scripts send. An entry may include arguments, so that deniedLua
// needs to append only a key to get a complete call.
var redisCalls = [...]any{"BLPOP", "DECRBY", "DEL", "EVAL script 1", "EVALSHA script 1", "EXEC", "EXISTS", "GET",
	"GETSET", "HDEL", "HEXISTS", "HGET", "HLEN", "HSET", "HSETNX", "INCR", "INCRBY", "LPUSH", "MGET", "MULTI",
	"PEXPIRE", "PSETEX", "PTTL", "PUBLISH", "SET", "SUBSCRIBE", "TYPE", "UNWATCH", "WATCH", "XACK", "XADD",
	"XAUTOCLAIM", "XDEL", "XGROUP CREATE", "XLEN", "XPENDING", "XRANGE", "XREADGROUP GROUP writers me STREAMS", "ZADD",
	"ZCARD", "ZRANGE", "ZRANGEBYSCORE", "ZREM", "ZSCORE"}

// deniedLua is a script that returns the commands in ARGV that the current user may not send with our keys and channel.
// It needs Redis 7. Unlike ACL DRYRUN, it needs no administrator's rights.
const deniedLua = `
local denied, channel = {}, 'redisson_lock__channel:{seckill:lock:stock:1}'
for _, call in ipairs(ARGV) do
	local keys = {channel, 'seckill:lock:stock:1', '{seckill:stock:1}:run'}
	if call == 'PUBLISH' or call == 'SUBSCRIBE' then keys = {channel} end
	for _, key in ipairs(keys) do
		local words = {}
		for word in string.gmatch(call .. ' ' .. key, '%S+') do table.insert(words, word) end
		if not redis.acl_check_cmd(unpack(words)) then
			table.insert(denied, words[1])
			break
		end
	end
end
return denied`

// Right returns the capability to send one command to Redis. The argument base is Redis or RedisQuorum.
func Right(base Capability, command string) Capability { return base + Capability(" "+command) }

// server returns the capability of the servers that c needs. It is c without the command that Right has added, if any.
func (c Capability) server() Capability {
	of, _, _ := strings.Cut(string(c), " ")
	return Capability(of)
}

// askRights adds to Lacks a Right for each command that the user may not send to Redis. If the server is older than
// Redis 7, it adds nothing, because deniedLua fails there.
func (in *Instance) askRights(ctx context.Context, c redis.Scripter, of Capability, login *redis.Options) {
	denied, err := c.Eval(ctx, deniedLua, nil, redisCalls[:]...).StringSlice()
	if redis.IsPermissionError(err) {
		denied = []string{"EVAL"}
	}
	for _, command := range denied {
		in.Lacks[Right(of, command)] = fmt.Sprintf("user %s of Redis has no right to %s: "+
			"docs/cli.md lists the rights needed", cmp.Or(login.Username, "default"), command)
	}
}
