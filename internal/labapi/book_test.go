package labapi

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/history"
	"seckill/loadtest"
)

// An older run that changes late does not end the progress of the newest.
func TestNewsOfTheNewestRunGoOn(t *testing.T) {
	b := openBook(history.Open(""), slog.New(slog.DiscardHandler))
	begin := func(id string) *entry {
		return b.begin(Run{ID: id, State: Running, Lanes: make([]Lane, 1)}, func() {})
	}
	step := func(e *entry, at int) {
		b.change(e, func(r *Run) bool { r.Lanes[0].Points = append(r.Lanes[0].Points, Point{At: float64(at)}); return false })
	}
	older, newest := begin("older"), begin("newest")
	_, early := b.open()
	b.next(&early)
	step(newest, 1)
	b.change(older, func(r *Run) bool { r.State = Done; return true })
	if n := b.next(&early); len(n.runs) != 1 || n.runs[0].ID != "older" || n.snapshot == nil || len(n.snapshot.Lanes[0].Points) != 1 {
		t.Errorf("after the end of the older: %+v, want it, and the newest's step", n)
	}
	_, late := b.open()
	if n := b.next(&late); len(n.runs) != 2 || n.runs[1].ID != "newest" || n.snapshot != nil {
		t.Errorf("who opens then is given %+v, want the newest as a whole", n)
	}
	step(newest, 2)
	for _, r := range []*reader{&early, &late} {
		if n := b.next(r); n.snapshot == nil || len(n.snapshot.Lanes[0].Points) != 1 || n.snapshot.Lanes[0].From != 1 {
			t.Errorf("the newest's next step is %+v", n)
		}
	}
}

// A page is shown no run that it could not make sense of, whoever wrote it.
func TestForeignRunsAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	folder := history.Open(dir)
	whole := Run{State: Done, Settings: Settings{Strategies: []string{"a"}},
		Lanes: []Lane{{Strategy: "a", Result: &loadtest.Result{}}}}
	for id, change := range map[string]func(*Run){
		"whole":    func(*Run) {},
		"on":       func(r *Run) { r.State = Running },
		"empty":    func(r *Run) { *r = Run{State: Done} },
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
	b := openBook(folder, slog.New(slog.NewTextHandler(&log, nil)))
	if runs := b.list(); len(runs) != 1 || runs[0].ID != "whole" || runs[0].Faults == nil {
		t.Errorf("the book has %+v, want the one that is whole", runs)
	}
	for _, id := range []string{"on", "empty", "nameless", "other", "nothing", "zero"} {
		if !strings.Contains(log.String(), "run-"+id+".json") {
			t.Errorf("nothing is said of %s:\n%s", id, log.String())
		}
	}
}
