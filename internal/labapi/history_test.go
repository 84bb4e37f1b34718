package labapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/loadtest/compare"
)

type kept struct {
	Text string
}

// The next lab reads the entries of each kind. It ignores foreign files and half written files, and does not
// change them.
func TestEntriesOutliveTheLab(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "later")
	f := History(dir)
	for id, text := range map[string]string{"a": "first", "b": "second"} {
		labtest.Must(t, f.writeEntry(kindRun, id, kept{text}))
	}
	labtest.Must(t, f.writeEntry(kindComparison, "a", kept{"another"}))
	foreign := map[string]string{
		"run-cut.json": `{"seckill_history":1,"entry":{"Text":"th`, "run-list.json": `[]`, "run-older.json": `{"seckill_history":0,"entry":{}}`,
		"run-empty.json": "", "run-wrong.json": `{"seckill_history":1,"entry":{"Text":7}}`, "notes.txt": "mine",
	}
	for name, text := range foreign {
		labtest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	labtest.Must(t, os.Mkdir(filepath.Join(dir, "run-folder.json"), 0o700))
	want := map[string]kept{"a": {"first"}, "b": {"second"}}
	if got := readEntries[kept](History(dir), kindRun); !maps.Equal(got, want) {
		t.Errorf("the next lab reads %v, want %v", got, want)
	}
	for name, text := range foreign {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s is now %q, %v", name, got, err)
		}
	}
	f.removeEntry(kindRun, "a")
	delete(want, "a")
	if got := readEntries[kept](f, kindRun); !maps.Equal(got, want) {
		t.Errorf("after a removal: %v, want %v", got, want)
	}
}

// Anybody may have written a file of the history. A file that a page could not show is ignored, and is not
// changed.
func TestEntriesThatPagesCouldNotShow(t *testing.T) {
	settings, err := json.Marshal(compare.Presets()[0].Settings)
	labtest.Must(t, err)
	const ended = `"state":"done","started":"2026-01-02T03:04:05Z",`
	whole := map[entryKind]string{
		kindRun: ended + `"settings":{"strategies":["good"],"stock":100,"buyers":2000,"concurrency":64,"quantity":1},` +
			`"lanes":[{"strategy":"good","sku":1,"result":{"verdict":"held","audit":{"sold":100}}}]`,
		kindTrace:      ended + `"strategy":"good","steps":null`,
		kindComparison: fmt.Sprintf(ended+`"settings":%s,"result":{"settings":%[1]s}`, settings),
	}
	dir := t.TempDir()
	write := func(k entryKind, id, entry string) {
		text := `{"seckill_history":1,"entry":{` + entry + `}}`
		labtest.Must(t, os.WriteFile(History(dir).fileName(k, id), []byte(text), 0o600))
	}
	wrong := map[entryKind][]string{ // what stands in an entry, and what instead
		kindRun: {`[{"strategy":"good"`, `[{"strategy":"other"`, `"lanes":[`, `"lanes":null,"x":[`, `"lanes":[`, `"lanes":[null,`,
			"done", "running", "2026", "9026", `"stock":100`, `"stock":-1`, `"buyers":2000`, `"buyers":1000000000`},
		kindTrace: {`"strategy":"good",`, "", "done", "preparing"},
		kindComparison: {`"result"`, `"x"`, `"result":{`, `"result":{"entries":[null],`,
			`"settings":{`, `"settings":null,"x":{`},
	}
	for k, entry := range whole {
		write(k, "whole", entry)
		write(k, "nothing", "")
		for i, pair := range slices.Collect(slices.Chunk(wrong[k], 2)) {
			write(k, fmt.Sprint("wrong-", i), strings.Replace(entry, pair[0], pair[1], 1))
		}
	}
	before, _ := os.ReadDir(dir)

	s, h, _ := start(t, func(c *Config) { c.History = History(dir) })
	if len(s.runs.entries) != 1 || len(s.traces.entries) != 1 || len(s.comparisons.entries) != 1 {
		t.Errorf("listed are %d runs, %d traces, %d comparisons, want one each", len(s.runs.entries), len(s.traces.entries),
			len(s.comparisons.entries))
	}
	// A page reads the lists that are missing deeper down.
	call{method: "GET", path: "/api/lab/v1/runs/whole"}.wants(t, h.URL, 200, `"violations":[]`)
	call{method: "GET", path: "/api/lab/v1/traces/whole"}.wants(t, h.URL, 200, `"steps":[]`)
	call{method: "GET", path: "/api/lab/v1/comparisons/whole"}.wants(t, h.URL, 200, `"not_run":[]`)
	if after, _ := os.ReadDir(dir); len(after) != len(before) {
		t.Errorf("%d of %d files are left", len(after), len(before))
	}
}

func TestWhatCannotBeKept(t *testing.T) {
	nothing := History("")
	nothing.removeEntry(kindRun, "a")
	if err := nothing.writeEntry(kindRun, "a", kept{}); err != nil || len(readEntries[kept](nothing, kindRun)) > 0 {
		t.Errorf("without a folder: %v", err)
	}
	file := filepath.Join(t.TempDir(), "a-file")
	labtest.Must(t, os.WriteFile(file, nil, 0o600))
	if err := History(file).writeEntry(kindRun, "a", kept{}); err == nil {
		t.Error("an entry was put where no folder can be")
	}
}
