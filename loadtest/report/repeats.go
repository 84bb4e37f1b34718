package report

import (
	"fmt"
	"io"

	"seckill/internal/ledger"
	"seckill/internal/numbers"
	"seckill/loadtest"
)

// Line is run i of n, counted from 0, in one line.
func Line(r *loadtest.Result, i, n int, color bool) string {
	t := &text{color: color}
	detail := ""
	if r.Audit != nil {
		for _, v := range r.Audit.Violations {
			detail += ", " + v.Message
		}
	}
	for _, p := range r.Problems {
		detail += ", " + p
	}
	return fmt.Sprintf("run %*d of %d  seed %d  %s%s  %s", len(fmt.Sprint(n)), i+1, n, r.Settings.Seed, t.stamp(r.Verdict), detail, told(r.Counts))
}

// WriteRepeats writes the summary below the runs' lines.
func WriteRepeats(w io.Writer, a *loadtest.Repeats) error {
	t := &text{}
	fmt.Fprintf(t, "\n%s", numbers.Count(len(a.Runs), "run"))
	if len(a.Runs) < a.Asked {
		fmt.Fprintf(t, " of %d, then interrupted", a.Asked)
	}
	fmt.Fprintln(t, "; with a confidence of 95 % (Wilson score) the rate of")
	for _, s := range a.Verdicts {
		if s.Verdict == ledger.NotValid && s.Runs == 0 {
			continue
		}
		fmt.Fprintf(t, "  %-10s %d of %d: %s to %s\n", stamps[s.Verdict].word, s.Runs, s.Of, percent(s.Low), percent(s.High))
	}
	if held := a.Verdicts[0]; held.Runs > 0 && held.Runs == held.Of {
		last := a.Runs[len(a.Runs)-1]
		if known := loadtest.HeldThisTime(last.Strategy.Name, last.Known); known != "" {
			fmt.Fprintf(t, "\n%s\n", known)
		}
	}
	_, err := io.WriteString(w, t.String())
	return err
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
