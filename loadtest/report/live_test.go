package report

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

// moments are runs as they stand at one moment.
func moments() []struct {
	name string
	loadtest.Progress
} {
	half := loadtest.Progress{Elapsed: 1234 * time.Millisecond, Requests: 1500, Buyers: 3000, Units: 488, Left: 12, Rate: 12_345, P50: 3.21, P99: 45.6}
	troubled := half
	troubled.Units, troubled.Left, troubled.Late = 562, -62, 17
	troubled.Counts = map[ledger.Outcome]int{ledger.OutcomeUnknown: 3, ledger.OutcomeError: 1200}
	waiting := troubled
	waiting.Requests, waiting.Settling = 3000, true
	over := half
	over.Requests, over.Units, over.Left, over.Settling = 3000, 500, 0, true
	return []struct {
		name string
		loadtest.Progress
	}{
		{"nothing yet", loadtest.Progress{Buyers: 3000, Left: 500}},
		{"half", half},
		{"troubled", troubled},
		{"waiting", waiting},
		{"over", over},
	}
}

func TestLiveFrames(t *testing.T) {
	var b strings.Builder
	for _, color := range []bool{false, true} {
		l := &Live{Color: color, Stock: 500}
		for _, m := range moments() {
			for _, width := range []int{120, 80, 60, 40, 24, 12, 4, 3} {
				if color && width != 80 {
					continue
				}
				first, second := l.frame(m.Progress, width)
				fmt.Fprintf(&b, "%s, %d columns\n%q\n%q\n", m.name, width, first, second)
			}
		}
	}
	golden(t, "live.txt", []byte(b.String()))
}

func TestFramesKeepToTheirWidth(t *testing.T) {
	for width := range 200 {
		for _, m := range moments() {
			first, second := (&Live{Stock: 500}).frame(m.Progress, width)
			for _, line := range []string{first, second} {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%s: %d columns where there are %d: %q", m.name, n, width, line)
				}
			}
		}
	}
}

// A screen does what a terminal does with what Live writes, and no more.
type screen struct {
	t        *testing.T
	rows     [][]rune
	row, col int
}

func (s *screen) Write(p []byte) (int, error) {
	for text := string(p); text != ""; {
		switch rest, known := "", false; {
		case cut(text, clearLine, &rest, &known), cut(text, "\x1b[J", &rest, &known):
			s.rows[s.row] = s.rows[s.row][:min(s.col, len(s.rows[s.row]))]
			if strings.HasPrefix(text, "\x1b[J") {
				s.rows = s.rows[:s.row+1]
			}
			text = rest
		case cut(text, cursorUp, &rest, &known):
			s.row, text = max(0, s.row-1), rest
		case strings.HasPrefix(text, "\x1b"):
			s.t.Fatalf("an unknown sequence: %q", text)
		default:
			r, n := utf8.DecodeRuneInString(text)
			text = text[n:]
			s.put(r)
		}
	}
	return len(p), nil
}

func cut(text, prefix string, rest *string, known *bool) bool {
	*rest, *known = strings.CutPrefix(text, prefix)
	return *known
}

func (s *screen) put(r rune) {
	switch r {
	case '\r':
		s.col = 0
	case '\n':
		s.row++
		if s.row == len(s.rows) {
			s.rows = append(s.rows, nil)
		}
		for len(s.rows[s.row]) < s.col {
			s.rows[s.row] = append(s.rows[s.row], ' ')
		}
	default:
		s.rows[s.row] = append(s.rows[s.row][:s.col], append([]rune{r}, s.rows[s.row][min(s.col+1, len(s.rows[s.row])):]...)...)
		s.col++
	}
}

// shrink breaks the lines as a terminal does whose window gets narrower.
func (s *screen) shrink(width int) {
	var rows [][]rune
	for _, row := range s.rows {
		for len(row) > width {
			rows, row = append(rows, row[:width]), row[width:]
		}
		rows = append(rows, row)
	}
	s.rows = rows
}

func (s *screen) String() string {
	var lines []string
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(string(row), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Each frame stands where the last one stood, also when the window was made
// narrower meanwhile, and at the end nothing of them is left.
func TestLiveWritesOverItself(t *testing.T) {
	s := &screen{t: t, rows: [][]rune{nil}}
	width := 100
	l := &Live{W: s, Stock: 500, Width: func() int { return width }}
	now := moments()
	for _, step := range []struct {
		width, moment int
	}{{100, 0}, {100, 2}, {100, 1}, {30, 1}, {30, 3}, {90, 4}, {0, 1}} {
		if step.width > 0 && step.width < width {
			s.shrink(step.width)
		}
		width = step.width
		l.Show(now[step.moment].Progress)
		room := width
		if room == 0 {
			room = usualWidth
		}
		first, second := l.frame(now[step.moment].Progress, room-1)
		if want := strings.TrimRight(first+"\n"+second, " \n"); s.String() != want {
			t.Errorf("%d columns, %s: the screen shows\n%s\nwant\n%s", width, now[step.moment].name, s, want)
		}
	}
	l.Clear()
	if s.String() != "" || s.row != 0 || s.col != 0 {
		t.Errorf("afterwards the screen shows %q, with the cursor at %d, %d", s, s.row, s.col)
	}
}

func TestLinesAreAboutASecondApart(t *testing.T) {
	var b strings.Builder
	l := &Lines{W: &b, Stock: 500}
	p := loadtest.Progress{Buyers: 3000, Left: 500}
	for tenth := range 32 {
		p.Elapsed, p.Requests = time.Duration(tenth)*100*time.Millisecond, 75*tenth
		p.Units, p.Left, p.P50, p.P99 = int64(tenth), 500-int64(tenth), 1.5, 30
		l.Show(p)
	}
	p.Settling, p.Counts = true, map[ledger.Outcome]int{ledger.OutcomeUnknown: 1}
	for range 5 {
		p.Elapsed += 100 * time.Millisecond
		l.Show(p)
	}
	golden(t, "lines.txt", []byte(b.String()))
	b.Reset()
	l = &Lines{W: &b}
	l.Show(loadtest.Progress{Elapsed: 900 * time.Millisecond, Requests: 10, Buyers: 10})
	l.Show(loadtest.Progress{Elapsed: 950 * time.Millisecond, Requests: 10, Buyers: 10, Settling: true})
	if b.Len() > 0 {
		t.Errorf("a run of 950 ms has lines: %q", b.String())
	}
}
