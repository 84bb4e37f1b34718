package loadtest

import (
	"strings"
	"testing"
	"unicode/utf8"

	"seckill/internal/ledger"
)

func TestBarLine(t *testing.T) {
	p := Progress{Requests: 1500, Buyers: 3000, Left: 12, Rate: 12_345, P99: 45.6,
		Counts: map[ledger.Outcome]int{ledger.OutcomeSold: 488, ledger.OutcomeUnknown: 3}}
	for _, test := range []struct {
		width int
		want  string
	}{
		{120, "███████████████░░░░░░░░░░░░░░░  50%  sold 488  left 12  12,345/s  p99 45.6 ms  unknown 3"},
		{60, "██████████░░░░░░░░░░  50%  sold 488  left 12  12,345/s"},
		{30, "█████░░░░░  50%  sold 488"},
		{15, "██░░░  50%"},
		{14, " 50%  sold 488"},
		{4, " 50%"},
		{3, ""},
		{0, ""},
		{-1, ""},
	} {
		if got := line(p, test.width); strings.TrimSpace(got) != strings.TrimSpace(test.want) {
			t.Errorf("%d columns:\n\t%q, want\n\t%q", test.width, got, test.want)
		}
	}
	p.Settling = true
	if got, want := line(p, 80), "waiting for purchases without an answer"; !strings.Contains(got, want) {
		t.Errorf("after the storm: %q, want %q in it", got, want)
	}
	for width := range 200 {
		for _, p := range []Progress{p, {}, {Requests: 1, Buyers: 1}} {
			if n := utf8.RuneCountInString(line(p, width)); n > width {
				t.Errorf("%d columns where there are %d: %q", n, width, line(p, width))
			}
		}
	}
}

func TestBarWritesOverItself(t *testing.T) {
	var b strings.Builder
	bar := Bar{W: &b, Width: func() int { return 11 }}
	bar.Show(Progress{Requests: 1, Buyers: 2})
	bar.Show(Progress{Requests: 2, Buyers: 2})
	bar.Clear()
	if got, want := b.String(), "\r 50%\x1b[K"; !strings.HasPrefix(got, "\r") || strings.Contains(got, "\n") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("wrote %q, want lines like %q that begin at the left and end cleared", got, want)
	}
}
