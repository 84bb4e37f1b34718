package game_test

import (
	"encoding/json"
	"io"
	"net/http"
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

// Every call about a game answers with the whole state, and every wrong call with a code.
func TestGameOverHTTP(t *testing.T) {
	s := labapi.New(labapi.Config{Strategies: strategies.All(), Addr: "127.0.0.1:8080", Backing: labapi.Backing{
		Lab: fault.Lab{Lab: labtest.Start(t)}, Games: startGames(t, nil, "for-update")}})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	type answer struct {
		game.State
		Code, Detail string
		Levels       []game.Level
	}
	ask := func(method, path, body string, want int, code string, header ...string) (a answer) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/api/lab/v1"+path, strings.NewReader(body))
		labtest.Must(t, err)
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultClient.Do(r)
		labtest.Must(t, err)
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if len(text) > 0 {
			if err := json.Unmarshal(text, &a); err != nil {
				t.Fatalf("%s %s: %v: %s", method, path, err, text)
			}
		}
		if resp.StatusCode != want || a.Code != code {
			t.Errorf("%s %s %s: got %d %s, want %d %q", method, path, body, resp.StatusCode, text, want, code)
		}
		if code != "" && resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: the Content-Type of the problem is %s", method, path, resp.Header.Get("Content-Type"))
		}
		return a
	}
	if list := ask("GET", "/levels", "", 200, "").Levels; len(list) < 12 || !list[0].Available || list[0].Number != 1 {
		t.Errorf("the levels: %+v", list)
	}
	g := ask("POST", "/games", `{"strategy":"naive","schedule":"ab"}`, 201, "")
	at := "/games/" + g.ID
	g = ask("POST", at+"/moves", `{"move":"b"}`, 200, "")
	if g.Schedule != "abb" || g.ID == "" {
		t.Errorf("after a move: %+v", g.State)
	}
	ask("POST", at+"/moves", `{"move":7}`, 400, "invalid")
	ask("POST", at+"/impossible", `{}`, 409, "no_level")
	if g = ask("POST", at+"/undo", `{"moves":2}`, 200, ""); g.Schedule != "a" {
		t.Errorf("after undo: %+v", g.State)
	}
	ask("POST", at+"/undo", `{"moves":2}`, 409, "nothing_to_undo")
	if g = ask("GET", at, "", 200, ""); g.Schedule != "a" {
		t.Errorf("%+v", g.State)
	}

	waits := "/games/" + ask("POST", "/games", `{"strategy":"for-update","schedule":"abab"}`, 201, "").ID
	for move, want := range map[string]string{"b": "These are: a", "c": "These are: a", "T": "These are: a",
		"Va": "These are: a", "x": "is not one move", "aa": "is not one move", "": "is not one move"} {
		a := ask("POST", waits+"/moves", `{"move":"`+move+`"}`, 409, "impossible_move")
		if !strings.Contains(a.Detail, want) {
			t.Errorf("the move %q: got %q, want %q in it", move, a.Detail, want)
		}
	}
	if g = ask("GET", waits, "", 200, ""); g.Schedule != "abab" || g.Over {
		t.Errorf("refused moves have changed the game: %s", formatState(g.State))
	}

	over := ask("POST", "/games", `{"level":"first-lost-update","schedule":"abbbbbaaaa"}`, 201, "")
	if !over.Over || over.Grade == nil || !over.Grade.Won {
		t.Errorf("%+v", over.State)
	}
	ask("POST", "/games/"+over.ID+"/moves", `{"move":"a"}`, 409, "game_over")
	if undone := ask("POST", "/games/"+over.ID+"/undo", `{"moves":1}`, 200, ""); undone.Over || undone.Grade != nil {
		t.Errorf("after undoing the last move: %+v", undone.State)
	}
	ask("DELETE", "/games/"+over.ID, "", 204, "")
	ask("DELETE", "/games/"+over.ID, "", 404, "unknown_game")
	ask("GET", "/games/"+over.ID, "", 404, "unknown_game")
	cannot := ask("POST", "/games", `{"level":"one-statement"}`, 201, "")
	cannot = ask("POST", "/games/"+cannot.ID+"/impossible", `{}`, 200, "")
	if g := cannot.Grade; g == nil || !g.Won || !g.SaidImpossible || g.Searched < 2 {
		t.Errorf("an impossible level that the player calls impossible: %+v", cannot.State)
	}
	for body, code := range map[string]string{
		`{}`:                                         "invalid",
		`{"strategy":"naive","level":"x"}`:           "invalid",
		`{"strategy":"naive","stock":0}`:             "invalid",
		`{"strategy":"naive","buyers":4}`:            "invalid",
		`{"strategy":"naive","processes":2}`:         "invalid",
		`{"strategy":"naive","schedule":"q"}`:        "bad_schedule",
		`{"strategy":"naive","schedule":"aaaaaaaa"}`: "bad_schedule",
		`{"strategy":"naive","schedule":"` + strings.Repeat("a", 401) + `"}`: "bad_schedule",
	} {
		ask("POST", "/games", body, 400, code)
	}
	ask("POST", "/games", `{"level":"no-such"}`, 404, "unknown_level")
	ask("POST", "/games", `{"strategy":"no-such"}`, 404, "unknown_strategy")
	// A page of another site may not make a move.
	ask("POST", at+"/moves", `{"move":"a"}`, 403, "forbidden", "Origin", "http://elsewhere.example")
	labtest.Must(t, s.Close(t.Context()))
	ask("GET", at, "", 404, "unknown_game")
	ask("POST", "/games", `{"strategy":"naive"}`, 503, "lab_closes")
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
