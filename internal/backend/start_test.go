package backend_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/lab/labtest"
)

// Open explains why it cannot use a Redis server. It quotes the server's answer; only without an answer it asks
// whether the server is running. Open does not need the command INFO, which some administrators forbid.
func TestOpenExplainsRedisErrors(t *testing.T) {
	in := labtest.Instance(t, backend.Redis)
	for user, rule := range map[string]string{"careful": "-@dangerous", "idle": "-ping"} {
		labtest.Must(t, in.Redis.Do(t.Context(), "ACL", "SETUSER", user, "on", ">pw", "~*", "&*", "+@all", rule).Err())
		t.Cleanup(func() { in.Redis.Do(context.Background(), "ACL", "DELUSER", user) })
	}
	host := in.Redis.(*redis.Client).Options().Addr
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	labtest.Must(t, err)
	defer refusing.Close()
	go func() {
		for conn, err := refusing.Accept(); err == nil; conn, err = refusing.Accept() {
			_, _ = conn.Write([]byte("-DENIED Redis is running in protected mode\r\n"))
			conn.Close()
		}
	}()
	for _, c := range []struct{ address, want string }{
		{"redis://careful:pw@" + host, ""},
		{"redis://idle:pw@" + host, "user idle: NOPERM"},
		{"redis://idle:other@" + host, "user idle: WRONGPASS"},
		{host, "user default: NOAUTH"},
		{refusing.Addr().String(), "DENIED Redis is running in protected mode"},
		{"127.0.0.1:1", "connection refused (is it running, and is the address right?)"},
	} {
		opened, err := open(t, backend.Config{RedisAddrs: []string{c.address}})
		switch {
		case c.want == "" && err == nil:
			if s := opened.Status(t.Context())[0]; !s.OK || s.Version != "Redis" {
				t.Errorf("%s: %+v, want OK and an unknown version", c.address, s)
			}
		case err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "is it running") != strings.Contains(c.want, "is it running"):
			t.Errorf("%s: %v, want %q", c.address, err, c.want)
		}
	}
}
