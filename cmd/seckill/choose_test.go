package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/strategies"
)

// A chosen is what the page's chooser makes of one combination of answers.
type chosen struct {
	Answers struct {
		Stock, Rate float64
		Have, Fails []string
		Order       bool
	}
	Wanted                   float64
	Fits, Slower, Unmeasured []string
	Excluded                 []struct {
		Because string
		Names   []string
	}
	Ways []struct {
		Changes, Names []string
		Then           []string // what fits after the changes
	}
}

// chooseAll evaluates the page's module, which is the same in node, for
// combinations of answers: all that decide what fits, each with one stock and
// rate; with all of them if asked.
const chooseAll = `
import { addressOf, answersOf, choose, failures, having, rates, stocks, without } from './choose/choose.js';
import { readFileSync } from 'node:fs';
const [strategies, matrix, figures] = ['strategies', 'matrix', 'figures'].map((name) => JSON.parse(readFileSync(name + '.json', 'utf8')));
const every = process.argv.includes('every');
const subsets = (list) => list.reduce((all, one) => all.flatMap((some) => [some, [...some, one]]), [[]]);
const speeds = stocks.flatMap((stock) => rates.map((rate) => ({ stock, rate })));
const names = (fits) => fits.map((f) => f.strategy.name);
const lines = [];
let i = 0;
for (const have of subsets(having)) for (const fails of subsets(failures)) for (const order of [false, true]) {
  for (const speed of every ? speeds : [speeds[i++ % speeds.length]]) {
    const answers = { ...speed, have, fails, order };
    if (JSON.stringify(answersOf(addressOf(answers))) !== JSON.stringify(answers)) throw new Error('lost on the way through the address: ' + JSON.stringify(answers));
    const { wanted, fits, slower, unmeasured, excluded, ways } = choose(answers, strategies, matrix, figures);
    lines.push(JSON.stringify({ answers, wanted, fits: names(fits), slower: names(slower), unmeasured: names(unmeasured), excluded,
      ways: ways.map((way) => {
        const then = choose(way.changes.reduce(without, answers), strategies, matrix, figures);
        return { ...way, then: names([...then.fits, ...then.slower, ...then.unmeasured]) };
      }) }));
  }
}
console.log(lines.join('\n'));
`

func TestChooser(t *testing.T) {
	all := strategies.All()
	rows, figures := chooserData(t)
	for _, c := range chosenBy(t, all) {
		fitting := slices.Concat(c.Fits, c.Slower, c.Unmeasured)
		excluded := 0
		for _, e := range c.Excluded {
			excluded += len(e.Names)
		}
		if len(fitting)+excluded != len(all) {
			t.Fatalf("%+v: %d fit and %d are excluded, of %d", c.Answers, len(fitting), excluded, len(all))
		}
		for _, name := range fitting {
			if why := unfit(c, infoNamed(all, name), rows[name]); why != "" {
				t.Fatalf("%+v: %s is recommended, and %s", c.Answers, name, why)
			}
		}
		for _, e := range c.Excluded {
			for _, name := range e.Names {
				if unfit(c, infoNamed(all, name), rows[name]) == "" {
					t.Fatalf("%+v: %s is excluded (%s), and there is no reason", c.Answers, name, e.Because)
				}
			}
		}
		for _, name := range c.Fits {
			if figures[name] < min(c.Answers.Stock, c.Answers.Rate) {
				t.Fatalf("%+v: %s is called fast enough, with %v sales per second", c.Answers, name, figures[name])
			}
		}
		if len(fitting) == 0 == (len(c.Ways) == 0) {
			t.Fatalf("%+v: %d fit, with %d ways out", c.Answers, len(fitting), len(c.Ways))
		}
		for _, way := range c.Ways {
			slices.Sort(way.Names)
			slices.Sort(way.Then)
			if len(way.Changes) == 0 || len(way.Names) == 0 || !slices.Equal(way.Names, way.Then) {
				t.Fatalf("%+v: after %v fit %v, and %v were promised", c.Answers, way.Changes, way.Then, way.Names)
			}
		}
	}
}

// unfit says what speaks against a strategy, from the matrix itself.
func unfit(c chosen, info catalog.Info, cells map[string]matrixCell) string {
	asked := []string{"oversell", "lost-update", "history"}
	if slices.Contains(c.Answers.Have, "processes") {
		asked = append(asked, "processes")
	}
	for _, q := range c.Answers.Fails {
		if cells[q].Answer != "n/a" {
			asked = append(asked, q)
		}
	}
	for _, q := range asked {
		if cells[q].Answer != "holds" {
			return q + ": " + cells[q].Answer
		}
	}
	if c.Answers.Order && !strings.HasPrefix(cells["order"].Text, "in order") {
		return "order: " + cells["order"].Text
	}
	offer := map[backend.Capability][]string{backend.RowLocks: {"mysql"}, backend.Procedures: {"mysql"},
		backend.SkipLocked: {"mysql"}, backend.Redis: {"redis", "redis5"},
		backend.RedisQuorum: {"redis5"}, backend.ZooKeeper: {"zookeeper"}, backend.Etcd: {"etcd"}}
	for _, need := range info.Needs {
		if need != backend.SQL && !slices.ContainsFunc(offer[need], func(s string) bool { return slices.Contains(c.Answers.Have, s) }) {
			return "needs " + string(need)
		}
	}
	return ""
}

type matrixCell struct{ Answer, Text string }

func readJSON(file string, to any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// chooserData are the cells of the matrix, and the figures that say anything.
func chooserData(t *testing.T) (rows map[string]map[string]matrixCell, figures map[string]float64) {
	var matrix struct {
		Rows []struct {
			Strategy string
			Cells    map[string]matrixCell
		}
	}
	if err := readJSON(filepath.Join(root, "web/guarantees/matrix.json"), &matrix); err != nil {
		t.Fatal(err)
	}
	rows = map[string]map[string]matrixCell{}
	for _, row := range matrix.Rows {
		rows[row.Strategy] = row.Cells
	}
	var measured struct {
		Compare struct {
			Strategies map[string]struct {
				Verdict string
				Sales   []float64 `json:"sales_per_second"`
			}
		} `json:"flash-sale"`
	}
	if err := readJSON(filepath.Join(root, "web/static/figures.json"), &measured); err != nil {
		t.Fatal(err)
	}
	figures = map[string]float64{}
	for name, s := range measured.Compare.Strategies {
		if s.Verdict == "held" {
			figures[name] = s.Sales[0]
		}
	}
	return rows, figures
}

func infoNamed(all []catalog.Info, name string) catalog.Info {
	return all[slices.IndexFunc(all, func(i catalog.Info) bool { return i.Name == name })]
}

// chosenBy runs the module in a folder where node takes it for one.
func chosenBy(t *testing.T, all []catalog.Info) (answered []chosen) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node was not found; run: deploy/deps.sh --tests")
	}
	type listed struct {
		Name  string               `json:"name"`
		Needs []backend.Capability `json:"needs"`
	}
	var list []listed
	for _, info := range all {
		list = append(list, listed{info.Name, append([]backend.Capability{}, info.Needs...)})
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{"package.json": []byte(`{"type": "module"}`), "all.js": []byte(chooseAll), "strategies.json": text}
	for to, from := range map[string]string{"choose/choose.js": "static/choose/choose.js", "guarantees/marks.js": "static/guarantees/marks.js",
		"guarantees/rows.js": "static/guarantees/rows.js", "matrix.json": "guarantees/matrix.json", "figures.json": "static/figures.json"} {
		if files[to], err = os.ReadFile(filepath.Join(root, "web", from)); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), node, "all.js")
	if labtest.Verify {
		cmd.Args = append(cmd.Args, "every")
	}
	var problems strings.Builder
	cmd.Dir, cmd.Stderr = folder, &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, problems.String())
	}
	lines := bufio.NewScanner(strings.NewReader(string(out)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one chosen
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		answered = append(answered, one)
	}
	if want := 64 * 64 * 2; len(answered) < want {
		t.Fatalf("%d combinations of answers, want at least %d", len(answered), want)
	}
	return answered
}
