package measure

import (
	"encoding/json"
	"errors"
	"testing"
)

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
