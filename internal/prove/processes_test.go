package prove_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies/redislock"
	"seckill/strategies/sqlrow"
)

// startPart returns a process of a proof, which runs in this process. It proves no schedules, so several may use the
// same servers.
func startPart(t *testing.T, o prove.Options) prove.Process {
	in, names := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- prove.Serve(t.Context(), o, in, out)
		_ = out.Close()
	}()
	return prove.Process{In: names, Out: answers, Wait: func() error { return <-ended }}
}

// withoutRedis returns the options of a proof with answers that need no schedule.
func withoutRedis(t *testing.T, workers int) prove.Options {
	l := labtest.Start(t, backend.SQL)
	return prove.Options{Infos: []catalog.Info{redislock.RedisLua, sqlrow.Conditional, redislock.RedisToken},
		Questions: []string{"owner", "reentrant"}, Workers: workers,
		Servers: func(context.Context) (prove.Servers, error) { return sqlOnly{servers{l}}, nil }}
}

func TestProcessesShareAProof(t *testing.T) {
	want := labtest.Value(prove.Run(t.Context(), withoutRedis(t, 1))).Must(t)
	o := withoutRedis(t, 3)
	var reported []string
	o.Progress = func(done, total int, strategy string, q prove.Question, _ prove.Cell) {
		if done != len(reported)+1 || total != 6 {
			t.Errorf("progress %d of %d after %d answers, want one more, of 6", done, total, len(reported))
		}
		reported = append(reported, strategy+" "+q.ID)
	}
	got, err := prove.RunProcesses(t.Context(), o,
		[]prove.Process{startPart(t, withoutRedis(t, 1)), startPart(t, withoutRedis(t, 2))})
	labtest.Must(t, err)
	got.Took, want.Took = "", ""
	if !reflect.DeepEqual(got.Rows, want.Rows) || !reflect.DeepEqual(got.Backends, want.Backends) || len(reported) != 6 {
		t.Errorf("two processes: %+v and %d reports\none: %+v", got, len(reported), want)
	}
}

// If a process dies, the proof ends with its reason, and the other processes end.
func TestProcessThatDies(t *testing.T) {
	in, names := io.Pipe()
	dies := prove.Process{In: names, Out: strings.NewReader(""), Wait: func() error { return errors.New("signal: killed") }}
	_ = in.Close()
	_, err := prove.RunProcesses(t.Context(), withoutRedis(t, 2), []prove.Process{dies, startPart(t, withoutRedis(t, 1))})
	if err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("error %v, want how the process ended", err)
	}
}

// If a process cannot prove, the proof ends with the error of that process.
func TestProcessThatFails(t *testing.T) {
	fails := withoutRedis(t, 1)
	fails.Servers = func(context.Context) (prove.Servers, error) { return nil, errors.New("no server starts") }
	_, err := prove.RunProcesses(t.Context(), withoutRedis(t, 2), []prove.Process{startPart(t, fails),
		startPart(t, withoutRedis(t, 1))})
	if err == nil || err.Error() != "no server starts" {
		t.Errorf("error %v, want that of the process", err)
	}
}

// When the caller's context ends, the processes end, and the caller gets the answers so far.
func TestProcessesAreInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	o := withoutRedis(t, 1)
	o.Progress = func(int, int, string, prove.Question, prove.Cell) { cancel(interrupted) }
	m, err := prove.RunProcesses(ctx, o, []prove.Process{startPart(t, withoutRedis(t, 1))})
	if !errors.Is(err, interrupted) || len(m.Rows[0].Cells) == 0 {
		t.Errorf("error %v and answers to %v, want the interruption and an answer", err,
			slices.Collect(maps.Keys(m.Rows[0].Cells)))
	}
}
