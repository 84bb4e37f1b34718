package backend

import (
	"context"
	"errors"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/seckill"
)

// An address that is accepted names a server, and none shows its password in an endpoint.
func FuzzAddress(f *testing.F) {
	for _, address := range []string{"127.0.0.1:6379", "redis://:p%40w@h:1", "rediss://u:p@h", "redis://h/3", "unix:///tmp/s", "http://u:p@h:2379", "h", "@"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if o, err := ParseRedis(address); err == nil && (o.Network != "tcp" || o.Addr == "" || o.DB != 0) {
			t.Errorf("%q is the server %+v", address, o)
		}
		if endpoints, _, _, err := parseEtcd([]string{address, address}); err == nil && strings.Contains(endpoints[1], "@") {
			t.Errorf("%q is the endpoint %q", address, endpoints[1])
		}
		_ = Redact(address)
	})
}

// go-redis allocates as much as a reply announces, so these inputs are left out.
var announcesMuch = regexp.MustCompile(`[$*%~>=!(|][0-9]{5}`)

// Only a whole refusal says that a command has changed nothing. Whatever else a Redis server answers, the outcome is
// unknown.
func FuzzRedisReply(f *testing.F) {
	for _, reply := range []string{":1\r\n", "$3\r\nabc\r\n", "$-1\r\n", "*2\r\n:1\r\n:2\r\n", "-MOVED 1 h:1\r\n", "-BUSY x\r\n", "-OOM x", "!0\r\nAy",
		"-ERR x script: f, on @user_script:3.\r\n", "%1\r\n+a\r\n:1\r\n", ">2\r\n+x\r\n+y\r\n", "*-9\r\n", "# Server\r\nredis_version:7.0.15\r\n"} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		if announcesMuch.MatchString(reply) {
			return
		}
		c := redis.NewClient(&redis.Options{MaxRetries: -1, Protocol: 2, DisableIdentity: true, Dialer: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, theirs) }()
			go func() {
				_, _ = io.WriteString(theirs, "-ERR unknown command 'HELLO'\r\n"+reply)
				theirs.Close()
			}()
			return redisConn{ours}, nil
		}})
		defer c.Close()
		_, err := c.Eval(t.Context(), "return 1", nil).Result()
		refused := errors.Is(RedisError(err), seckill.ErrUnavailable)
		if refused && (!strings.ContainsAny(reply, "-!") || !strings.Contains(reply, "\n")) {
			t.Errorf("%q counts as a refusal: %v", reply, err)
		}
		_ = RedisVersion(reply)
	})
}
