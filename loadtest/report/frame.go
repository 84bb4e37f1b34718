package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// A fact is one item of a line. Where there is too little room, those of the
// highest rank are left out; rank 0 stays.
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
func (l *Live) frame(p loadtest.Progress, width int) (first, second string) {
	return l.line(append([]fact{{text: bar(p, width), rank: 1}}, course(p)...), width), l.line(l.figures(p), width)
}

// bar is a progress bar whose length depends on the width alone.
func bar(p loadtest.Progress, width int) string {
	room := min(width/3, widestBar)
	full := int(share(p) * float64(room))
	return strings.Repeat("█", full) + strings.Repeat("░", room-full)
}

func share(p loadtest.Progress) float64 {
	if p.Buyers <= 0 {
		return 0
	}
	return min(1, float64(p.Requests)/float64(p.Buyers))
}

// course is how far the run is. Numbers are padded so that they keep their places.
func course(p loadtest.Progress) []fact {
	all := []fact{{text: fmt.Sprintf("%3.0f%%", 100*share(p))}}
	switch n := p.Counts[ledger.OutcomeUnknown]; {
	case p.Settling && n > 0:
		return append(all, fact{text: "waiting for " + numbers.Count(n, "answer"), rank: 1})
	case p.Settling:
		return append(all, fact{text: "reading the ledger", rank: 1})
	}
	buyers := numbers.Thousands(p.Buyers)
	return append(all,
		fact{text: fmt.Sprintf("%*s of %s buyers", len(buyers), numbers.Thousands(p.Requests), buyers), rank: 3},
		fact{text: fmt.Sprintf("%7s/s", numbers.Thousands(int64(p.Rate))), rank: 2},
		fact{text: p.Elapsed.Round(100 * time.Millisecond).String(), rank: 4})
}

// figures are the results so far.
func (l *Live) figures(p loadtest.Progress) []fact {
	sold := fact{text: "sold " + numbers.Thousands(p.Units)}
	if l.Stock > 0 {
		stock := numbers.Thousands(l.Stock)
		sold.text = fmt.Sprintf("sold %*s of %s", len(stock), numbers.Thousands(p.Units), stock)
	}
	over := fact{rank: 1, color: red}
	if l.Stock > 0 && p.Units > l.Stock {
		over.text, sold.color = "oversold", red
	}
	left := fact{text: fmt.Sprintf("left %*s", len(numbers.Thousands(l.Stock)), numbers.Thousands(p.Left)), rank: 2}
	if p.Left < 0 {
		left.color = red
	}
	all := []fact{sold, over, left,
		{text: fmt.Sprintf("p50 %7s", numbers.Duration(int64(p.P50*1000))), rank: 6},
		{text: fmt.Sprintf("p99 %7s", numbers.Duration(int64(p.P99*1000))), rank: 5}}
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
			all = append(all, fact{fmt.Sprintf("%s %s", trouble.what, numbers.Thousands(trouble.n)), trouble.rank, trouble.color})
		}
	}
	return all
}

// line leaves out what has no room; it is empty where not even rank 0 fits.
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
