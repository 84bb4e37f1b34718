package labapi

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"seckill/internal/lab/labtest"
)

type kept struct {
	Text string
}

// What was put is there for the next lab, each kind apart. Files of others, and what a
// killed lab was writing, are passed over and stay as they are.
func TestEntriesOutliveTheLab(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "later")
	f := History(dir)
	for id, text := range map[string]string{"a": "first", "b": "second"} {
		labtest.Must(t, f.put(kindRun, id, kept{text}))
	}
	labtest.Must(t, f.put(kindComparison, "a", kept{"another"}))
	foreign := map[string]string{
		"run-cut.json": `{"seckill_history":1,"entry":{"Text":"th`, "run-list.json": `[]`, "run-older.json": `{"seckill_history":0,"entry":{}}`,
		"run-empty.json": "", "run-wrong.json": `{"seckill_history":1,"entry":{"Text":7}}`, "notes.txt": "mine",
	}
	for name, text := range foreign {
		labtest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	labtest.Must(t, os.Mkdir(filepath.Join(dir, "run-folder.json"), 0o700))
	want := map[string]kept{"a": {"first"}, "b": {"second"}}
	if got := entriesOf[kept](History(dir), kindRun); !maps.Equal(got, want) {
		t.Errorf("the next lab reads %v, want %v", got, want)
	}
	for name, text := range foreign {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s is now %q, %v", name, got, err)
		}
	}
	f.remove(kindRun, "a")
	delete(want, "a")
	if got := entriesOf[kept](f, kindRun); !maps.Equal(got, want) {
		t.Errorf("after a removal: %v, want %v", got, want)
	}
}

func TestWhatCannotBeKept(t *testing.T) {
	nothing := History("")
	nothing.remove(kindRun, "a")
	if err := nothing.put(kindRun, "a", kept{}); err != nil || len(entriesOf[kept](nothing, kindRun)) > 0 {
		t.Errorf("without a folder: %v", err)
	}
	file := filepath.Join(t.TempDir(), "a-file")
	labtest.Must(t, os.WriteFile(file, nil, 0o600))
	if err := History(file).put(kindRun, "a", kept{}); err == nil {
		t.Error("an entry was put where no folder can be")
	}
}
