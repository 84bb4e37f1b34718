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

func running(t *testing.T) *lab.State {
	t.Helper()
	s, err := lab.Running(labtest.Host())
	must(t, "running", err)
	return s
}

func TestRunningLabIsFound(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("SECKILL_STATE", folder)
	if s := running(t); s != nil {
		t.Fatalf("%+v runs before anything does", s)
	}
	start := func(page string) *lab.Lab {
		l, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Folder: labtest.Folder(t), Embedded: true})
		must(t, "start", err)
		must(t, "start services", l.StartServices(t.Context(), 1))
		must(t, "announce", l.Announce(page))
		return l
	}
	first := start("http://first")
	s := running(t)
	if s == nil || s.Page != "http://first" || s.PID != os.Getpid() || s.Config.SQLitePath != first.Config().SQLitePath ||
		s.Config.Tiers[backend.NameMySQL] != backend.Embedded || len(s.Backends) != len(backend.Names()) ||
		!slices.Equal(s.Services, []string{first.Services()[0].URL}) {
		t.Errorf("found %+v, want what the first lab announced", s)
	}
	must(t, "announce", first.Announce("http://moved"))
	if s := running(t); s == nil || s.Page != "http://moved" {
		t.Errorf("found %+v, want the lab's second announcement", s)
	}
	second := start("http://second")
	if s := running(t); s == nil || s.Page != "http://second" {
		t.Errorf("found %+v, want the lab that started last", s)
	}
	files, _ := filepath.Glob(filepath.Join(folder, "*"))
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v): it can hold a password", file, info.Mode(), err)
		}
	}
	second.Stop(context.Background())
	if s := running(t); s == nil || s.Page != "http://moved" {
		t.Errorf("found %+v, want the first lab, which still runs", s)
	}
	first.Stop(context.Background())
	if s := running(t); s != nil {
		t.Errorf("found %+v after both have stopped", s)
	}
	if files, _ := os.ReadDir(folder); len(files) > 0 {
		t.Errorf("%v is left", files)
	}
}

func TestStaleStateIsNoLab(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("SECKILL_STATE", folder)
	stale := filepath.Join(folder, "lab-1-1.json") // whose process lives, under another name
	must(t, "write file", os.WriteFile(stale, []byte(`{"pid":1,"page":"http://stale"}`), 0o600))
	if s := running(t); s != nil {
		t.Errorf("found %+v, which nobody holds", s)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("the stale file is still there")
	}
}

// A user without a home can have a lab too; another user's folder is no place
// to believe in.
func TestStateWithoutAHome(t *testing.T) {
	for _, name := range []string{"SECKILL_STATE", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "HOME"} {
		t.Setenv(name, "")
	}
	temporary := labtest.Folder(t)
	t.Setenv("TMPDIR", temporary)
	l, err := lab.Start(t.Context(), lab.Options{Host: labtest.Host(), Backends: []string{}})
	must(t, "start", err)
	defer l.Stop(context.Background())
	must(t, "announce", l.Announce("http://homeless"))
	if s := running(t); s == nil || s.Page != "http://homeless" {
		t.Errorf("found %+v, want the lab", s)
	}
	folders, _ := filepath.Glob(filepath.Join(temporary, "seckill-[0-9]*"))
	if len(folders) != 1 {
		t.Fatalf("it is announced in %v, want one folder", folders)
	}
	must(t, "chmod", os.Chmod(folders[0], 0o777))
	if s := running(t); s != nil {
		t.Errorf("found %+v in a folder that everybody can write to", s)
	}
}
