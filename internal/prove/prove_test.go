package prove_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

type servers struct{ *lab.Lab }

func (servers) Close() error { return nil }

func shared(t *testing.T) func(context.Context) (prove.Servers, error) {
	l := labtest.Start(t, backend.SQL, backend.Redis, backend.RedisQuorum, backend.ZooKeeper, backend.Etcd)
	return func(context.Context) (prove.Servers, error) { return servers{l}, nil }
}

func TestTry(t *testing.T) {
	names := strings.Split(os.Getenv("TRY"), ",")
	var infos []catalog.Info
	for _, i := range strategies.All() {
		for _, n := range names {
			if i.Name == n {
				infos = append(infos, i)
			}
		}
	}
	var qs []string
	if q := os.Getenv("ASK"); q != "" {
		qs = strings.Split(q, ",")
	}
	m, err := prove.Run(t.Context(), prove.Options{Infos: infos, Servers: shared(t), Workers: 1, Questions: qs,
		Progress: func(done, total int, s string, q prove.Question, c prove.Cell) {
			t.Logf("%d/%d %s %s: %+v", done, total, s, q.ID, c)
		},
		Example: func(e explore.Example) (string, error) {
			var b strings.Builder
			e.WriteTable(&b)
			t.Log("\n" + b.String())
			return "x", nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range m.Differences() {
		t.Log(d)
	}
}
