package game_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/internal/labapi"
	"seckill/internal/web"
	"seckill/strategies"
)

func TestMain(m *testing.M) { os.Exit(labtest.Main(m)) }

func formatState(s game.State) string {
	text, _ := json.MarshalIndent(s, "", "  ")
	return string(text)
}

// problemCode returns the code of a *web.Problem; "" for any other error.
func problemCode(err error) string {
	var p *web.Problem
	if !errors.As(err, &p) {
		return ""
	}
	return p.Code
}

// FormatSchedule writes every text that ReadSchedule reads, and different choices as different texts.
func TestSchedulesReadAndWrite(t *testing.T) {
	const all = "abchnaLTDaGbQcRaCbWaVaJbKcRnaSPa"
	choices := labtest.Value(game.ReadSchedule(all)).Must(t)
	if got := game.FormatSchedule(choices...); got != all || len(choices) != 19 {
		t.Errorf("%q became %d choices, %q", all, len(choices), got)
	}
	slices.SortFunc(choices, func(a, b explore.Choice) int {
		return strings.Compare(game.FormatSchedule(a), game.FormatSchedule(b))
	})
	labtest.Same(t, len(slices.Compact(choices)), 19, "the different texts of %v", choices)
	for text, want := range map[string]string{"abbi": "letter 4", "A": "letter 1",
		"aD": "letter 2: a buyer's letter must follow", "Dn": "letter 2", "a b": "letter 2"} {
		labtest.Value(game.ReadSchedule(text)).Fails(t, want, "%q", text)
	}
}

// An account without the right to create databases gets an error that says so. No attempt leaves a connection open.
func TestAccountMayNotCreateDatabases(t *testing.T) {
	l := labtest.Start(t, backend.SQL)
	admin := labtest.Admin(t, l)
	const poor = "'poor'@'127.0.0.1'"
	for _, statement := range []string{"CREATE USER " + poor, "GRANT ALL ON seckill.* TO " + poor} {
		labtest.Value(admin.Exec(statement)).Must(t)
	}
	defer func() { _, _ = admin.Exec("DROP USER " + poor) }()
	servers := l.Config()
	address := labtest.Value(mysql.ParseDSN(servers.MySQLDSN)).Must(t)
	address.User, address.Passwd = "poor", ""
	servers.MySQLDSN = address.FormatDSN()
	naive := strategies.Named("naive")
	for range 3 {
		labtest.Value(game.Open(t.Context(), servers, naive, game.FreePlay(naive, 2, 2, 0), nil, "")).Fails(t,
			"Access denied", "Open with an account that may not create databases")
	}
	labtest.Soon(t, "the account has no connection to the server", func() bool {
		left := 0
		labtest.Must(t, admin.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'poor'").Scan(&left))
		return left == 0
	})
}

// A schedule that was parsed and formatted again is the same text.
func FuzzSchedule(f *testing.F) {
	for _, schedule := range []string{"", "aab", "abLDaRb", "Dna", "DnA", "Kc", "a b", "TTaz", "nb", "\xff"} {
		f.Add(schedule)
	}
	f.Fuzz(func(t *testing.T, schedule string) {
		if read, err := game.ReadSchedule(schedule); err == nil {
			written := game.FormatSchedule(read...)
			labtest.Value(game.ReadSchedule(written)).Same(t, read, "%q, written as %q", schedule, written)
		}
	})
}

// ReadExample refuses a file, or returns an example that can be written and read again.
func FuzzExample(f *testing.F) {
	kept := labtest.Value(os.ReadFile("../../web/guarantees/atomic.oversell.json")).Must(f)
	f.Add(string(kept))
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := game.ReadExample(strings.NewReader(text)); err == nil {
			var written strings.Builder
			labtest.Must(t, e.Write(&written))
			labtest.Value(game.ReadExample(strings.NewReader(written.String()))).Check(t, nil,
				"%q, read as it is written: %q", text, written.String())
		}
	})
}

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
	games := game.Games{Servers: func() backend.Config { return servers }, Strategies: strategies.All(),
		Missing: func(catalog.Info) []string { return nil }}
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
