package game_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
	"seckill/web"
)

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
	if _, err := games.Replay(stopped, "naive.oversell"); err == nil {
		t.Error("a replay with a cancelled context succeeded")
	}
}

// ReadExample refuses a file that Write cannot have written, with a short error that says why.
func TestUnreadableExamples(t *testing.T) {
	const buyer = `{"name":"A","process":0,"quantity":1,"does":"buys"}`
	const good = `{"format":1,"strategy":"naive","scenario":{"name":"s","stock":5,"buyers":[` + buyer +
		`]},"schedule":"a","steps":[{"who":"A"}],"problems":[],"told":[]}`
	if _, err := game.ReadExample(strings.NewReader(good)); err != nil {
		t.Fatalf("the valid example, which the others change: %v", err)
	}
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
