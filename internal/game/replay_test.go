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
	e, err := explore.ReadExample(bytes.NewReader(file))
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
