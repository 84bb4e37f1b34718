package lab_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

// emptyLab has nothing but what the test asks for.
func emptyLab(t *testing.T) *lab.Lab {
	t.Helper()
	return ownLab(t, []string{}...)
}

func ensemble(t *testing.T, l *lab.Lab, name string) *lab.Ensemble {
	t.Helper()
	e, err := l.Ensemble(t.Context(), name)
	must(t, "start the ensemble of "+name, err)
	return e
}

func take(t *testing.T, e *lab.Ensemble) (give func()) {
	t.Helper()
	give, err := e.Take(t.Context())
	must(t, "take the ensemble", err)
	return give
}

func node(t *testing.T, e *lab.Ensemble, role string) *lab.Process {
	t.Helper()
	p, err := e.Node(t.Context(), role)
	must(t, "find the "+role, err)
	return p
}

// What Redis acknowledged and had not replicated is lost in a failover; what it
// had replicated is not. Clients keep their address.
func TestRedisFailsOverWithoutTheLastWrites(t *testing.T) {
	e := ensemble(t, emptyLab(t), backend.NameRedis)
	var before []string
	for round := range 2 { // the second on a pair that was made whole again
		give := take(t, e)
		addrs := e.Config(backend.Config{}, nil).RedisAddrs
		if round > 0 && !slices.Equal(addrs, before) {
			t.Errorf("the pair is at %v, and was at %v", addrs, before)
		}
		before = addrs
		c := redis.NewClient(redisOptions(t, addrs[0]))
		if n, err := c.DBSize(t.Context()).Result(); err != nil || n != 0 {
			t.Errorf("round %d begins with %d keys, %v; want none", round, n, err)
		}
		must(t, "write", c.Set(t.Context(), "replicated", "yes", 0).Err())
		must(t, "let the replica lag", e.Lag(t.Context()))
		must(t, "write", c.Set(t.Context(), "acknowledged", "yes", 0).Err())
		must(t, "lose the primary", e.Lose(t.Context(), node(t, e, lab.Primary)))
		got, err := c.MGet(t.Context(), "replicated", "acknowledged").Result()
		if err != nil || got[0] != "yes" || got[1] != nil {
			t.Errorf("after the failover: %v, %v; want the first write and not the second", got, err)
		}
		must(t, "write to the new primary", c.Set(t.Context(), "new", "yes", 0).Err())
		c.Close()
		give()
	}
}

func TestFourOfFiveRedisGoOn(t *testing.T) {
	e := ensemble(t, emptyLab(t), backend.NameRedlock)
	give := take(t, e)
	c := e.Config(backend.Config{}, nil)
	lost := node(t, e, lab.AnyOne)
	must(t, "lose one", e.Lose(t.Context(), lost))
	if answer := answering(c.RedlockAddrs); len(answer) != 4 || slices.Contains(answer, lost.Login()) {
		t.Errorf("%v answer, without %s; want four", answer, lost.Addr)
	}
	give()
	defer take(t, e)()
	if answer := answering(c.RedlockAddrs); len(answer) != 5 {
		t.Errorf("%v answer when it was made whole, want five", answer)
	}
}

func answering(addrs []string) (answer []string) {
	for _, addr := range addrs {
		a, err := backend.ParseRedis(addr)
		if err != nil {
			continue
		}
		if c, err := net.Dial("tcp", a.Host); err == nil {
			c.Close()
			answer = append(answer, addr)
		}
	}
	return answer
}

// Servers of an ensemble are neither backends nor services of the lab.
func TestEnsemblesStandBeside(t *testing.T) {
	l := emptyLab(t)
	e := ensemble(t, l, backend.NameRedis)
	if again := ensemble(t, l, backend.NameRedis); again != e {
		t.Error("a second ensemble was started")
	}
	if len(l.Backends()) != 0 || len(l.Services()) != 0 || l.Config().RedisAddrs != nil {
		t.Errorf("the lab has backends %v and services %v, want none", l.Backends(), l.Services())
	}
	give := take(t, e)
	waiting, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := e.Take(waiting); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second user is told %v, want that he has to wait", err)
	}
	give()
	take(t, e)()
	if _, err := l.Ensemble(t.Context(), backend.NameMySQL); !errors.Is(err, lab.ErrNoServer) {
		t.Errorf("an ensemble of MySQL: %v, want %v", err, lab.ErrNoServer)
	}
	without := ownLabWith(t, map[lab.Tool]lab.Program{lab.Etcd: {}})
	if _, err := without.Ensemble(t.Context(), backend.NameEtcd); !errors.Is(err, lab.ErrNoServer) || !strings.Contains(err.Error(), "seckill doctor") {
		t.Errorf("an ensemble without its program: %v, want %v and how to get it", err, lab.ErrNoServer)
	}
}

func ownLabWith(t *testing.T, p map[lab.Tool]lab.Program) *lab.Lab {
	t.Helper()
	l, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Folder: t.TempDir(), Backends: []string{}, Programs: p})
	must(t, "start a lab", err)
	t.Cleanup(func() { l.Stop(context.Background()) })
	return l
}
