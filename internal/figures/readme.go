package figures

import (
	"fmt"
	"os"
	"strings"

	"seckill/internal/chaos"
	"seckill/internal/measure"
)

// Marks in a Markdown file around the figures.
const (
	begins = "<!-- figures: measured, do not edit -->"
	ends   = "<!-- /figures -->"
)

// What the page of figures shows: one or two of each kind.
var (
	shownSales = []string{"naive", "conditional", "version", "for-update", "mutex-per-sku", "get-lock", "lock-row", "lock-insert",
		"redis-lua", "redis-watchdog", "redlock", "zk", "etcd", "redis-counter", "redis-counter-mysql", "redis-lock-mysql"}
	shownLocks = []string{"get-lock", "lock-row", "lock-insert", "redis-lua", "redis-watchdog", "redsync", "redlock", "zk", "etcd"}
)

// PutIntoReadme writes the figures between the marks of a Markdown file.
func (s *Set) PutIntoReadme(file string) error { return put(file, s.markdown()) }

// PutChaos writes between the marks the table of a run with faults.
func PutChaos(r *chaos.Result, file string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n`%s`, %s, %d processors, %s: %s.\n\n", r.Command, r.Begun.UTC().Format("2006-01-02"), r.Machine.CPUs,
		strings.Join(r.Servers, ", "), r.Summary())
	if err := r.WriteMarkdown(&b); err != nil {
		return err
	}
	return put(file, b.String()+"\n")
}

func put(file, figures string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := string(data)
	before, rest, ok := strings.Cut(text, begins+"\n")
	_, after, closed := strings.Cut(rest, ends)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %q and %q to put the figures between", file, begins, ends)
	}
	return os.WriteFile(file, []byte(before+begins+"\n"+figures+ends+after), 0o666)
}

func (s *Set) markdown() string {
	var b strings.Builder
	if s.Compare != nil {
		s.Compare.markdown(&b)
	}
	if s.Locks != nil {
		s.Locks.markdown(&b)
	}
	return b.String()
}

func (s *Sales) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n`%s`, %s; %d buyers at a time. *of transaction*: of the same transaction without HTTP.\n\n", s.Command, s.Run, s.AtOnce)
	b.WriteString("| strategy | verdict | sales/s | p50 ms | p99 ms | commands | of transaction |\n|---|---|--:|--:|--:|--:|--:|\n")
	for _, name := range shownSales {
		if x, ok := s.Strategies[name]; ok {
			fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s | %s |\n", name, strings.ReplaceAll(x.Verdict, "_", " "), x.Rate,
				number(x.P50[0]), number(x.P99[0]), number(x.Sent), share(x.Share[0]))
		}
	}
}

func (s *Locks) markdown(b *strings.Builder) {
	const crowd = 8
	fmt.Fprintf(b, "\n`%s`, %s. Alone: acquired and released without a pause; then %d contenders that hold the lock for %v ms each.\n\n",
		s.Command, s.Run, crowd, s.HoldMS)
	b.WriteString("| lock | alone, locks/s | commands | 8, locks/s | p50 wait ms | p99 wait ms | fewest/most |\n|---|--:|--:|--:|--:|--:|--:|\n")
	row := func(name, shown string) {
		if x, ok := s.Locks[name]; ok {
			alone, eight := x.Crowds[1], x.Crowds[crowd]
			fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", shown, alone.Rate, number(alone.Sent), eight.Rate,
				number(eight.P50[0]), number(eight.P99[0]), share(eight.Fairness[0]))
		}
	}
	for _, name := range shownLocks {
		row(name, "`"+name+"`")
	}
	for _, name := range s.order {
		if s.Locks[name].Foreign {
			row(name, name+" (not ours)")
		}
	}
}

// String says when and where.
func (r Run) String() string {
	text := fmt.Sprintf("%s, %d processors, %s", r.Begun.UTC().Format("2006-01-02"), r.CPUs, r.OS)
	if len(r.Servers) > 0 {
		text += ", " + strings.Join(r.Servers, ", ")
	}
	return text
}

func (s Spread) String() string {
	if s == (Spread{}) {
		return measure.None
	}
	return measure.Spread{Median: s[0], Low: s[1], High: s[2]}.String()
}

// number is empty where nothing was measured.
func number(x float64) string {
	if x == 0 {
		return measure.None
	}
	return measure.Number(x)
}

// share shows 0, too: a contender may get nothing.
func share(x float64) string { return fmt.Sprintf("%.2f", x) }
