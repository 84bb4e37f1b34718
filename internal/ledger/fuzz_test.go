package ledger_test

import (
	"testing"

	"seckill/internal/ledger"
)

// FuzzCursor: a place in a list is refused, or is the place that it says.
func FuzzCursor(f *testing.F) {
	for _, text := range []string{"", ".", "1.2", "-1.zz", "1.2.3", "1y2p0ij32e8e7.0", "+1.0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ledger.ParseCursor(text)
		if err != nil {
			return
		}
		if again, err := ledger.ParseCursor(c.String()); err != nil || again != c {
			t.Fatalf("%q is %+v, and written anew %+v, %v", text, c, again, err)
		}
	})
}
