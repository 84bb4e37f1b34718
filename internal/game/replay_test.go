package game_test

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/lab/labtest"
	"seckill/web"
)

// kept is the text of a kept counterexample, and what it breaks.
func kept(t *testing.T, name string) (text string, rules []string) {
	t.Helper()
	file, err := fs.ReadFile(web.Guarantees(), name+".json")
	labtest.Must(t, err)
	e, err := game.ReadExample(bytes.NewReader(file))
	labtest.Must(t, err)
	for _, p := range e.Problems {
		rules = append(rules, p.Rule)
	}
	return string(file), rules
}

// What is run again breaks again, on servers that are shared: also where buyers ask
// the service.
func TestReplay(t *testing.T) {
	h := gamesOf(t, func(h *game.Games) { h.Examples = web.Guarantees() }, "redis-lua", "redis-counter")
	for _, name := range []string{"redis-lua.lease-end", "redis-counter.same-key"} {
		_, rules := kept(t, name)
		now, err := h.Replay(t.Context(), name)
		if err != nil || !slices.ContainsFunc(now.Problems, func(p explore.Problem) bool { return slices.Contains(rules, p.Rule) }) {
			t.Errorf("%s broke %v when it was found, and now %v (%v)", name, rules, now.Problems, err)
		}
	}
}

// What cannot be run again says so.
func TestReplaysThatCannotBe(t *testing.T) {
	lossy, _ := kept(t, "redis-lua.node-loss")
	good, _ := kept(t, "naive.oversell")
	files := fstest.MapFS{}
	h := gamesOf(t, func(h *game.Games) { h.Examples = files }, "naive")
	for name, c := range map[string]struct{ text, code string }{
		"no JSON":             {"{", "unknown_example"},
		"something else":      {`{"format":1,"strategy":"naive","scenario":{"name":"","stock":1,"buyers":[]},"steps":[],"problems":[],"told":[]}`, "unknown_example"},
		"no such strategy":    {strings.Replace(good, `"naive"`, `"nothing"`, 1), "unknown_strategy"},
		"the loss of a node":  {lossy, "not_replayable"},
		"a buyer who is gone": {strings.Replace(good, `"schedule": "`, `"schedule": "c`, 1), "diverged"},
	} {
		files["naive.oversell.json"] = &fstest.MapFile{Data: []byte(c.text)}
		_, err := h.Replay(t.Context(), "naive.oversell")
		if code(err) != c.code {
			t.Errorf("%s: %v, want the code %s", name, err, c.code)
		}
	}
	files["naive.oversell.json"] = &fstest.MapFile{Data: []byte(good)}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Replay(stopped, "naive.oversell"); err == nil {
		t.Error("a replay whose reader has gone succeeded")
	}
}

// A file that Write would not write is refused.
func TestUnreadableExamples(t *testing.T) {
	const buyer = `{"name":"A","process":0,"quantity":1,"does":"buys"}`
	const good = `{"format":1,"strategy":"naive","scenario":{"name":"s","stock":5,"buyers":[` + buyer +
		`]},"schedule":"a","steps":[{"who":"A"}],"problems":[],"told":[]}`
	if _, err := game.ReadExample(strings.NewReader(good)); err != nil {
		t.Fatalf("what the others are made of cannot be read: %v", err)
	}
	for _, c := range []struct{ old, with, want string }{
		{`"told":[]}`, ``, "no counterexample"},
		{good, good + good, "something follows"},
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
		if _, err := game.ReadExample(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("%.80s: got %v, want a short error that says %q", file, err, c.want)
		}
	}
}
