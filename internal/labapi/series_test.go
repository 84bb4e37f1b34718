package labapi

import (
	"testing"
	"time"

	"seckill/internal/ledger"
	"seckill/loadtest"
)

const repeatedRun = `{"strategies":["good"],"stock":100,"buyers":2000,"concurrency":64,"seed":"42","repeats":3}`

// Each run of a series is a run of its own, with the buyers that the command line
// gives it; the last says how often which verdict was given.
func TestSeries(t *testing.T) {
	s, h, load := start(t, nil)
	page := opened(t, h.URL)
	first := begin(t, h.URL, repeatedRun)
	for i, v := range []ledger.Verdict{ledger.Oversold, ledger.Held, ledger.Oversold} {
		if c := <-load.configs; c.Seed != loadtest.RepeatSeed(42, i) {
			t.Errorf("run %d has seed %d, want %d", i+1, c.Seed, loadtest.RepeatSeed(42, i))
		}
		call{method: "POST", path: "/api/lab/v1/runs", body: goodRun}.wants(t, h.URL, 409, "")
		load.results <- &loadtest.Result{Verdict: v}
		page.runEnded()
	}
	all := s.runs.list()
	if len(all) != 3 || all[2].ID != first.ID || all[2].Series.Number != 1 || all[1].Series.Ended != "" {
		t.Fatalf("the runs are %+v", all)
	}
	last := all[0].Series
	oversold := last.Shares[0][1]
	if last.Number != 3 || last.Of != 3 || last.Ended != SeriesDone || oversold.Verdict != ledger.Oversold || oversold.Runs != 2 || oversold.Of != 3 ||
		oversold.Low < .2 || oversold.Low > .21 || oversold.High < .93 || oversold.High > .94 {
		t.Errorf("the last run says of its series %+v", last)
	}
	begin(t, h.URL, goodRun) // the turn is free again
	load.results <- &loadtest.Result{Verdict: ledger.Held}
	if r := page.runEnded(); r["series"] != nil {
		t.Errorf("a single run is in the series %v", r["series"])
	}
}

// A series does not go on for ever, nor after a run that had no result.
func TestSeriesEnds(t *testing.T) {
	measured := Run{Lanes: []Lane{{Result: &loadtest.Result{}}}}
	for _, c := range []struct {
		number int
		began  time.Duration
		run    Run
		want   SeriesEnd
	}{
		{2, 0, measured, ""}, {3, 0, measured, SeriesDone}, {2, seriesTime + time.Second, measured, SeriesTime}, {2, 0, Run{}, SeriesFailed},
	} {
		s := newSeries(Settings{Strategies: []string{"good"}, Repeats: 3})
		s.number, s.began = c.number, s.began.Add(-c.began)
		if got := s.end(c.run); got != c.want {
			t.Errorf("after run %d of 3, %s after the start: %q, want %q", c.number, c.began, got, c.want)
		}
	}
}
