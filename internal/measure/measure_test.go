package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Every other round runs backwards, and a run can end early.
func TestTurnsAlternate(t *testing.T) {
	var got []string
	for turn := range Turns(3, 3) {
		if turn.Total != 9 || turn.Done != len(got) {
			t.Errorf("%+v after %d turns", turn, len(got))
		}
		got = append(got, fmt.Sprint(turn.Round, "abc"[turn.Subject:turn.Subject+1]))
	}
	if want := "1a 1b 1c 2c 2b 2a 3a 3b 3c"; strings.Join(got, " ") != want {
		t.Errorf("turns %v, want %s", got, want)
	}
	turns := 0
	for range Turns(2, 2) {
		if turns++; turns == 3 {
			break
		}
	}
	if turns != 3 || len(slices.Collect(Turns(2, 0))) != 0 {
		t.Errorf("%d turns, want 3, and none without subjects", turns)
	}
}

// A ratio compares figures of the same round only.
func TestRatiosWithinARound(t *testing.T) {
	a, b := Series{1: 10, 2: 300, 3: 20, 4: 7}, Series{1: 20, 2: 100, 3: 10, 5: 1}
	if got, want := a.Over(b).Spread(), (Spread{2, .5, 3}); got != want {
		t.Errorf("ratios %v, want %v", got, want)
	}
	if got := a.Over(Series{1: 0}); len(got) != 0 {
		t.Errorf("a ratio to zero: %v", got)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{3, 1}, Spread{2, 1, 3}},
		{[]float64{5, 1, 2}, Spread{2, 1, 5}},
		{[]float64{4, 1, 2, 3}, Spread{2.5, 1, 4}},
	} {
		if got := SpreadOf(c.values); got != c.want {
			t.Errorf("spread of %v is %+v, want %+v", c.values, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(0), "0.00"}, {Number(9.994), "9.99"}, {Number(9.996), "10.0"}, {Number(99.96), "100"}, {Number(999.7), "1,000"},
		{Number(1451.26), "1,451"},
		{Spread{2, 1, 3}.String(), "2.00 (1.00–3.00)"}, {Spread{3, 3, 3}.String(), "3.00"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	text, err := json.Marshal(Spread{1451.26, 0.61234, 1e6})
	var back Spread
	if err = errors.Join(err, json.Unmarshal(text, &back)); err != nil || string(text) != "[1451,0.6123,1000000]" || back != (Spread{1451, 0.6123, 1e6}) {
		t.Errorf("%s, %+v, %v", text, back, err)
	}
}
