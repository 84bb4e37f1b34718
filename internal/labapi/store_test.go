package labapi

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"seckill/internal/history"
)

func TestOnlyTheLastRunsAreKept(t *testing.T) {
	dir := t.TempDir()
	s := &Server{Config: Config{History: history.Folder(dir), Log: slog.New(slog.DiscardHandler)}, bell: newBell()}
	s.runs = openStore[Run](s, history.Run)
	begun := time.Now()
	for i := range most + 5 {
		r := Run{Record: Record{ID: fmt.Sprint(i), State: Done, Started: begun.Add(time.Duration(i) * time.Second)}}
		s.runs.enter(&runEntry{value: r})
		s.runs.keep(r)
	}
	for _, runs := range [][]Run{s.runs.list(), openStore[Run](s, history.Run).list()} {
		if len(runs) != most || runs[0].ID != fmt.Sprint(most+4) || runs[most-1].ID != "5" {
			t.Errorf("%d runs are kept, from %s to %s", len(runs), runs[len(runs)-1].ID, runs[0].ID)
		}
	}
}
