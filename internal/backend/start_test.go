package backend_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// listens accepts connections and does with each what answer does, then closes it.
func listens(t *testing.T, answer func(net.Conn)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	labtest.Must(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answer(conn)
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// aUser makes an account in the tests' Redis, and returns its address and that of another
// password.
func aUser(t *testing.T, name string, rules ...any) (address, wrong string) {
	t.Helper()
	in := labtest.Instance(t, backend.Redis)
	command := append([]any{"ACL", "SETUSER", name, "reset", "on", ">pw", "~*", "&*", "+@all"}, rules...)
	labtest.Must(t, in.Redis.Do(t.Context(), command...).Err())
	t.Cleanup(func() { in.Redis.Do(context.Background(), "ACL", "DELUSER", name) })
	host := in.Redis.(*redis.Client).Options().Addr
	return "redis://" + name + ":pw@" + host, "redis://" + name + ":other@" + host
}

// etcdWithUsers is a server of the test's own that wants a login, as host:port.
func etcdWithUsers(t *testing.T) string {
	t.Helper()
	own, err := lab.Start(t.Context(), lab.Options{Host: labtest.HostIn(t), Backends: []string{backend.NameEtcd}})
	labtest.Must(t, err)
	t.Cleanup(func() { own.Stop(context.Background()) })
	in := labtest.Open(t, own.Config())
	for _, do := range []func() error{
		func() error { _, err := in.Etcd.UserAdd(t.Context(), "root", "pw"); return err },
		func() error { _, err := in.Etcd.UserGrantRole(t.Context(), "root", "root"); return err },
		func() error { _, err := in.Etcd.AuthEnable(t.Context()); return err },
	} {
		labtest.Must(t, do())
	}
	return in.Config.EtcdEndpoints[0]
}

// A service that cannot start says why: in the server's words where it answered, and only
// where it did not, that it may not run.
func TestOpenSaysWhyABackendCannotBeUsed(t *testing.T) {
	noPing, wrongPassword := aUser(t, "idle", "-ping")
	stranger := wrongPassword[strings.LastIndexByte(wrongPassword, '@')+1:]
	const denied = "DENIED Redis is running in protected mode"
	refusing := listens(t, func(c net.Conn) { _, _ = c.Write([]byte("-" + denied + " because ...\r\n")) })
	silent := listens(t, func(net.Conn) { select {} })
	etcd := etcdWithUsers(t)
	const nobody = "(is it running, and is the address right?)"
	for _, c := range []struct {
		what string
		give backend.Config
		says string
		hint bool
	}{
		{"no right to PING", backend.Config{RedisAddrs: []string{noPing}}, "user idle: NOPERM", false},
		{"a wrong password", backend.Config{RedisAddrs: []string{wrongPassword}}, "user idle: WRONGPASS", false},
		{"no password", backend.Config{RedisAddrs: []string{stranger}}, "user default: NOAUTH", false},
		{"a wrong password of a quorum", backend.Config{RedlockAddrs: []string{wrongPassword}}, "user idle: ", false},
		{"protected mode", backend.Config{RedisAddrs: []string{refusing}}, denied, false},
		{"a quorum in protected mode", backend.Config{RedlockAddrs: []string{refusing}}, denied, false},
		{"nobody", backend.Config{RedisAddrs: []string{"127.0.0.1:1"}}, "connection refused", true},
		{"no name", backend.Config{RedisAddrs: []string{"nowhere.invalid:1"}}, "nowhere.invalid", true},
		{"silence", backend.Config{RedisAddrs: []string{silent}}, "", true},
		{"silence of ZooKeeper", backend.Config{ZooKeeperAddrs: []string{silent}}, "in time", true},
		{"a wrong password of etcd", backend.Config{EtcdEndpoints: []string{"http://root:other@" + etcd}},
			"user root: etcdserver: ", false},
		{"silence of etcd", backend.Config{EtcdEndpoints: []string{silent}}, "in time", true},
	} {
		t.Run(c.what, func(t *testing.T) {
			in, err := backend.Open(t.Context(), c.give)
			switch {
			case err == nil:
				in.Close()
				t.Error("it can be used")
			case !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), nobody) != c.hint:
				t.Errorf("it says %q, want %q, and whether it runs: %v", err, c.says, c.hint)
			}
		})
	}
}

// INFO tells the version and nothing else that a service needs. Administrators forbid it.
func TestOpenWithoutInfo(t *testing.T) {
	address, _ := aUser(t, "careful", "-@dangerous")
	in := labtest.Open(t, backend.Config{RedisAddrs: []string{address},
		RedlockAddrs: []string{address, address, address, address, address}})
	for _, s := range in.Status(t.Context()) {
		if !s.OK || s.Version != "Redis" {
			t.Errorf("%+v, want it well and of an unknown version", s)
		}
	}
}
