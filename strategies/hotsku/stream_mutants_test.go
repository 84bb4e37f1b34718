package hotsku

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"seckill/internal/ledger"
	"seckill/internal/tap"
)

// A meddler changes what a writer does with the entries that it reads.
type meddler struct {
	on      redis.UniversalClient // its own commands
	meddles func(m *meddler, stream string, row []any)
	reads   int
}

func (*meddler) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (*meddler) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (m *meddler) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		script, ok := cmd.(*redis.Cmd)
		if err != nil || !ok || cmd.Name() != "evalsha" || cmd.Args()[1] != streamNext.Hash() {
			return err
		}
		answer, _ := script.Val().([]any)
		for _, row := range answer[2].([]any) {
			m.reads++
			m.meddles(m, cmd.Args()[3].(string), row.([]any))
		}
		return nil
	}
}

// acksEarly acknowledges before the COMMIT: when it reads.
func acksEarly(m *meddler, stream string, row []any) {
	ctx := context.Background()
	if err := errors.Join(m.on.XAck(ctx, stream, "writers", row[0].(string)).Err(), m.on.XDel(ctx, stream, row[0].(string)).Err()); err != nil {
		panic(err)
	}
}

// keyless has no unique key: what is read again looks like another request of
// another user.
func keyless(m *meddler, _ string, row []any) {
	if fields := row[1].([]any); m.reads > 1 {
		for i := 0; i < len(fields); i += 2 {
			if name := fields[i]; name == "user" || name == "request" {
				fields[i+1] = fmt.Sprint(fields[i+1], "00", m.reads)
			}
		}
	}
}

// Without one of its guards a death makes the stream lose or repeat a purchase,
// and the audit says so. With all of them it is right.
func TestStreamMutants(t *testing.T) {
	for _, c := range []struct {
		guard   string
		meddles func(*meddler, string, []any)
		dies    tap.Tap
		rule    string // that the audit finds broken
	}{
		{"none is missing", func(*meddler, string, []any) {}, &dies{verb: "BEGIN"}, ""},
		{"it acknowledges before the COMMIT", acksEarly, &dies{verb: "BEGIN"}, ledger.RuleUnusedCounter},
		{"none is missing", func(*meddler, string, []any) {}, &diesAfter{"COMMIT", false}, ""},
		{"no unique key", keyless, &diesAfter{"COMMIT", false}, ledger.RuleCounterDisagrees},
	} {
		s := openStream(t, RedisStream, 5)
		m := &meddler{on: s.of[1].redis, meddles: c.meddles}
		client := redis.NewClient(s.of[0].redis.(*redis.Client).Options())
		t.Cleanup(func() { _ = client.Close() })
		client.AddHook(tap.RedisHook{})
		client.AddHook(m)
		s.of[0].redis = client
		_, _ = s.of[0].Deduct(tap.With(t.Context(), c.dies), s.purchase(1, 2, ""))
		s.age(t)
		s.drain(t, 0) // its own, or what it took over: the meddler is here
		var broken []string
		for _, v := range s.report(t).Violations {
			broken = append(broken, v.Rule)
		}
		if strings.Join(broken, " ") != c.rule {
			t.Errorf("%s: the audit finds %q broken, want %q", c.guard, broken, c.rule)
		}
	}
}
