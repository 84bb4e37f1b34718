package game_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/fault"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/internal/labapi"
	"seckill/strategies"
)

// Every valid request about a game is answered with the whole state, and every invalid one with a
// code. testdata/games.txt has the requests and answers.
func TestGameOverHTTP(t *testing.T) {
	s := labapi.New(labapi.Config{Strategies: strategies.All(), Addr: "127.0.0.1:8080", Backing: labapi.Backing{
		Lab: fault.Lab{Lab: labtest.Start(t)}, Games: startGames(t, nil, "for-update")}})
	calls := labtest.Calls{TB: t}
	calls.Ask = func(method, path, body string, headers []string) labtest.Answer {
		r := httptest.NewRequest(method, "/api/lab/v1"+path, strings.NewReader(body))
		r.Host, r.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:40000"
		r.Header.Set("Content-Type", "application/json")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return labtest.Answer{Status: w.Code, Header: w.Header(), Body: w.Body.Bytes()}
	}
	calls.Run("testdata/games.txt")
	labtest.Must(t, s.Close(t.Context()))
	calls.Run("testdata/closed.txt")
}

// Begin refuses a strategy that cannot be played on the servers of the lab.
func TestUnplayableStrategies(t *testing.T) {
	servers := backend.Config{SQLitePath: "x"}
	games := game.Games{Servers: func() backend.Config { return servers }, Strategies: strategies.All()}
	refuses := func(r game.Request, reason string) {
		t.Helper()
		_, err := games.Begin(t.Context(), r)
		if problemCode(err) != "strategy_unavailable" || !strings.Contains(err.Error(), reason) {
			t.Errorf("%+v: %v, want strategy_unavailable and %q", r, err, reason)
		}
	}
	refuses(game.Request{Strategy: "naive", Buyers: 2, Stock: 2}, "a real MySQL")
	if l := games.Levels()[0]; l.Available || len(l.Missing) == 0 {
		t.Errorf("%+v", l)
	}
	servers = backend.Config{MySQLDSN: "root@tcp(127.0.0.1:1)/x", RedisAddrs: []string{"127.0.0.1:1"},
		Tiers: map[string]backend.Tier{"redis": backend.Embedded}}
	refuses(game.Request{Level: "paused-holder"}, "embedded redis")
}
