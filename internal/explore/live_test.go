package explore_test

import (
	"errors"
	"testing"

	"seckill/internal/explore"
	"seckill/internal/fault"
	"seckill/internal/lab/labtest"
	"seckill/strategies/sqlrow"
)

// chooseAll makes the choices one after the other.
func chooseAll(t *testing.T, l *explore.Live, v explore.View, choices ...explore.Choice) explore.View {
	t.Helper()
	for i, c := range choices {
		var err error
		if v, err = l.Choose(t.Context(), c); err != nil {
			t.Fatalf("choice %d, %s: %v", i+1, c, err)
		}
	}
	return v
}

// A person makes two buyers read the same number, and the judge sees it.
func TestChosenByHand(t *testing.T) {
	w := open(t, sqlrow.Naive)
	s := &explore.Scenario{Name: "by hand", Stock: 2, Buyers: []explore.Buyer{
		{Name: "A", Quantity: 2, Does: explore.Buys}, {Name: "B", Quantity: 1, Process: 1, Does: explore.Buys}}}
	l, v, err := w.Begin(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer l.End()
	if len(v.Options) != 2 || v.Actors[0].State != explore.StateReady || v.Actors[0].Next == nil {
		t.Fatalf("at the beginning: %+v", v)
	}
	if _, err := l.Choose(t.Context(), explore.Choice{Who: "A", Fault: fault.Dies}); !errors.Is(err, explore.ErrImpossible) {
		t.Errorf("a fault that is not allowed: %v", err)
	}
	v = chooseAll(t, l, v, turns("ABBBBBAAAA")...)
	if v.Schedule == nil || !broke(v.Schedule, "oversold") || !broke(v.Schedule, "lost_update") {
		t.Fatalf("the end: %+v", v)
	}
	if v.Actors[0].Told != "sold 2, 0 left" || v.Preemptions != 1 || len(v.Chosen) != 10 {
		t.Errorf("the end: %+v", v)
	}
	if _, err := l.Choose(t.Context(), explore.Choice{Who: "A"}); !errors.Is(err, explore.ErrOver) {
		t.Errorf("after the end: %v", err)
	}
}

// A buyer who waits in the server shows why, and goes on when the row is free. A
// schedule that is given up leaves nothing in the way of the next.
func TestChosenByHandWaits(t *testing.T) {
	c := labtest.Config(t, sqlrow.ForUpdate.Uses()...)
	w, err := explore.Open(t.Context(), sqlrow.ForUpdate, c, explore.Options{FirstSKU: 7_000_010_000})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s := two(explore.Buys)
	for range 2 {
		l, v, err := w.Begin(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		v = chooseAll(t, l, v, turns("ABAB")...)
		b := v.Actors[1]
		if b.State != explore.StateWaits || b.Waiting == nil || len(b.Waiting.For) != 1 || b.Waiting.For[0] != "A" {
			t.Errorf("B does not wait for A: %+v, %+v", b, b.Waiting)
		} else {
			t.Log(b.Waiting.Why)
		}
		if _, err := l.Choose(t.Context(), explore.Choice{Who: "B"}); !errors.Is(err, explore.ErrImpossible) {
			t.Errorf("B goes though it waits: %v", err)
		}
		l.End()
	}
	l, v, err := w.Begin(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer l.End()
	v = chooseAll(t, l, v, turns("ABABAAABBB")...)
	if v.Schedule == nil || len(v.Schedule.Problems) > 0 {
		t.Fatalf("the end: %+v", v)
	}
}
