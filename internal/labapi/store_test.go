package labapi

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/history"
	"seckill/loadtest"
	"seckill/loadtest/compare"
)

func runsOf(folder *history.Folder, log *slog.Logger) *Server {
	s := &Server{Config: Config{History: folder, Log: log}, bell: newBell()}
	s.openRuns()
	s.openComparisons()
	return s
}

// An older run that changes late does not end the progress of the newest.
func TestNewsOfTheNewestRunGoOn(t *testing.T) {
	s := runsOf(history.Open(""), slog.New(slog.DiscardHandler))
	begin := func(id string) *runEntry {
		return s.runs.begin(Run{Record: Record{ID: id, State: Running}, Lanes: make([]Lane, 1)}, func() {})
	}
	step := func(e *runEntry, at int) {
		s.runs.step(e, func(r *Run) bool { r.Lanes[0].Points = append(r.Lanes[0].Points, Point{At: float64(at)}); return false })
	}
	older, newest := begin("older"), begin("newest")
	early := s.openNews()
	early.nextRuns()
	step(newest, 1)
	s.runs.change(older, func(r *Run) { r.State = Done })
	if whole, progress := early.nextRuns(); len(whole) != 1 || whole[0].ID != "older" || len(progress) != 1 || len(progress[0].Lanes[0].Points) != 1 {
		t.Errorf("after the end of the older: %+v and %+v, want it, and the newest's step", whole, progress)
	}
	late := s.openNews()
	if whole, progress := late.nextRuns(); len(whole) != 2 || whole[1].ID != "newest" || progress != nil {
		t.Errorf("a page that opens then is given %+v and %+v, want the newest as a whole", whole, progress)
	}
	step(newest, 2)
	for _, page := range []*news{early, late} {
		if _, progress := page.nextRuns(); len(progress) != 1 || len(progress[0].Lanes[0].Points) != 1 || progress[0].Lanes[0].From != 1 {
			t.Errorf("the newest's next step is %+v", progress)
		}
	}
}

// A page is shown no run that it could not make sense of.
func TestForeignRunsAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	folder := history.Open(dir)
	whole := Run{Record: Record{State: Done}, Settings: Settings{Strategies: []string{"a"}},
		Lanes: []Lane{{Strategy: "a", Result: &loadtest.Result{}}}}
	for id, change := range map[string]func(*Run){
		"whole":    func(*Run) {},
		"on":       func(r *Run) { r.State = Running },
		"empty":    func(r *Run) { *r = Run{Record: Record{State: Done}} },
		"nameless": func(r *Run) { r.Settings.Strategies = nil },
		"other":    func(r *Run) { r.Settings.Strategies = []string{"b"} },
		"nothing":  func(r *Run) { r.Lanes = []Lane{{Strategy: "a"}} },
	} {
		r := whole
		change(&r)
		if err := folder.Put(history.Run, id, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "run-zero.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	s := runsOf(folder, slog.New(slog.NewTextHandler(&log, nil)))
	if runs := s.runs.list(); len(runs) != 1 || runs[0].ID != "whole" || runs[0].Faults == nil {
		t.Errorf("the store has %+v, want the one that is whole", runs)
	}
	for _, id := range []string{"on", "empty", "nameless", "other", "nothing", "zero"} {
		if !strings.Contains(log.String(), "run-"+id+".json") {
			t.Errorf("nothing is said of %s:\n%s", id, log.String())
		}
	}
}

func TestOnlyTheLastRunsAreKept(t *testing.T) {
	s := runsOf(history.Open(""), slog.New(slog.DiscardHandler))
	for i := range maxRuns + 5 {
		e := s.runs.begin(Run{Record: Record{ID: fmt.Sprint(i), State: Running}}, func() {})
		s.runs.change(e, func(r *Run) { r.State = Done })
	}
	if runs := s.runs.list(); len(runs) != maxRuns || runs[0].ID != fmt.Sprint(maxRuns+4) {
		t.Errorf("%d runs are kept, the newest is %s", len(runs), runs[0].ID)
	}
}

func TestOnlyTheLastComparisonsAreKept(t *testing.T) {
	folder := history.Open(t.TempDir())
	s := runsOf(folder, slog.New(slog.DiscardHandler)).comparisons
	for i := range maxComparisons + 2 {
		c := Comparison{Record: Record{ID: fmt.Sprint(i), State: Running}}
		e := s.begin(c, func() {})
		c.State, c.Result = Done, &compare.Result{Format: compare.Format, Strategies: []*compare.Entry{}}
		c = s.keep(c)
		s.change(e, func(it *Comparison) { *it = c })
	}
	if all := s.list(); len(all) != maxComparisons || all[0].ID != fmt.Sprint(maxComparisons+1) {
		t.Errorf("%d are listed, the newest is %s", len(all), all[0].ID)
	}
	for _, gone := range []string{"0", "1"} {
		if s.find(gone) != nil || !errors.Is(folder.Get(history.Comparison, gone, &Comparison{}), fs.ErrNotExist) {
			t.Errorf("the oldest, %s, is still there", gone)
		}
	}
}
