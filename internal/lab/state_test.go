package lab_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
)

func TestRunningLabIsFound(t *testing.T) {
	host := labtest.HostIn(t)
	finds := func(page, what string) *lab.State {
		t.Helper()
		s := lab.Running(host)
		if page == "" && s != nil || page != "" && (s == nil || s.Page != page) {
			t.Errorf("found %+v, want %s", s, what)
		}
		return s
	}
	start := func(page string) *lab.Lab {
		l, err := lab.Start(t.Context(), lab.Options{Host: host, Embedded: true, Backends: []string{backend.NameMySQL}})
		must(t, "start", err)
		must(t, "announce", l.Announce(page))
		return l
	}
	finds("", "none before anything runs")
	first := start("http://first")
	must(t, "start services", first.StartServices(t.Context(), 1))
	must(t, "announce", first.Announce("http://moved"))
	if s := finds("http://moved", "the lab's second announcement"); s != nil && (s.PID != os.Getpid() || s.Config.SQLitePath != first.Config().SQLitePath ||
		s.Config.Tiers[backend.NameMySQL] != backend.Embedded || !slices.Equal(s.Services, []string{first.Services()[0].URL})) {
		t.Errorf("found %+v, want what the lab announced", s)
	}
	second := start("http://second")
	finds("http://second", "the lab that started last")
	files, _ := filepath.Glob(filepath.Join(host.Temp, "*", "lab.json*"))
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || len(files) != 2 {
			t.Errorf("%s of %d has mode %v (%v): it holds passwords", file, len(files), info.Mode(), err)
		}
	}
	must(t, "open the folder to others", os.Chmod(second.Folder(), 0o777))
	finds("http://moved", "no lab whose folder every user can write to")
	second.Stop(context.Background())
	first.Stop(context.Background())
	finds("", "none after both have stopped")
	stale := filepath.Join(host.Temp, "seckill-lab-1") // of a lab that has died
	must(t, "mkdir", os.Mkdir(stale, 0o700))
	must(t, "write file", os.WriteFile(filepath.Join(stale, "lab.json"), []byte(`{"pid":1,"page":"http://stale"}`), 0o600))
	finds("", "none whose folder no process has locked")
}
