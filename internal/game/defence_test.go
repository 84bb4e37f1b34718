package game_test

import (
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/game"
	"seckill/internal/guards"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
	"seckill/web"
	"seckill/web/course"
)

// playable are the strategies, and the variants of the exercises.
func playable() []catalog.Info { return slices.Concat(strategies.All(), guards.All()) }

// defender checks exercises on servers that all of them need.
func defender(t *testing.T, search bool) game.Checker {
	t.Helper()
	var needs []backend.Capability
	for _, info := range guards.All() {
		needs = append(needs, info.Uses()...)
	}
	return game.Checker{Servers: labtest.Start(t, needs...).Config(), Strategies: playable(), Search: search}
}

// checkDefences attacks what the checker does, and returns how many were.
func checkDefences(t *testing.T, c game.Checker) (attacked int64) {
	t.Helper()
	var n atomic.Int64
	t.Run("exercises", func(t *testing.T) { // ends when all have
		for _, p := range game.Defences() {
			t.Run(p.Name, func(t *testing.T) {
				t.Parallel()
				list, err := c.CheckDefence(t.Context(), p)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range list {
					if f.Wrong != "" {
						t.Errorf("%s: %s", f.Level, f.Wrong)
					} else if f.Holds && c.Search {
						certify(t, f.Level, f.Schedules)
					}
					if f.Schedules > 0 {
						n.Add(1)
						t.Logf("%s: %d schedules, %s", f.Level, f.Schedules, f.Found)
					}
				}
			})
		}
	})
	return n.Load()
}

// Every hole, and every guard that is said to break, is broken by the explorer.
func TestHolesAreFound(t *testing.T) {
	if n := checkDefences(t, defender(t, false)); n < 15 {
		t.Errorf("only %d guards were attacked", n)
	}
}

// Exercises are numbered without a gap, belong to a chapter, use every variant,
// show what differs, and read well in both languages.
func TestDefencesAreWhole(t *testing.T) {
	chapters, err := course.Chapters()
	if err != nil {
		t.Fatal(err)
	}
	h := &game.Hall{Servers: func() backend.Config { return backend.Config{} }, Strategies: strategies.All(), Variants: guards.All()}
	list, err := h.Defences()
	if err != nil || len(list) < 6 {
		t.Fatalf("%d exercises, %v", len(list), err)
	}
	used := map[string]bool{}
	for i, d := range list {
		if d.Number != i+1 || d.Chapter < 1 || d.Chapter > len(chapters) || game.LevelNamed(d.Name) != nil {
			t.Errorf("%s has number %d and chapter %d, or a level's name", d.Name, d.Number, d.Chapter)
		}
		if d.Available || d.Missing == nil {
			t.Errorf("%s is available without a server", d.Name)
		}
		for _, name := range game.DefenceNamed(d.Name).Names() {
			used[game.DefenceNamed(d.Name).Variant(name)] = true
		}
		for _, c := range d.Choices {
			if !slices.ContainsFunc(c.Lines, func(l game.Line) bool { return l.Mark == "+" }) {
				t.Errorf("%s/%s: its code adds nothing to the hole's", d.Name, c.Name)
			}
			for _, l := range c.Lines {
				if len([]rune(l.Text)) > 80 {
					t.Errorf("%s/%s: a line of %d characters: %s", d.Name, c.Name, len(l.Text), l.Text)
				}
			}
		}
		if strings.ContainsFunc(d.Text["en"].Goal, han) || !strings.ContainsFunc(d.Text["zh"].Goal, han) {
			t.Errorf("%s: its texts are in the wrong languages", d.Name)
		}
	}
	for _, info := range guards.All() {
		if !used[info.Name] {
			t.Errorf("no exercise uses the variant %s", info.Name)
		}
		if slices.ContainsFunc(strategies.All(), func(s catalog.Info) bool { return s.Name == info.Name }) {
			t.Errorf("%s is a strategy's name as well", info.Name)
		}
	}
}

func han(r rune) bool { return r > 0x2e80 }

func TestWrongDefenceFiles(t *testing.T) {
	good, err := os.ReadFile("defences/01-lost-update.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !game.IsDefence(good) || game.IsDefence([]byte("stock: 2")) {
		t.Error("an exercise is told from a level by its choices")
	}
	for _, c := range []struct{ name, from, to, says string }{
		{"one.yaml", "", "", "NUMBER-NAME.yaml"},
		{"01-x.yaml", "stock: 2", "stock: 0", "The stock is 0"},
		{"01-x.yaml", "choices:", "chioces:", "unknown field"},
		{"01-x.yaml", "name: mutex", "name: hole", "need names"},
		{"01-x.yaml", "holds: true", "holds: false", "none holds"},
		{"01-x.yaml", "preemptions: -1", "preemptions: 9", "give -1"},
		{"01-x.yaml", "breaks: [oversold, lost_update, negative_stock]", "breaks: []", "breaks: name the rules"},
		{"01-x.yaml", "  hint:", "  hnt:", "unknown field"},
	} {
		_, err := game.ReadDefence(c.name, []byte(strings.ReplaceAll(string(good), c.from, c.to)))
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s with %q: %v", c.name, c.to, err)
		}
	}
}

// The claim of a file is checked: a guard that breaks cannot be said to hold, and
// the other way round.
func TestTheExplorerChecksGuards(t *testing.T) {
	good, err := os.ReadFile("defences/01-lost-update.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(good), "    holds: true\n", "")
	text = strings.Replace(text, "show: [withMutex.Deduct]", "show: [withMutex.Deduct]\n    holds: true", 1)
	p, err := game.ReadDefence("01-lost-update.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	list, err := defender(t, true).CheckDefence(t.Context(), &p)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		says := map[string]string{"lost-update/mutex": "the explorer breaks", "lost-update/condition": "nothing breaks it", "lost-update/for-update": "nothing breaks it"}[f.Level]
		if says == "" && f.Wrong != "" || !strings.Contains(f.Wrong, says) {
			t.Errorf("%s: %q", f.Level, f.Wrong)
		}
	}
}

// over waits until an attack has ended.
func over(t *testing.T, h *game.Hall, id string) game.Attack {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		a, err := h.AttackState(id)
		if err != nil {
			t.Fatal(err)
		}
		if a.Over() {
			return a
		}
		select {
		case <-look.C:
		case <-t.Context().Done():
			t.Fatal("the attack does not end")
		}
	}
}

// An attack whose time is up has shown nothing: no guard has held by it.
func TestAnAttackOutOfTime(t *testing.T) {
	h := hall(t, func(h *game.Hall) { h.Variants, h.AttackTime = guards.All(), time.Nanosecond }, "naive")
	a, err := h.Attack("lost-update", "condition")
	if err != nil {
		t.Fatal(err)
	}
	if a = over(t, h, a.ID); a.State != game.AttackUndecided || a.Why != nil || a.Schedule != "" {
		t.Errorf("%+v", a)
	}
}

// A guard is attacked beside games; what breaks it can be played, and what does not
// leaves nothing.
func TestAttacks(t *testing.T) {
	h := hall(t, func(h *game.Hall) { h.Variants, h.Most = guards.All(), 2 }, "naive")
	a, err := h.Attack("lost-update", "mutex")
	if err != nil || a.Over() || a.ID == "" {
		t.Fatalf("%v, %+v", err, a)
	}
	a = over(t, h, a.ID)
	if a.State != game.AttackBroken || a.Schedule == "" || !slices.Contains(a.Rules, "lost_update") || a.Why["zh"] == "" {
		t.Fatalf("%+v", a)
	}
	_, s, err := h.Begin(t.Context(), game.Request{Defence: "lost-update", Choice: "mutex", Schedule: a.Schedule, Line: a.Schedule})
	if err != nil || !s.Over || !s.Verdict.Broken || s.Line != a.Schedule || s.Choice != "mutex" || s.MovesMade != a.Moves {
		t.Errorf("the schedule that breaks it: %v, %s", err, show(s))
	}
	held, err := h.Attack("lost-update", "condition")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Attack("lost-update", "condition"); code(err) != game.TooManyGames {
		t.Errorf("an attack takes a game's place until it is over: %v", err)
	}
	held = over(t, h, held.ID)
	if held.State != game.AttackHeld || held.Schedules < 2 || held.Why["en"] == "" {
		t.Errorf("%+v", held)
	}
	if err := h.StopAttack(held.ID); err != nil {
		t.Error(err)
	}
	for want, try := range map[string]func() error{
		game.UnknownAttack:  func() error { return h.StopAttack(held.ID) },
		game.UnknownDefence: func() error { _, err := h.Attack("nowhere", "mutex"); return err },
		game.UnknownChoice:  func() error { _, err := h.Attack("lost-update", "prayer"); return err },
	} {
		if err := try(); code(err) != want {
			t.Errorf("%v, not %s", err, want)
		}
	}
}

// A counterexample of the proof becomes a game whose moves are to be followed, or
// says why it cannot.
func TestCounterexamplesArePlayed(t *testing.T) {
	h := hall(t, func(h *game.Hall) { h.Examples = web.Guarantees() }, "naive", "redis-lua", "redis-getset", "lock-table-central")
	for _, name := range []string{"naive.oversell", "redis-lua.lease-end", "redis-lua.late-command", "redis-getset.clocks", "lock-table-central.clocks"} {
		_, s, err := h.Begin(t.Context(), game.Request{Counterexample: name})
		if err != nil || s.Line == "" || s.MovesMade != 0 {
			t.Errorf("%s: %v, %s", name, err, show(s))
			continue
		}
		_, s, err = h.Begin(t.Context(), game.Request{Counterexample: name, Schedule: s.Line})
		if err != nil || !s.Over || !s.Verdict.Broken {
			t.Errorf("%s: %v, %s", name, err, show(s))
		}
	}
	for name, want := range map[string]string{"nothing.at-all": game.UnknownExample, "../matrix": game.UnknownExample, "redis-lua.node-loss": game.Unplayable} {
		if _, _, err := h.Begin(t.Context(), game.Request{Counterexample: name}); code(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
