package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"seckill/internal/game"
	"seckill/web"
)

// Fake games are two buyers who read a number, subtract, write it back, and
// place an order; in the level "safe" the row is locked from the read on.
type fakeGames struct {
	url  string
	fake *fake // the lab beside them

	mu    sync.Mutex
	games map[string]*game.State
	made  int
	wrong string // the code of the next answers; "": none
}

// startGames serves the page with fake games.
func startGames(t *testing.T) *fakeGames {
	t.Helper()
	f := startFake(t)
	g := &fakeGames{fake: f, games: map[string]*game.State{}}
	mux := http.NewServeMux()
	mux.Handle("/", f.handler)
	mux.HandleFunc("GET /api/lab/v1/levels", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"levels": fakeLevels})
	})
	mux.HandleFunc("POST /api/lab/v1/replays", g.replay)
	mux.HandleFunc("POST /api/lab/v1/games", g.begin)
	mux.HandleFunc("/api/lab/v1/games/{id}", g.one)
	mux.HandleFunc("POST /api/lab/v1/games/{id}/{do}", g.act)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

func fakeSetting(strategy string, faults int) game.Setting {
	s := game.Setting{Strategy: strategy, Stock: 2, Faults: []string{}, MaxFaults: faults,
		Buyers: []game.Buyer{{Name: "A", Quantity: 2, Does: "buys"}, {Name: "B", Quantity: 1, Does: "buys", Process: 1}}}
	if faults > 0 {
		s.Faults = []string{"lease ends", "dies", "reply lost", "delayed"}
	}
	return s
}

var fakeLevels = []game.Level{
	{Name: "first", Number: 1, Chapter: 1, Setting: fakeSetting("naive", 0), Breaks: []string{"oversold"}, Available: true, Text: map[string]game.LevelText{
		"en": {Title: "The first lost update", Goal: "Sell more than there is.", Hint: "Let both read before one of them writes.", Solved: "Both read 2, and the second write hid the first."},
		"zh": {Title: "第一次丢失更新", Goal: "卖出比库存更多的商品。", Hint: "先让两个人都读，再让其中一个写。", Solved: "两个人都读到 2，后写的盖住了先写的。"}}},
	{Name: "safe", Number: 2, Chapter: 1, Setting: fakeSetting("conditional", 1), Breaks: []string{"oversold"}, Available: true, Text: map[string]game.LevelText{
		"en": {Title: "Locked from the read on", Goal: "Sell more than there is, or say that it cannot be done.", Hint: "Who waits for whom?", Solved: "The row is locked from the read to the commit."},
		"zh": {Title: "从读开始就锁住", Goal: "卖出比库存更多的商品，或者说明做不到。", Hint: "谁在等谁？", Solved: "从读到提交，这一行一直锁着。"}}},
	{Name: "herd", Number: 3, Chapter: 0, Setting: fakeSetting("zk", 2), Breaks: []string{"two_holders"}, Missing: []string{"no ZooKeeper is configured: install one (seckill doctor says how)"}, Text: map[string]game.LevelText{
		"en": {Title: "Two in the queue", Goal: "Have two holders of one lock.", Hint: "A session can end.", Solved: "A session ended."},
		"zh": {Title: "队列里的两个人", Goal: "让同一把锁有两个持有者。", Hint: "会话是会结束的。", Solved: "会话结束了。"}}},
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"status": status, "code": code, "detail": "refused: " + code})
}

// replay answers with the counterexample as it is kept.
func (g *fakeGames) replay(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ask struct{ Example string }
	if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || g.wrong != "" {
		refuse(w, http.StatusServiceUnavailable, g.wrong)
		return
	}
	http.ServeFileFS(w, r, web.Guarantees(), ask.Example+".json")
}

func (g *fakeGames) begin(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var ask struct {
		Level, Strategy, Schedule string
		Buyers, Stock             int
	}
	json.NewDecoder(r.Body).Decode(&ask)
	if g.wrong != "" {
		refuse(w, http.StatusTooManyRequests, g.wrong)
		return
	}
	at := slices.IndexFunc(fakeLevels, func(l game.Level) bool { return l.Name == ask.Level })
	setting := fakeSetting(ask.Strategy, 1)
	if at >= 0 {
		setting = fakeLevels[at].Setting
	}
	g.made++
	s, ok := played(game.State{ID: fmt.Sprintf("G%d", g.made), Level: ask.Level, Setting: setting}, ask.Schedule)
	if !ok {
		refuse(w, http.StatusBadRequest, "bad_schedule")
		return
	}
	g.games[s.ID] = s
	w.WriteHeader(http.StatusCreated)
	json.NewEncoder(w).Encode(s)
}

func (g *fakeGames) one(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.games[r.PathValue("id")]
	switch {
	case s == nil:
		refuse(w, http.StatusNotFound, "unknown_game")
	case r.Method == http.MethodDelete:
		delete(g.games, s.ID)
		w.WriteHeader(http.StatusNoContent)
	default:
		json.NewEncoder(w).Encode(s)
	}
}

func (g *fakeGames) act(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.games[r.PathValue("id")]
	if s == nil {
		refuse(w, http.StatusNotFound, "unknown_game")
		return
	}
	var ask struct {
		Move  string
		Moves int
	}
	json.NewDecoder(r.Body).Decode(&ask)
	switch r.PathValue("do") {
	case "moves":
		next, ok := played(*s, s.Schedule+ask.Move)
		if !ok {
			refuse(w, http.StatusConflict, "impossible_move")
			return
		}
		g.games[s.ID] = next
	case "undo":
		g.games[s.ID], _ = played(*s, s.Schedule[:s.MovesMade-ask.Moves])
	case "impossible":
		s.Grade = &game.Grade{SaidImpossible: true}
		if s.Level == "safe" {
			s.Grade = &game.Grade{Won: true, SaidImpossible: true, Impossible: true, Searched: 1234}
		}
	}
	json.NewEncoder(w).Encode(g.games[s.ID])
}

// played is a game after a schedule of the letters a and b; false: it cannot be.
func played(s game.State, schedule string) (*game.State, bool) {
	locked := s.Setting.Strategy == "conditional"
	s.Schedule, s.MovesMade, s.Switches, s.Over, s.Verdict, s.Grade = schedule, len(schedule), 0, false, nil, nil
	s.Steps, s.Moves, s.Buyers, s.FaultsLeft = []game.Step{}, []game.Move{}, nil, s.Setting.MaxFaults
	row, at, read, sold := int64(2), [2]int{}, [2]int64{}, [2]bool{}
	texts := func(i int) []string {
		suffix := ""
		if locked {
			suffix = " FOR UPDATE"
		}
		return []string{"SELECT num, run FROM stock WHERE id = 1" + suffix, fmt.Sprintf("UPDATE stock SET num = %d WHERE id = 1 AND run = 1", read[i]-s.Setting.Buyers[i].Quantity),
			fmt.Sprintf("INSERT INTO orders (id, user_id, sku_id, quantity) VALUES (time%d, %d, 1, %d)", i+1, i+1, s.Setting.Buyers[i].Quantity), "COMMIT"}
	}
	done := func(i int) bool { return at[i] == 4 || at[i] > 0 && read[i] < s.Setting.Buyers[i].Quantity }
	waits := func(i int) bool { return locked && at[i] == 0 && at[1-i] > 0 && !done(1-i) }
	for n, letter := range schedule {
		i := int(letter - 'a')
		if i < 0 || i > 1 || done(i) || waits(i) {
			return nil, false
		}
		if n > 0 && rune(schedule[n-1]) != letter && !done(1-i) && !waits(1-i) {
			s.Switches++
		}
		step := game.Step{Move: string(letter), Who: s.Setting.Buyers[i].Name, Backend: "sql", Text: texts(i)[at[i]]}
		switch at[i] {
		case 0:
			read[i] = row
			step.Reply = fmt.Sprintf("num = %d, run = 1", row)
		case 1:
			row = read[i] - s.Setting.Buyers[i].Quantity
		case 3:
			sold[i] = true
		}
		at[i]++
		step.Values = []game.Value{{Name: "stock.num", Value: fmt.Sprint(row)}}
		s.Steps = append(s.Steps, step)
	}
	s.Values = []game.Value{{Name: "stock.num", Value: fmt.Sprint(row)}}
	units := int64(0)
	for i, b := range s.Setting.Buyers {
		column := game.BuyerState{Buyer: b, State: game.Ready}
		switch {
		case done(i) && sold[i]:
			column.State, column.Outcome, column.Told = game.Done, "sold", fmt.Sprintf("sold %d, %d left", b.Quantity, read[i]-b.Quantity)
			units += b.Quantity
		case done(i):
			column.State, column.Outcome, column.Told = game.Done, "sold_out", "sold out"
		case waits(i):
			column.State = game.Waits
			column.Waiting = &game.Waiting{Command: game.Command{Backend: "sql", Text: texts(i)[0]}, Why: "waits for the lock X,REC_NOT_GAP on stock, index PRIMARY",
				For: []string{s.Setting.Buyers[1-i].Name}}
		default:
			column.Next = &game.Command{Backend: "sql", Text: texts(i)[at[i]]}
			s.Moves = append(s.Moves, game.Move{Move: strings.ToLower(b.Name), Who: b.Name, Command: column.Next})
			if s.FaultsLeft > 0 {
				s.Moves = append(s.Moves, game.Move{Move: "D" + strings.ToLower(b.Name), Who: b.Name, Fault: "dies", Costs: true})
			}
		}
		s.Buyers = append(s.Buyers, column)
	}
	if s.Over = done(0) && done(1); s.Over {
		s.Moves = []game.Move{}
		s.Verdict = &game.Verdict{Stock: 2, Sold: units, Told: units, Left: row, Problems: []game.Problem{}}
		if s.Verdict.Broken = units > 2; s.Verdict.Broken {
			s.Verdict.Problems = append(s.Verdict.Problems, game.Problem{Rule: "oversold", Message: "3 units sold out of 2: 1 too many"})
		}
		if s.Level != "" {
			s.Grade = &game.Grade{Won: s.Verdict.Broken}
			if s.Grade.Won {
				s.Grade.BestMoves, s.Grade.BestSwitches, s.Grade.Golf = 8, 1, "even"
				if s.Switches > 1 {
					s.Grade.Golf = "longer"
				}
			}
		}
	}
	return &s, true
}
