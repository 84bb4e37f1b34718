package labapi

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/history"
	"seckill/loadtest"
)

func runsOf(folder *history.Folder, log *slog.Logger) *Server {
	s := &Server{Config: Config{History: folder, Log: log}, bell: newBell()}
	s.runs = openStore[Run](s, history.Run, maxRuns)
	return s
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
		must(t, folder.Put(history.Run, id, r))
	}
	must(t, os.WriteFile(filepath.Join(dir, "run-zero.json"), nil, 0o600))
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
