package game_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"seckill/internal/game"
	"seckill/internal/lab/labtest"
)

// A schedule that is read can be written, and is then the same.
func FuzzSchedule(f *testing.F) {
	for _, schedule := range []string{"", "aab", "abLDaRb", "Dna", "DnA", "Kc", "a b", "TTaz", "nb", "\xff"} {
		f.Add(schedule)
	}
	f.Fuzz(func(t *testing.T, schedule string) {
		if read, err := game.ParseSchedule(schedule); err == nil {
			written := game.FormatSchedule(read...)
			if again, err := game.ParseSchedule(written); err != nil || !reflect.DeepEqual(again, read) {
				t.Errorf("%q is %v, written as %q that is %v (%v)", schedule, read, written, again, err)
			}
		}
	})
}

// A counterexample's file is refused, or what was read from it can be written and read again.
func FuzzExample(f *testing.F) {
	kept, err := os.ReadFile("../../web/guarantees/atomic.oversell.json")
	labtest.Must(f, err)
	f.Add(string(kept))
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := game.ReadExample(strings.NewReader(text)); err == nil {
			var written strings.Builder
			labtest.Must(t, e.Write(&written))
			if _, err := game.ReadExample(strings.NewReader(written.String())); err != nil {
				t.Errorf("%q is written as %q, which is refused: %v", text, written.String(), err)
			}
		}
	})
}
