package explore_test

import (
	"errors"
	"strings"
	"testing"

	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/strategies/sqlrow"
)

// A file is made of choices for one strategy. When another answers, it says at
// which step.
func TestReplayDiverges(t *testing.T) {
	naive := open(t, sqlrow.Naive)
	o, err := naive.Shorten(t.Context(), search(t, naive, two(explore.Buys), explore.Limits{}).First, explore.LedgerRule)
	labtest.Must(t, err)
	e := explore.NewExample("naive", "processes", o)
	// The turn of a buyer that does not exist or has finished.
	for _, who := range []string{"c", "a"} {
		longer := e
		longer.Schedule += who
		if _, err := naive.Replay(t.Context(), longer); !errors.Is(err, explore.ErrDiverged) {
			t.Errorf("one more step of %s: %v, want that it does not fit", who, err)
		}
	}
	w := open(t, sqlrow.Conditional)
	if _, err := w.Replay(t.Context(), e); err == nil || !strings.Contains(err.Error(), "of naive, not of conditional") {
		t.Errorf("naive's file is replayed with conditional: %v", err)
	}
	e.Strategy = "conditional"
	if _, err := w.Replay(t.Context(), e); !errors.Is(err, explore.ErrDiverged) || !strings.Contains(err.Error(), "step ") {
		t.Errorf("got %v, want that it does not fit, and from which step on", err)
	}
	for i := range e.Scenario.Buyers {
		e.Scenario.Buyers[i].Does = explore.Locks
	}
	if _, err := w.Replay(t.Context(), e); !errors.Is(err, explore.ErrDiverged) || !strings.Contains(err.Error(), "has nothing for a buyer who locks") {
		t.Errorf("conditional is to be locked: %v", err)
	}
}

func TestUnreadableExamples(t *testing.T) {
	const buyer = `{"name":"A","process":0,"quantity":1,"does":"buys"}`
	const good = `{"format":1,"strategy":"naive","scenario":{"name":"s","stock":5,"buyers":[` + buyer +
		`]},"schedule":"a","steps":[{"who":"A"}],"problems":[],"told":[]}`
	if _, err := explore.ReadExample(strings.NewReader(good)); err != nil {
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
		if _, err := explore.ReadExample(strings.NewReader(file)); err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("%.80s: got %v, want a short error that says %q", file, err, c.want)
		}
	}
}
