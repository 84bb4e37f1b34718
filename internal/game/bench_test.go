package game_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/internal/labapi"
	"seckill/strategies"
)

// BenchmarkMove is a button's answer: a command of the first level's buyers over
// HTTP, and everything that the screen shows after it.
func BenchmarkMove(b *testing.B) {
	servers := labtest.Start(b, backend.SQL, backend.RowLocks).Config()
	hall := &game.Hall{Servers: func() backend.Config { return servers }, Strategies: strategies.All()}
	b.Cleanup(func() { _ = hall.Close(context.WithoutCancel(b.Context())) })
	server := httptest.NewServer(labapi.New(labapi.Config{Lab: fault.In(labtest.Start(b)), Strategies: strategies.All(), Addr: "127.0.0.1:8080",
		Page: fstest.MapFS{}, Guarantees: fstest.MapFS{"matrix.json": {Data: []byte(`{"format":1}`)}}, Games: hall}))
	b.Cleanup(server.Close)
	ask := func(path, body string) (s game.State) {
		b.Helper()
		r, err := http.Post(server.URL+"/api/lab/v1/games"+path, "application/json", bytes.NewBufferString(body))
		if err != nil {
			b.Fatal(err)
		}
		defer r.Body.Close()
		if err := json.NewDecoder(r.Body).Decode(&s); err != nil || r.StatusCode >= 300 {
			b.Fatalf("%s: %s, %v", path, r.Status, err)
		}
		return s
	}
	var all []time.Duration
	for b.Loop() {
		b.StopTimer()
		g := ask("", `{"level":"first-lost-update"}`)
		for _, move := range "abbbbbaaaa" {
			b.StartTimer()
			begun := time.Now()
			g = ask("/"+g.ID+"/moves", fmt.Sprintf(`{"move":"%c","after":%d}`, move, g.MovesMade))
			all = append(all, time.Since(begun))
			b.StopTimer()
		}
		if !g.Over {
			b.Fatalf("the game is not over: %s", g.Schedule)
		}
		if err := hall.End(g.ID); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	slices.Sort(all)
	for share, name := range map[int]string{50: "p50-ms/move", 99: "p99-ms/move"} {
		b.ReportMetric(float64(all[(len(all)-1)*share/100])/1e6, name)
	}
}
