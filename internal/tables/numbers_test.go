package tables

import "testing"

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Number(0), "0.00"}, {Number(9.994), "9.99"}, {Number(9.996), "10.0"}, {Number(99.96), "100"}, {Number(999.7), "1,000"},
		{Number(1451.26), "1,451"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
