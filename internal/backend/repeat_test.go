package backend_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/tap"
	"seckill/internal/tap/taptest"
)

// A robber loses every reply to what names its key: the command has run by
// then. The error is what a connection says that ends, or whose time is up.
type robber struct {
	mu     sync.Mutex
	key    string
	says   error
	robbed int
}

func (r *robber) aim(key string, says error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.key, r.says, r.robbed = key, says, 0
}

func (r *robber) aimsAt(sent []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Contains(sent, []byte(r.key))
}

func (r *robber) rob() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.robbed++
	return r.says
}

func (r *robber) times() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.robbed
}

func (r *robber) wrap(c net.Conn) net.Conn { return &robbedConn{Conn: c, by: r} }

type robbedConn struct {
	net.Conn
	by    *robber
	armed atomic.Bool
}

func (c *robbedConn) Write(b []byte) (int, error) {
	if c.by.aimsAt(b) {
		c.armed.Store(true)
	}
	return c.Conn.Write(b)
}

func (c *robbedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.armed.Load() {
		c.Conn.Close()
		return 0, c.by.rob()
	}
	return n, err
}

func (c *robbedConn) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
}

var increment = redis.NewScript("return redis.call('INCR', KEYS[1])")

// Ways to send a command, each of which raises key by one.
var ways = map[string]func(ctx context.Context, c redis.UniversalClient, key string) error{
	"command": func(ctx context.Context, c redis.UniversalClient, key string) error { return c.Incr(ctx, key).Err() },
	"script": func(ctx context.Context, c redis.UniversalClient, key string) error {
		return increment.EvalSha(ctx, c, []string{key}).Err()
	},
	"MULTI/EXEC": func(ctx context.Context, c redis.UniversalClient, key string) error {
		_, err := c.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Incr(ctx, key)
			return nil
		})
		return err
	},
	"WATCH": func(ctx context.Context, c redis.UniversalClient, key string) error {
		return c.Watch(ctx, func(tx *redis.Tx) error {
			_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
				p.Incr(ctx, key)
				return nil
			})
			return err
		}, "{"+key+"}:watched")
	},
}

// countContaining returns how many of the texts contain part.
func countContaining(texts []string, part string) (n int) {
	for _, text := range texts {
		if strings.Contains(text, part) {
			n++
		}
	}
	return n
}

// Whatever is lost of a reply, the server executes a command once, and the
// caller is told an error. The tap sees each that is sent.
func TestNothingThatMayHaveRunIsRepeated(t *testing.T) {
	for topology, config := range map[string]backend.Config{
		"single":   labtest.Config(t, backend.Redis),
		"cluster":  labtest.NewLab(t, lab.Cluster, backend.NameRedis).Config(),
		"sentinel": labtest.NewLab(t, lab.Sentinel, backend.NameRedis).Config(),
		"ring":     labtest.NewLab(t, lab.Ring, backend.NameRedis).Config(),
	} {
		server, err := backend.Open(t.Context(), config)
		labtest.Must(t, err)
		defer server.Close()
		if s := server.Status(t.Context())[0]; !s.OK || s.Address == "" || strings.Contains(s.Address, "redis://") {
			t.Errorf("%s: the status is %+v", topology, s)
		}
		r := &robber{key: "nothing yet"}
		robbed := config
		robbed.WrapConn = r.wrap
		in, err := backend.Open(t.Context(), robbed)
		labtest.Must(t, err)
		defer in.Close()
		for way, send := range ways {
			for name, says := range map[string]error{
				"the connection ends": io.EOF,
				"half a reply":        io.ErrUnexpectedEOF,
				"reset":               &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
				"time-out":            &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded},
			} {
				t.Run(fmt.Sprint(topology, ", ", way, ", ", name), func(t *testing.T) {
					for slot := range 4 { // of several masters
						key := fmt.Sprintf("robbed-%d-%s-%s", slot, topology, strings.ReplaceAll(way+name, " ", "-"))
						// Loads the script on the key's own server: a ring sends SCRIPT LOAD anywhere.
						labtest.Must(t, increment.Eval(t.Context(), server.Redis, []string{key}).Err())
						server.Redis.Del(t.Context(), key)
						r.aim(key, says)
						sent := &taptest.Recorder{}
						err := send(tap.With(t.Context(), sent), in.Redis, key)
						ran, _ := server.Redis.Get(t.Context(), key).Int()
						if err == nil || ran > 1 || ran == 0 && way != "WATCH" {
							t.Errorf("the caller was told %v, and it ran %d times; want an error, and once", err, ran)
						}
						if seen := sent.Seen(); countContaining(seen, key) != r.times() {
							t.Errorf("the server got %d commands, the tap saw %q", r.times(), seen)
						}
						if errors.Is(err, io.EOF) {
							t.Error("the error looks like one that a client repeats for")
						}
					}
				})
			}
		}
	}
}
