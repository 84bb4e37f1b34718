package labapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/loadtest/compare"
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

// People send each other these files, and anybody may have written one. What a page could
// not show is not listed, and stays as it is.
func TestEntriesThatPagesCouldNotShow(t *testing.T) {
	dir := t.TempDir()
	const ended = `"state":"done","started":"2026-01-02T03:04:05Z",`
	whole := map[kind]string{
		kindRun: ended + `"settings":{"strategies":["good"],"stock":100,"buyers":2000,"concurrency":64,"quantity":1},` +
			`"lanes":[{"strategy":"good","sku":1,"result":{"verdict":"held","audit":{"sold":100}}}]`,
		kindTrace: ended + `"strategy":"good","steps":null`,
	}
	settings, err := json.Marshal(compare.Presets()[0].Settings)
	labtest.Must(t, err)
	whole[kindComparison] = fmt.Sprintf(ended+`"settings":%s,"result":{"settings":%[1]s}`, settings)
	files := map[string]string{}
	write := func(k kind, id, entry string) {
		name := History(dir).file(k, id)
		files[name] = `{"seckill_history":1,"entry":{` + entry + `}}`
		labtest.Must(t, os.WriteFile(name, []byte(files[name]), 0o600))
	}
	for k, entry := range whole {
		write(k, "whole", entry)
		write(k, "nothing", "")
	}
	for i, wrong := range []struct {
		kind     kind
		old, new string
	}{
		{kindRun, `[{"strategy":"good"`, `[{"strategy":"other"`}, {kindRun, `"lanes":[`, `"lanes":null,"x":[`},
		{kindRun, `"lanes":[`, `"lanes":[null,`}, {kindRun, "done", "running"}, {kindRun, "done", "whatever"},
		{kindRun, "2026", "9026"}, {kindRun, `"stock":100`, `"stock":-1`}, {kindRun, `"buyers":2000`, `"buyers":1000000000`},
		{kindTrace, `"strategy":"good",`, ""}, {kindTrace, `"done"`, `"preparing"`},
		{kindComparison, `"result"`, `"x"`}, {kindComparison, `"result":{`, `"result":{"entries":[null],`},
		{kindComparison, `"settings":{`, `"settings":null,"x":{`},
	} {
		changed := strings.Replace(whole[wrong.kind], wrong.old, wrong.new, 1)
		if changed == whole[wrong.kind] {
			t.Fatalf("%s has no %s", wrong.kind, wrong.old)
		}
		write(wrong.kind, fmt.Sprint("wrong-", i), changed)
	}

	_, h, _ := start(t, func(c *Config) { c.History = History(dir) })
	for path, lists := range map[string][]string{"runs/whole": {"faults", "targets", "violations"},
		"traces/whole": {"steps", "told", "held"}, "comparisons/whole": {"entries", "not_run", "problems"}} {
		_, body, _ := call{method: "GET", path: "/api/lab/v1/" + path}.do(t, h.URL)
		for _, list := range lists {
			if !strings.Contains(body, `"`+list+`":[]`) {
				t.Errorf("%s has no list %s: %s", path, list, body)
			}
		}
	}
	for _, path := range []string{"runs", "comparisons"} {
		_, body, _ := call{method: "GET", path: "/api/lab/v1/" + path}.do(t, h.URL)
		if strings.Count(body, `"id":`) != 1 || !strings.Contains(body, `"id":"whole"`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	call{method: "GET", path: "/api/lab/v1/traces/wrong-8"}.wants(t, h.URL, 404, "unknown_trace")
	for name, text := range files {
		if got, err := os.ReadFile(name); err != nil || string(got) != text {
			t.Errorf("%s is now %q, %v", name, got, err)
		}
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
