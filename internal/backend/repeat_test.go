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

// A replyLoser lets the server run every command that contains its key, but loses the reply. The
// read of the reply returns the error err instead.
type replyLoser struct {
	mu   sync.Mutex
	key  string
	err  error
	lost int
}

func (r *replyLoser) aim(key string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.key, r.err, r.lost = key, err, 0
}

func (r *replyLoser) isTarget(sent []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Contains(sent, []byte(r.key))
}

func (r *replyLoser) lose() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost++
	return r.err
}

func (r *replyLoser) lostReplies() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost
}

func (r *replyLoser) wrap(c net.Conn) net.Conn { return &lossyConn{Conn: c, loser: r} }

type lossyConn struct {
	net.Conn
	loser *replyLoser
	armed atomic.Bool // if true, the next reply is lost
}

func (c *lossyConn) Write(b []byte) (int, error) {
	if c.loser.isTarget(b) {
		c.armed.Store(true)
	}
	return c.Conn.Write(b)
}

func (c *lossyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && c.armed.Load() {
		c.Conn.Close()
		return 0, c.loser.lose()
	}
	return n, err
}

func (c *lossyConn) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
}

var increment = redis.NewScript("return redis.call('INCR', KEYS[1])")

// ways lists ways to send a command that increments key by one.
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

// If a reply is lost, the server has run the command once and the caller gets an error. The tap sees every command
// that is sent.
func TestLostReplyIsNotRepeated(t *testing.T) {
	for topology, config := range map[string]backend.Config{
		"single":   labtest.Config(t, backend.Redis),
		"cluster":  labtest.NewLab(t, lab.Cluster, backend.NameRedis).Config(),
		"sentinel": labtest.NewLab(t, lab.Sentinel, backend.NameRedis).Config(),
		"ring":     labtest.NewLab(t, lab.Ring, backend.NameRedis).Config(),
	} {
		server := labtest.Open(t, config)
		if s := server.Status(t.Context())[0]; !s.OK || s.Address == "" || strings.Contains(s.Address, "redis://") {
			t.Errorf("%s: the status is %+v", topology, s)
		}
		r := &replyLoser{key: "nothing yet"}
		lossy := config
		lossy.WrapConn = r.wrap
		in := labtest.Open(t, lossy)
		for way, send := range ways {
			for name, lost := range map[string]error{
				"the connection ends": io.EOF,
				"half a reply":        io.ErrUnexpectedEOF,
				"reset": &net.OpError{Op: "read", Net: "tcp",
					Err: os.NewSyscallError("read", syscall.ECONNRESET)},
				"timeout": &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded},
			} {
				t.Run(fmt.Sprint(topology, ", ", way, ", ", name), func(t *testing.T) {
					for slot := range 4 { // use several keys, so that a Cluster stores them on different masters
						key := fmt.Sprintf("lossy-%d-%s-%s", slot, topology, strings.ReplaceAll(way+name, " ", "-"))
						// Eval loads the script on the key's server. SCRIPT LOAD has no key, so a ring might send it to
						// another server.
						labtest.Must(t, increment.Eval(t.Context(), server.Redis, []string{key}).Err())
						server.Redis.Del(t.Context(), key)
						r.aim(key, lost)
						sent := &taptest.Recorder{}
						err := send(tap.With(t.Context(), sent), in.Redis, key)
						ran, _ := server.Redis.Get(t.Context(), key).Int()
						if err == nil || ran > 1 || ran == 0 && way != "WATCH" {
							t.Errorf("the caller got %v, and the command ran %d times; want an error, and once",
								err, ran)
						}
						labtest.Same(t, countContaining(sent.Seen(), key), r.lostReplies(),
							"the commands without a reply among %q", sent.Seen())
						if errors.Is(err, io.EOF) {
							t.Error("a client would repeat the command after this error")
						}
					}
				})
			}
		}
	}
}
