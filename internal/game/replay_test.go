package game_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sync/errgroup"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/game"
	"seckill/internal/httpapi"
	"seckill/web"
	"seckill/web/course"
)

// kept is the text of a kept counterexample, and what it breaks.
func kept(t *testing.T, name string) (text string, rules []string) {
	t.Helper()
	f, err := web.Guarantees().Open(name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e, err := explore.ReadExample(f)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := e.Write(&b); err != nil {
		t.Fatal(err)
	}
	for _, p := range e.Problems {
		rules = append(rules, p.Rule)
	}
	return b.String(), rules
}

// service is what buyers with a key ask.
func service(in *backend.Instance, info catalog.Info, settings catalog.Settings) (http.Handler, func() error, error) {
	s, err := httpapi.New(httpapi.Config{Instance: in, Infos: []catalog.Info{info}, Default: info.Name, Settings: settings, PurchaseTimeout: time.Minute})
	if err != nil {
		return nil, nil, err
	}
	return s.Handler(), func() error { return nil }, nil
}

// What the button of a chapter runs again breaks again, on servers that are
// shared, and leaves nothing there.
func TestEveryChaptersCounterexampleBreaksAgain(t *testing.T) {
	chapters, err := course.Chapters()
	if err != nil {
		t.Fatal(err)
	}
	var strategies, names []string
	refused := map[string]bool{} // the servers of games are shared: none is lost
	for _, c := range chapters {
		if c.Break.Question != "" {
			name := c.Break.Strategy + "." + c.Break.Question
			strategies, names = append(strategies, c.Break.Strategy), append(names, name)
			refused[name] = c.Break.Question == "node-loss"
		}
	}
	if len(names) < 8 {
		t.Fatalf("only %v are run again", names)
	}
	h := gamesOf(t, func(h *game.Games) { h.Service, h.Examples = service, web.Guarantees() }, strategies...)
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, name := range names {
		_, rules := kept(t, name)
		all.Go(func() error {
			now, err := h.Replay(t.Context(), name)
			var m *game.Mistake
			switch {
			case refused[name]:
				if !errors.As(err, &m) || m.Code != game.NotReplayable {
					t.Errorf("%s: %v, want the code %s", name, err, game.NotReplayable)
				}
			case err != nil:
				t.Errorf("%s: %v", name, err)
			case !slices.ContainsFunc(now.Problems, func(p explore.Problem) bool { return slices.Contains(rules, p.Rule) }):
				t.Errorf("%s broke %v when it was found, and now %v", name, rules, now.Problems)
			}
			return nil
		})
	}
	_ = all.Wait()
}

// What cannot be run again says so, and is no game afterwards.
func TestReplaysThatCannotBe(t *testing.T) {
	lossy, _ := kept(t, "redis-lua.node-loss")
	good, _ := kept(t, "naive.oversell")
	files := fstest.MapFS{}
	h := gamesOf(t, func(h *game.Games) { h.Most, h.Examples = 1, files }, "naive")
	for name, c := range map[string]struct{ text, code string }{
		"no JSON":             {"{", game.UnknownExample},
		"something else":      {`{"format":1,"strategy":"naive","scenario":{"name":"","stock":1,"buyers":[]},"steps":[],"problems":[],"told":[]}`, game.UnknownExample},
		"no such strategy":    {strings.Replace(good, `"naive"`, `"nothing"`, 1), game.UnknownStrategy},
		"the loss of a node":  {lossy, game.NotReplayable},
		"steps that are gone": {strings.Replace(good, `"command": "SELECT`, `"command": "TRUNCATE`, 1), game.Diverged},
	} {
		files["naive.oversell.json"] = &fstest.MapFile{Data: []byte(c.text)}
		_, err := h.Replay(t.Context(), "naive.oversell")
		var m *game.Mistake
		if !errors.As(err, &m) || m.Code != c.code {
			t.Errorf("%s: %v, want the code %s", name, err, c.code)
		}
	}
	files["naive.oversell.json"] = &fstest.MapFile{Data: []byte(good)}
	id, _, err := h.Begin(t.Context(), game.Request{Strategy: "naive", Buyers: 2, Stock: 2})
	if err != nil {
		t.Fatal(err)
	}
	var m *game.Mistake
	if _, err := h.Replay(t.Context(), "naive.oversell"); !errors.As(err, &m) || m.Code != game.TooManyGames {
		t.Errorf("a replay beside as many games as there may be: %v", err)
	}
	if err := h.End(id); err != nil {
		t.Error(err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Replay(stopped, "naive.oversell"); err == nil {
		t.Error("a replay whose reader has gone succeeded")
	}
}
