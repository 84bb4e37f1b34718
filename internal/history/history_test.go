package history_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"seckill/internal/history"
)

type entry struct{ Name string }

func names(t *testing.T, f *history.Folder, kind history.Kind) (found []string, skipped []error) {
	t.Helper()
	skipped = history.Load(f, kind, func(id string, e entry) error {
		found = append(found, id+"="+e.Name)
		return nil
	})
	slices.Sort(found)
	return found, skipped
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEntriesOutliveTheLab(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	f := history.Open(dir)
	if found, skipped := names(t, f, history.Run); found != nil || skipped != nil {
		t.Fatalf("a folder that is not there has %v, %v", found, skipped)
	}
	must(t, f.Put(history.Run, "a", entry{"first"}))
	must(t, f.Put(history.Run, "a", entry{"second"}))
	must(t, f.Put(history.Run, "b", entry{"other"}))
	must(t, f.Put(history.Comparison, "a", entry{"third"}))

	again := history.Open(dir)
	if found, skipped := names(t, again, history.Run); !slices.Equal(found, []string{"a=second", "b=other"}) || skipped != nil {
		t.Errorf("runs: got %v, %v", found, skipped)
	}
	var e entry
	must(t, again.Get(history.Comparison, "a", &e))
	if e.Name != "third" {
		t.Errorf("the comparison is %q", e.Name)
	}
	must(t, again.Remove(history.Run, "a"))
	must(t, again.Remove(history.Run, "a"))
	if err := again.Get(history.Run, "a", &e); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed entry: got %v, want ErrNotExist", err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("files left: %v", files)
	}
}

func TestForeignAndBrokenFilesAreSkippedAndNamed(t *testing.T) {
	dir := t.TempDir()
	f := history.Open(dir)
	must(t, f.Put(history.Run, "good", entry{"good"}))
	whole, err := os.ReadFile(filepath.Join(dir, "run-good.json"))
	must(t, err)
	write := func(name string, data []byte) { must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600)) }
	write("run-cut.json", whole[:len(whole)/2])
	write("run-empty.json", nil)
	write("run-renamed.json", whole)
	write("run-newer.json", []byte(`{"seckill_history":2,"kind":"run","id":"newer","entry":{}}`))
	write("run-other.json", []byte(`{"seckill_history":1,"kind":"run","id":"other","entry":[1]}`))
	must(t, os.Mkdir(filepath.Join(dir, "run-folder.json"), 0o700))
	write("notes.txt", []byte("mine"))

	found, skipped := names(t, f, history.Run)
	if !slices.Equal(found, []string{"good=good"}) {
		t.Errorf("found %v", found)
	}
	said := errors.Join(skipped...).Error()
	for _, name := range []string{"cut", "empty", "renamed", "newer", "other", "folder"} {
		if !strings.Contains(said, "run-"+name+".json: ") {
			t.Errorf("run-%s.json is not named in:\n%s", name, said)
		}
	}
	if len(skipped) != 6 {
		t.Errorf("skipped %d files, want 6:\n%s", len(skipped), said)
	}
}

func TestWhatAKilledLabWasWritingIsClearedAway(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, ".seckill-1"), filepath.Join(dir, ".seckill-2")
	for _, file := range []string{old, young} {
		must(t, os.WriteFile(file, []byte("{"), 0o600))
	}
	yesterday := time.Now().Add(-24 * time.Hour)
	must(t, os.Chtimes(old, yesterday, yesterday))
	history.Open(dir).Tidy()
	files, err := os.ReadDir(dir)
	must(t, err)
	if len(files) != 1 || files[0].Name() != ".seckill-2" {
		t.Errorf("left: %v, want what another lab may be writing", files)
	}
}

func TestWhatCannotBeWrittenLeavesTheOlderEntry(t *testing.T) {
	dir := t.TempDir()
	f := history.Open(dir)
	must(t, f.Put(history.Run, "a", entry{"older"}))
	if err := f.Put(history.Run, "a", func() {}); err == nil {
		t.Error("a function was written as JSON")
	}
	// A folder in the place of the file: renaming fails, even for root.
	must(t, os.Mkdir(filepath.Join(dir, "run-b.json"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "run-b.json", "full"), nil, 0o600))
	if err := f.Put(history.Run, "b", entry{}); err == nil {
		t.Error("an entry was written over a folder")
	}
	if found, _ := names(t, f, history.Run); !slices.Equal(found, []string{"a=older"}) {
		t.Errorf("found %v", found)
	}
	if files, _ := os.ReadDir(dir); len(files) != 2 {
		t.Errorf("something was left behind: %v", files)
	}
	if err := history.Open(filepath.Join(dir, "run-a.json")).Put(history.Run, "c", entry{}); err == nil {
		t.Error("an entry was put into a file")
	}
}
