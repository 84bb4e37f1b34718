package loadtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"seckill/internal/ledger"
)

// A fact is one thing that a line says. Where there is too little room those
// of the highest rank are left out; rank 0 stays.
type fact struct {
	text  string
	rank  int
	color string
}

const (
	red       = "\x1b[31m"
	yellow    = "\x1b[33m"
	plain     = "\x1b[0m"
	widestBar = 30
)

// frame is p in two lines of at most width columns each.
func (l *Live) frame(p Progress, width int) (first, second string) {
	return l.line(append([]fact{{text: bar(p, width), rank: 1}}, p.course()...), width), l.line(l.figures(p), width)
}

// bar is as long as the width alone says, so that it stands still.
func bar(p Progress, width int) string {
	room := min(width/3, widestBar)
	full := int(p.share() * float64(room))
	return strings.Repeat("█", full) + strings.Repeat("░", room-full)
}

func (p Progress) share() float64 {
	if p.Buyers <= 0 {
		return 0
	}
	return min(1, float64(p.Requests)/float64(p.Buyers))
}

// course is how far the run is. Numbers keep their places: they are as wide as
// they will ever get.
func (p Progress) course() []fact {
	all := []fact{{text: fmt.Sprintf("%3.0f%%", 100*p.share())}}
	switch n := p.Counts[ledger.OutcomeUnknown]; {
	case p.Settling && n > 0:
		return append(all, fact{text: "waiting for " + count(n, "answer"), rank: 1})
	case p.Settling:
		return append(all, fact{text: "reading the ledger", rank: 1})
	}
	buyers := thousands(p.Buyers)
	return append(all,
		fact{text: fmt.Sprintf("%*s of %s buyers", len(buyers), thousands(p.Requests), buyers), rank: 3},
		fact{text: fmt.Sprintf("%7s/s", thousands(int64(p.Rate))), rank: 2},
		fact{text: p.Elapsed.Round(100 * time.Millisecond).String(), rank: 4})
}

// figures are what came of it so far.
func (l *Live) figures(p Progress) []fact {
	sold := fact{text: "sold " + thousands(p.Units)}
	if l.Stock > 0 {
		stock := thousands(l.Stock)
		sold.text = fmt.Sprintf("sold %*s of %s", len(stock), thousands(p.Units), stock)
	}
	over := fact{rank: 1, color: red}
	if l.Stock > 0 && p.Units > l.Stock {
		over.text, sold.color = "oversold", red
	}
	left := fact{text: fmt.Sprintf("left %*s", len(thousands(l.Stock)), thousands(p.Left)), rank: 2}
	if p.Left < 0 {
		left.color = red
	}
	all := []fact{sold, over, left,
		{text: fmt.Sprintf("p50 %7s", millis(int64(p.P50*1000))), rank: 6},
		{text: fmt.Sprintf("p99 %7s", millis(int64(p.P99*1000))), rank: 5}}
	for _, trouble := range []struct {
		what  string
		n     int
		color string
		rank  int
	}{
		{"error", p.Counts[ledger.OutcomeError], red, 3},
		{"unknown", p.Counts[ledger.OutcomeUnknown], yellow, 4},
		{"late", p.Late, yellow, 7},
	} {
		if trouble.n > 0 {
			all = append(all, fact{fmt.Sprintf("%s %s", trouble.what, thousands(trouble.n)), trouble.rank, trouble.color})
		}
	}
	return all
}

// line leaves out what has no room; nothing has where not even rank 0 fits.
func (l *Live) line(facts []fact, width int) string {
	facts = slices.DeleteFunc(facts, func(f fact) bool { return f.text == "" })
	for length(facts) > width {
		least := slices.MaxFunc(facts, func(a, b fact) int { return cmp.Compare(a.rank, b.rank) })
		if least.rank == 0 {
			return ""
		}
		facts = slices.DeleteFunc(facts, func(f fact) bool { return f == least })
	}
	var texts []string
	for _, f := range facts {
		if l.Color && f.color != "" {
			f.text = f.color + f.text + plain
		}
		texts = append(texts, f.text)
	}
	return strings.Join(texts, between)
}

const between = "  "

func length(facts []fact) (columns int) {
	for i, f := range facts {
		if i > 0 {
			columns += len(between)
		}
		columns += utf8.RuneCountInString(f.text)
	}
	return columns
}
