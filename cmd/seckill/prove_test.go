package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/explore"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies/sqlrow"
)

// proving runs seckill prove in this process.
func proving(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	status = run(t.Context(), func() {}, append([]string{"prove"}, args...), &out, &said)
	return status, out.String(), said.String()
}

// What cannot be done is said before any server starts, in one line.
func TestProveSaysWhatIsWrong(t *testing.T) {
	folder := t.TempDir()
	in := func(name, text string) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	const good = `{"format":1,"strategy":"naive","scenario":{"name":"s","stock":5,"buyers":[` +
		`{"name":"A","process":0,"quantity":1,"does":"buys"}]},"steps":[{"who":"A"}],"problems":[],"told":[]}`
	nowhere := filepath.Join(folder, "nowhere", "file")
	examples := "--examples=" + filepath.Join(folder, "examples")
	for _, c := range []struct {
		what   string
		args   []string
		status int
		want   string
	}{
		{"no budget", []string{"--budget=0s"}, statusUsage, "--budget must be longer than 0"},
		{"a negative budget", []string{"--budget=-3s"}, statusUsage, "--budget must be longer than 0"},
		{"a budget that is no time", []string{"--budget=long"}, statusUsage, "budget"},
		{"no workers", []string{"--workers=0"}, statusUsage, "--workers must be 1 to 16"},
		{"too many workers", []string{"--workers=1000"}, statusUsage, "--workers must be 1 to 16"},
		{"no folder for examples", []string{"--examples="}, statusUsage, "--examples must name a folder"},
		{"a negative seed", []string{"--seed=-1"}, statusUsage, "seed"},
		{"an unknown flag", []string{"--fast"}, statusUsage, "--fast"},
		{"an argument too many", []string{"naive"}, statusUsage, "naive"},
		{"an unknown strategy", []string{"--strategies=luck"}, statusUsage, `no strategy "luck"`},
		{"one unknown strategy of two", []string{"--strategies=naive,Naive"}, statusUsage, `no strategy "Naive"; there are naive`},
		{"a strategy twice", []string{"--strategies=naive,naive"}, statusUsage, "names naive twice"},
		{"an unknown question", []string{"--strategies=naive", "--questions=oversel", examples}, statusFailed, `no question "oversel", only oversell`},
		{"JSON into a folder that is not there", []string{"--json=" + nowhere}, statusFailed, "nowhere"},
		{"HTML into a folder", []string{"--html=" + folder}, statusFailed, folder},
		{"a README that is not there", []string{"--readme=" + nowhere}, statusFailed, "nowhere"},
		{"a README without marks", []string{"--readme=" + in("README.md", "# Title\n")}, statusFailed, "there are no lines"},
		{"merging into nothing", []string{"--merge=" + nowhere}, statusFailed, "the matrix to merge into"},
		{"merging into something else", []string{"--merge=" + in("other.json", good)}, statusFailed, "other.json: this is no matrix"},
		{"merging into another seed's", []string{"--merge=" + in("seed.json", `{"format":2,"questions":[],"rows":[],"backends":[],`+
			`"seed":9,"schedules":60}`)}, statusFailed, "seed.json: the matrix was computed with --seed 9"},
		{"examples into a file", []string{"--examples=" + in("file", "")}, statusFailed, "--examples"},
		{"histories into a file", []string{"--histories=" + in("file", ""), examples}, statusFailed, "the folder for histories"},
		{"a replay of nothing", []string{"--replay=" + nowhere}, statusFailed, "the counterexample cannot be read"},
		{"a replay of a folder", []string{"--replay=" + folder}, statusFailed, "no counterexample"},
		{"a replay of an empty file", []string{"--replay=" + in("empty.json", "")}, statusFailed, "empty.json: this is no counterexample"},
		{"a replay that is cut off", []string{"--replay=" + in("cut.json", good[:80])}, statusFailed, "cut.json: this is no counterexample"},
		{"a replay of something else", []string{"--replay=" + in("matrix.json", `{"format":1,"rows":[]}`)}, statusFailed, `unknown field "rows"`},
		{"a replay of the future", []string{"--replay=" + in("new.json", strings.Replace(good, `"format":1`, `"format":2`, 1))},
			statusFailed, "format 2, this program knows 1"},
		{"a replay of an unknown strategy", []string{"--replay=" + in("luck.json", strings.Replace(good, "naive", "luck", 1))},
			statusFailed, `luck.json: strategy: there is no strategy "luck"`},
		{"a replay of nobody", []string{"--replay=" + in("nobody.json", `{"format":1,"strategy":"naive"}`)}, statusFailed, "0 buyers"},
	} {
		t.Run(c.what, func(t *testing.T) {
			status, stdout, said := proving(t, c.args...)
			if status != c.status || !strings.Contains(said, c.want) || stdout != "" && c.status != statusUsage {
				t.Errorf("seckill prove %q: status %d, want %d with %q:\n%s%s", c.args, status, c.status, c.want, stdout, said)
			}
			if line := strings.TrimSpace(said); c.status == statusFailed && strings.Contains(line, "\n") ||
				strings.Contains(said, "goroutine ") || len(line) > 600 {
				t.Errorf("seckill prove %q says too much:\n%s", c.args, said)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(folder, "README.md")); string(text) != "# Title\n" {
		t.Errorf("the README is %q by now (%v)", text, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "nowhere")); err == nil {
		t.Error("it made a folder that nobody asked for")
	}
}

// A counterexample is computed, kept, and replayed: it still breaks; it does not
// break what another file says; with another strategy it does not fit.
func TestProveAndReplay(t *testing.T) {
	folder := t.TempDir()
	file := func(name string) string { return filepath.Join(folder, name) }
	const begins, ends = "<!-- matrix: computed by make prove, do not edit -->\n", "<!-- /matrix -->\n"
	if err := os.WriteFile(file("README.md"), []byte("Before.\n"+begins+ends+"After.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	status, stdout, said := proving(t, "--strategies=naive", "--questions=lost-update", "--budget=500ms", "--examples="+file("kept"),
		"--json="+file("matrix.json"), "--html="+file("matrix.html"), "--readme="+file("README.md"))
	if status != 0 || !strings.Contains(strings.Join(strings.Fields(stdout), " "), "naive ✗") || !strings.Contains(stdout, "naive.lost-update.json") {
		t.Fatalf("status %d, want 0 and a table:\n%s%s", status, stdout, said)
	}
	if !strings.Contains(said, "1/1  naive") || strings.Count(said, "\n") != 1 {
		t.Errorf("progress is %q, want one line", said)
	}
	for name, want := range map[string]string{"matrix.json": `"answer": "breaks"`, "matrix.html": "✗ breaks", "README.md": "| `naive` | [✗]("} {
		if text, err := os.ReadFile(file(name)); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q (%v):\n%s", name, want, err, text)
		}
	}

	onServer := "--mysql-dsn=" + labtest.Start(t, backend.SQL).Config().MySQLDSN
	kept := file("kept/naive.lost-update.json")
	status, stdout, said = proving(t, "--strategies=conditional", "--questions=reentrant", "--budget=500ms", "--quiet", onServer,
		"--examples="+file("kept"), "--merge="+file("matrix.json"), "--json="+file("matrix.json"))
	text, err := os.ReadFile(file("matrix.json"))
	if status != 0 || err != nil || !strings.Contains(string(text), "naive.lost-update.json") || !strings.Contains(string(text), "not a lock") {
		t.Errorf("merged: status %d (%v), want 0 and the cells of both runs:\n%s%s", status, err, stdout, said)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("the counterexample of a cell that was kept: %v", err)
	}
	status, stdout, said = proving(t, "--replay="+kept)
	if status != 0 || !strings.Contains(stdout, "buyer A") || !strings.Contains(stdout, "It still breaks: ") {
		t.Errorf("replayed: status %d, want 0, with its table:\n%s%s", status, stdout, said)
	}
	alter(t, kept, file("sound.json"), func(e *explore.Example) {
		e.Problems = []explore.Problem{{Rule: "sold_twice"}}
	})
	status, stdout, said = proving(t, "--replay="+file("sound.json"), onServer)
	if status != statusDiffers || !strings.Contains(stdout, "It does not break any more: the file says sold_twice.") {
		t.Errorf("what breaks something else: status %d, want %d:\n%s%s", status, statusDiffers, stdout, said)
	}
	alter(t, kept, file("other.json"), func(e *explore.Example) { e.Strategy = "conditional" })
	status, stdout, said = proving(t, "--replay="+file("other.json"), onServer)
	if status != statusDiverged || !strings.Contains(stdout, "other.json does not fit any more: ") ||
		!strings.Contains(stdout, "seckill prove --strategies conditional --questions lost-update") {
		t.Errorf("another strategy: status %d, want %d and what to do:\n%s%s", status, statusDiverged, stdout, said)
	}
}

func alter(t *testing.T, from, to string, change func(*explore.Example)) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	e, err := explore.ReadExample(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	change(&e)
	var b bytes.Buffer
	if err := e.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

// A strategy that promises what it does not keep ends in a status of its own,
// whatever else was asked for.
func TestProveDiffers(t *testing.T) {
	honest := sqlrow.Naive.Guarantees
	t.Cleanup(func() { sqlrow.Naive.Guarantees = honest })
	sqlrow.Naive.Guarantees = catalog.Guarantees{catalog.Oversell: catalog.Holds}
	status, stdout, said := proving(t, "--strategies=naive", "--questions=oversell", "--budget=500ms", "--quiet", "--json=-",
		"--examples="+t.TempDir(), "--mysql-dsn="+labtest.Start(t, backend.SQL).Config().MySQLDSN)
	if status != statusDiffers || said != "" {
		t.Errorf("status %d, want %d, and nothing said:\n%s", status, statusDiffers, said)
	}
	m, err := prove.ReadMatrix(strings.NewReader(stdout))
	if err != nil {
		t.Fatalf("%v:\n%s", err, stdout)
	}
	if d := m.Differences(); len(d) != 1 || d[0].Strategy != "naive" || d[0].Expected != "holds" {
		t.Errorf("differences %v, want one", d)
	}
}

// Servers that are not there, or are no MySQL, end a proof with their reason,
// and no password shows.
func TestProveWithoutServers(t *testing.T) {
	for dsn, want := range map[string]string{
		"root:hunter2@tcp(127.0.0.1:1)/x":   "127.0.0.1:1",
		"mysql://root:hunter2@127.0.0.1:1/": "does not answer",
	} {
		status, stdout, said := proving(t, "--strategies=naive", "--questions=oversell", "--quiet",
			"--examples="+t.TempDir(), "--mysql-dsn="+dsn)
		if status != statusFailed || !strings.Contains(said, want) || strings.Contains(said+stdout, "hunter2") {
			t.Errorf("%s: status %d, want %d with %q:\n%s%s", dsn, status, statusFailed, want, stdout, said)
		}
	}
}
