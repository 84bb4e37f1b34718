package explore_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"seckill/internal/explore"
	"seckill/internal/ledger"
	"seckill/strategies/sqlrow"
)

// counterexample is naive's, as seckill prove would keep it.
func counterexample(t *testing.T) (explore.Example, string) {
	t.Helper()
	w := open(t, sqlrow.Naive)
	res := search(t, w, two(explore.Buys), explore.Limits{})
	if res.First == nil {
		t.Fatal("naive has no counterexample")
	}
	o, err := w.Shorten(t.Context(), res.First, explore.LedgerRule)
	if err != nil {
		t.Fatal(err)
	}
	e := explore.NewExample("naive", "processes", o)
	var file bytes.Buffer
	if err := e.Write(&file); err != nil {
		t.Fatal(err)
	}
	return e, file.String()
}

func TestExampleIsReplayed(t *testing.T) {
	e, file := counterexample(t)
	read, err := explore.ReadExample(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if want, got := asJSON(t, e), asJSON(t, read); !reflect.DeepEqual(want, got) {
		t.Errorf("read back it is\n%v\nwant\n%v", got, want)
	}
	o, err := open(t, sqlrow.Naive).Replay(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	if !broke(o, ledger.RuleLostUpdate) || !reflect.DeepEqual(o.Problems, read.Problems) {
		t.Errorf("replayed it breaks %+v, want %+v", o.Problems, read.Problems)
	}
	again := explore.NewExample("naive", "processes", o)
	if want, got := asJSON(t, read), asJSON(t, again); !reflect.DeepEqual(want, got) {
		t.Errorf("replayed it is\n%v\nwant\n%v", got, want)
	}
}

func asJSON(t *testing.T, e explore.Example) (v any) {
	t.Helper()
	text, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A file is made of choices for one strategy. When another answers, it says at
// which step.
func TestReplayDiverges(t *testing.T) {
	e, _ := counterexample(t)
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
	if _, err := w.Replay(t.Context(), e); !errors.Is(err, explore.ErrDiverged) || !strings.Contains(err.Error(), "not a lock") {
		t.Errorf("conditional is to be locked: %v", err)
	}
	// The turn of a buyer that does not exist or has finished.
	naive := open(t, sqlrow.Naive)
	for _, who := range []string{"c", "a"} {
		longer, _ := counterexample(t)
		longer.Schedule += who
		if _, err := naive.Replay(t.Context(), longer); !errors.Is(err, explore.ErrDiverged) {
			t.Errorf("one more step of %s: %v, want that it does not fit", who, err)
		}
	}
}

func TestUnreadableExamples(t *testing.T) {
	const good = `{"format":1,"strategy":"naive","scenario":{"name":"s","stock":5,"buyers":[` +
		`{"name":"A","process":0,"quantity":1,"does":"buys"}]},"schedule":"a","steps":[{"who":"A"}],"problems":[],"told":[]}`
	if _, err := explore.ReadExample(strings.NewReader(good)); err != nil {
		t.Fatalf("what the others are made of cannot be read: %v", err)
	}
	replace := func(old, with string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("there is no %q", old)
		}
		return strings.Replace(good, old, with, 1)
	}
	for name, c := range map[string]struct{ file, want string }{
		"empty":               {"", "no counterexample"},
		"cut off":             {good[:len(good)/2], "no counterexample"},
		"two files in one":    {good + good, "something follows"},
		"a newer format":      {replace(`"format":1`, `"format":2`), "format 2"},
		"no format":           {replace(`"format":1,`, ``), "format 0"},
		"an unknown field":    {replace(`"stock":5`, `"stock":5,"colour":"red"`), "unknown field"},
		"negative stock":      {replace(`"stock":5`, `"stock":-5`), "stock of -5"},
		"a negative quantity": {replace(`"quantity":1`, `"quantity":-1`), "buyer 1"},
		"nobody":              {replace(`{"name":"A","process":0,"quantity":1,"does":"buys"}`, ``), "0 buyers"},
		"ten thousand buyers": {replace(`{"name":"A","process":0,"quantity":1,"does":"buys"}`,
			strings.TrimSuffix(strings.Repeat(`{"name":"A","process":0,"quantity":1,"does":"buys"},`, 10_000), ",")), "10000 buyers"},
		"a buyer without a name":  {replace(`"name":"A"`, `"name":""`), "buyer 1"},
		"a buyer named next":      {replace(`"name":"A"`, `"name":"next"`), "buyer 1"},
		"a thief":                 {replace(`"does":"buys"`, `"does":"steals"`), "buyer 1"},
		"a billionth process":     {replace(`"process":0`, `"process":1000000000`), "buyer 1"},
		"process -1":              {replace(`"process":0`, `"process":-1`), "buyer 1"},
		"a step of nobody":        {replace(`{"who":"A"}`, `{}`), "step 1"},
		"a fault that is unknown": {replace(`{"who":"A"}`, `{"who":"A","fault":"sulks"}`), "step 1"},
		"no schedule":             {replace(`"schedule":"a",`, ``), "no schedule"},
		"a schedule of nobody":    {replace(`"schedule":"a"`, `"schedule":"aD"`), "letter 2"},
	} {
		_, err := explore.ReadExample(strings.NewReader(c.file))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error that says %q", name, err, c.want)
			continue
		}
		if len(err.Error()) > 300 {
			t.Errorf("%s: the error has %d characters", name, len(err.Error()))
		}
	}
}
