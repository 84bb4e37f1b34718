package game_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
	"seckill/web"
	"seckill/web/course"
)

// Levels are numbered without a gap, in the order of the chapters. The strategy of a level has been
// shown in its chapter or an earlier one. Every level has texts in both languages.
func TestLevelsAreComplete(t *testing.T) {
	levels := game.Levels()
	if len(levels) < 12 {
		t.Fatalf("there are %d levels", len(levels))
	}
	chapters := course.Chapters()
	seen := map[string]bool{}
	last := 1
	for i, level := range levels {
		labtest.Same(t, level.Number, i+1, "the number of %s", level.Name)
		if seen[level.Name] {
			t.Errorf("two levels are called %q", level.Name)
		}
		seen[level.Name] = true
		if level.Chapter < last || level.Chapter > len(chapters) {
			t.Fatalf("%s belongs to chapter %d, but the level before it to chapter %d of %d", level.Name, level.Chapter, last, len(chapters))
		}
		last = level.Chapter
		if !slices.ContainsFunc(chapters[:last], func(c course.Chapter) bool {
			return slices.Contains(c.Strategies, level.Setting.Strategy)
		}) {
			t.Errorf("%s uses %s, which no chapter up to %d shows", level.Name, level.Setting.Strategy, last)
		}
		if len(level.Breaks) == 0 || level.Impossible > 0 && level.Schedule != "" {
			t.Errorf("%s names no rule to break, or is impossible and has a solution: %+v", level.Name, level)
		}
		for _, language := range catalog.Languages {
			if text := level.Text[language]; text.Title == "" || text.Goal == "" || text.Hint == "" || text.Solved == "" {
				t.Errorf("%s: a text in %q is missing: %+v", level.Name, language, text)
			}
		}
		if strings.ContainsFunc(level.Text["en"].Goal, func(r rune) bool { return r > 0x2e80 }) ||
			!strings.ContainsFunc(level.Text["zh"].Goal, func(r rune) bool { return r > 0x2e80 }) {
			t.Errorf("%s: its English goal contains Chinese, or its Chinese goal does not", level.Name)
		}
	}
}

// startGames returns the games of a lab that has the servers that the named strategies need.
func startGames(t *testing.T, change func(*game.Games), names ...string) *game.Games {
	t.Helper()
	var needs []backend.Capability
	for _, name := range names {
		needs = append(needs, strategies.Named(name).Uses()...)
	}
	servers := labtest.Start(t, needs...).Config()
	games := &game.Games{Servers: func() backend.Config { return servers }, Strategies: strategies.All(),
		Missing: func(catalog.Info) []string { return nil }}
	if change != nil {
		change(games)
	}
	t.Cleanup(func() { labtest.Check(t, games.Close(context.WithoutCancel(t.Context())), nil, "close the games") })
	return games
}

// findGame returns a game, and fails the test if the game has ended.
func findGame(t *testing.T, games *game.Games, id string) *game.Game {
	t.Helper()
	return labtest.Value(games.Game(id)).Must(t)
}

// gameDatabases lists the databases of games on the server.
func gameDatabases(t *testing.T, in *backend.Instance) (list []string) {
	t.Helper()
	labtest.Must(t, in.DB.Raw("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA "+
		"WHERE SCHEMA_NAME LIKE 'seckill\\_game\\_%'").Scan(&list).Error)
	return list
}

// A game that is ended in the middle of a purchase leaves no database.
func TestGamesLeaveNoDatabase(t *testing.T) {
	used := []string{"redis-setnx", "zk", "etcd", "get-lock"}
	games := startGames(t, nil, used...)
	in := labtest.Instance(t, backend.SQL)
	var ids []string
	for _, name := range used {
		s, err := games.Begin(t.Context(), game.Request{Strategy: name, Buyers: 2, Stock: 2, Schedule: "aab"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		id := s.ID
		if s, err = findGame(t, games, id).Move(t.Context(), s.Moves[0].Move); err != nil || s.MovesMade != 4 {
			t.Errorf("%s: %v, %s", name, err, formatState(s))
		}
		labtest.Value(findGame(t, games, id).Undo(t.Context(), 1)).Check(t, nil, "%s", name)
		ids = append(ids, id)
	}
	labtest.Same(t, len(gameDatabases(t, in)), len(used), "the databases of the games")
	for _, id := range ids {
		labtest.Must(t, games.End(id))
	}
	if left := gameDatabases(t, in); len(left) > 0 {
		t.Errorf("the games have left the databases %v", left)
	}
	_, err := games.Game("x")
	labtest.Same(t, problemCode(err), "unknown_game", "Game of an unknown ID")
}

// When one game more than MaxGames begins, the game that has been idle for the longest time is ended.
func TestIdleGameIsEnded(t *testing.T) {
	games := startGames(t, func(g *game.Games) { g.MaxGames = 2 }, "naive")
	var ids [3]string
	for i := range ids {
		if i == 2 { // use the first game once more, so that the second has been idle for longer
			findGame(t, games, ids[0])
		}
		ids[i] = labtest.Value(games.Begin(t.Context(), game.Request{Level: "first-lost-update"})).Must(t).ID
	}
	findGame(t, games, ids[0])
	findGame(t, games, ids[2])
	_, err := games.Game(ids[1])
	labtest.Same(t, problemCode(err), "unknown_game", "the idle game")
}

// A lab that is killed leaves the databases of its games. The next game on this server drops such a database, but
// not the database of a game that another lab plays.
func TestGamesOfAKilledLabAreRemoved(t *testing.T) {
	in := labtest.Instance(t, backend.SQL)
	alive := startGames(t, nil, "naive")
	other, err := alive.Begin(t.Context(), game.Request{Strategy: "naive", Buyers: 2, Stock: 2, Schedule: "aab"})
	labtest.Must(t, err)
	before := gameDatabases(t, in)
	var next string // the first unused name
	for n := 1; next == ""; n++ {
		if name := fmt.Sprint("seckill_game_", n); !slices.Contains(before, name) {
			next = name
		}
	}
	labtest.Must(t, in.DB.Exec("CREATE DATABASE "+next).Error)
	labtest.Must(t, in.DB.Exec("CREATE TABLE "+next+".stock (id INT)").Error)
	games := startGames(t, nil, "naive")
	s, err := games.Begin(t.Context(), game.Request{Strategy: "naive", Buyers: 2, Stock: 2, Schedule: "a"})
	labtest.Must(t, err)
	labtest.Must(t, games.End(s.ID))
	labtest.Same(t, gameDatabases(t, in), before, "the databases after the game")
	labtest.Must(t, alive.End(other.ID))
}

// Many games run at the same time, and some of their strategies lock whole tables. Each game ends as it would end
// alone.
func TestConcurrentGames(t *testing.T) {
	used := []string{"conditional-scan", "for-update-scan", "naive", "redis-blpop", "lock-table-v1", "for-update", "get-lock", "redis-set-nx-px"}
	games := startGames(t, nil, used...)
	var all sync.WaitGroup
	players := len(used)
	if labtest.Verify {
		players = game.DefaultMaxGames
	}
	for i := range players {
		name := used[i%len(used)]
		all.Go(func() {
			s, err := games.Begin(t.Context(), game.Request{Strategy: name, Buyers: 2, Stock: 2})
			g, _ := games.Game(s.ID)
			for n := 0; err == nil && !s.Over && n < 100; n++ {
				// The two buyers take turns where that is possible.
				move := s.Moves[0].Move
				for _, m := range s.Moves {
					if m.Fault == "" && m.Who != "" && (m.Who == "A") == (n%2 == 0) && !m.Renewer {
						move = m.Move
					}
				}
				s, err = g.Move(t.Context(), move)
			}
			switch {
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case !s.Over:
				t.Errorf("%s does not end: %s", name, s.Schedule)
			case s.Verdict.Broken != (name == "naive"):
				t.Errorf("%s: %s, %+v", name, s.Schedule, s.Verdict)
			}
		})
	}
	all.Wait()
}

// recordingOf reads the recording of a level.
func recordingOf(t *testing.T, level *game.Level) *game.Recording {
	t.Helper()
	f := labtest.Value(web.Recordings().Open(level.Name + ".json.gz")).Must(t)
	defer f.Close()
	return labtest.Value(game.ReadRecording(f)).Must(t)
}

// The solution of every level wins, with as many moves and switches as the level's file says. The servers still
// answer the moves of the solution as the level's recording says. A level without a solution is tested with one
// recorded schedule. With the build tag verify, the test makes every recorded move of every position.
// `seckill play --record web/recordings` records the levels again.
func TestServersAnswerAsRecorded(t *testing.T) {
	var needs []backend.Capability
	for _, level := range game.Levels() {
		needs = append(needs, strategies.Named(level.Setting.Strategy).Uses()...)
	}
	servers := labtest.Start(t, needs...).Config()
	solved := 0
	var group errgroup.Group
	group.SetLimit(6) // one game alone would mostly wait for its servers
	for _, level := range game.Levels() {
		r := recordingOf(t, level)
		if level.Schedule != "" {
			solved++
		} else if level.Impossible == 0 {
			t.Errorf("%s has no solution, and is not marked as impossible", level.Name)
		}
		if r.Level != level.Name || r.Recorded == "" || len(r.Servers) == 0 {
			t.Errorf("%s: its recording is of %q, %q, on %q", level.Name, r.Level, r.Recorded, r.Servers)
		}
		group.Go(func() error {
			info := strategies.Named(level.Setting.Strategy)
			g, err := game.Open(t.Context(), servers, info, level.Setting, level, "")
			if err == nil {
				err = errors.Join(playLevel(t, g, level, r), g.Close(t.Context()))
			}
			labtest.Check(t, err, nil, "%s", level.Name)
			return nil
		})
	}
	_ = group.Wait()
	if solved < 12 {
		t.Errorf("only %d levels have a solution", solved)
	}
}

func playLevel(t *testing.T, g *game.Game, level *game.Level, r *game.Recording) error {
	tour := game.Tour{Recording: r}
	if err := tour.Play(t.Context(), g, level.Schedule); err != nil {
		return err
	}
	if level.Schedule != "" {
		checkSolved(t, g, level)
	}
	for labtest.Verify && tour.Left() {
		if err := tour.Play(t.Context(), g, ""); err != nil {
			return err
		}
	}
	return nil
}

func checkSolved(t *testing.T, g *game.Game, level *game.Level) {
	s := g.State()
	if s.Grade == nil || !s.Grade.Won || s.MovesMade != level.Moves || s.Preemptions != level.Switches {
		t.Errorf("%s: its solution should win with %d moves and %d switches; it ends with\n%s",
			level.Name, level.Moves, level.Switches, formatState(s))
	}
}

// readKept returns the text of a counterexample of the matrix, and the rules that it breaks.
func readKept(t *testing.T, name string) (text string, rules []string) {
	t.Helper()
	file := labtest.Value(fs.ReadFile(web.Guarantees(), name+".json")).Must(t)
	e := labtest.Value(game.ReadExample(bytes.NewReader(file))).Must(t)
	return string(file), labtest.Map(e.Problems, func(p explore.Problem) string { return p.Rule })
}

// A replayed counterexample breaks its rules again on the lab's servers. In the second one the buyers call the
// HTTP service.
func TestReplay(t *testing.T) {
	games := startGames(t, func(g *game.Games) { g.Examples = web.Guarantees() }, "redis-lua", "redis-counter")
	for _, name := range []string{"redis-lua.lease-end", "redis-counter.same-key"} {
		_, rules := readKept(t, name)
		now, err := games.Replay(t.Context(), name)
		breaks := func(p explore.Problem) bool { return slices.Contains(rules, p.Rule) }
		if err != nil || !slices.ContainsFunc(now.Problems, breaks) {
			t.Errorf("%s broke %v when it was found; the replay has the problems %v (%v)", name, rules, now.Problems, err)
		}
	}
}

// A counterexample that cannot be replayed is refused with a code that says why.
func TestRefusedReplays(t *testing.T) {
	lossy, _ := readKept(t, "redis-lua.node-loss")
	good, _ := readKept(t, "naive.oversell")
	files := fstest.MapFS{}
	games := startGames(t, func(g *game.Games) { g.Examples = files }, "naive")
	for name, c := range map[string]struct{ text, code string }{
		"not JSON": {"{", "unknown_example"},
		"no buyers": {`{"format":1,"strategy":"naive","scenario":{"name":"","stock":1,"buyers":[]},` +
			`"steps":[],"problems":[],"told":[]}`, "unknown_example"},
		"unknown strategy":   {strings.Replace(good, `"naive"`, `"nothing"`, 1), "unknown_strategy"},
		"the loss of a node": {lossy, "not_replayable"},
		"an unknown buyer":   {strings.Replace(good, `"schedule": "`, `"schedule": "c`, 1), "diverged"},
	} {
		files["naive.oversell.json"] = &fstest.MapFile{Data: []byte(c.text)}
		_, err := games.Replay(t.Context(), "naive.oversell")
		labtest.Same(t, problemCode(err), c.code, "%s: the code of %v", name, err)
	}
	files["naive.oversell.json"] = &fstest.MapFile{Data: []byte(good)}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	labtest.Value(games.Replay(stopped, "naive.oversell")).Fails(t, "", "a replay with a cancelled context")
}

// ReadExample refuses a file that Write cannot have written, with a short error that says why.
func TestUnreadableExamples(t *testing.T) {
	const buyer = `{"name":"A","process":0,"quantity":1,"does":"buys"}`
	const good = `{"format":1,"strategy":"naive","scenario":{"name":"s","stock":5,"buyers":[` + buyer +
		`]},"schedule":"a","steps":[{"who":"A"}],"problems":[],"told":[]}`
	labtest.Value(game.ReadExample(strings.NewReader(good))).Must(t) // the others change this example
	for _, c := range []struct{ old, with, want string }{
		{`"told":[]}`, ``, "not a counterexample"},
		{good, good + good, "more text"},
		{`"format":1`, `"format":2`, "format 2"},
		{`"stock":5`, `"stock":5,"colour":"red"`, "unknown field"},
		{`"stock":5`, `"stock":-5`, "stock is -5"},
		{`"quantity":1`, `"quantity":-1`, "-1 units"},
		{buyer, strings.TrimSuffix(strings.Repeat(buyer+",", 10_000), ","), "10000 buyers"},
		{`"name":"A"`, `"name":"next"`, "buyer 1"},
		{`"does":"buys"`, `"does":"steals"`, "steals"},
		{`"does":"buys"`, `"does":"buys","same":"Z"`, "acts for"},
		{`"process":0`, `"process":1000000000`, "in process"},
		{`"stock":5`, `"stock":5,"faults":["arrives late"],"max_faults":1`, `no fault "arrives late"`},
		{`"schedule":"a",`, ``, "no schedule"},
		{`"schedule":"a"`, `"schedule":"aD"`, "letter 2"},
	} {
		file := strings.Replace(good, c.old, c.with, 1)
		_, err := game.ReadExample(strings.NewReader(file))
		if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("%.80s: got %v, want a short error that contains %q", file, err, c.want)
		}
	}
}
