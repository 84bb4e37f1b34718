package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
	"seckill/strategies"
)

// A chosen is what the page's chooser makes of one combination of answers.
type chosen struct {
	Answers struct {
		Need        string
		Rate        float64
		Have, Fails []string
		Processes   bool
	}
	Fits []string
	Ways int // answers that are each enough to change, so that something fits
}

// chooseAll evaluates the page's module, which is the same in node, for all
// combinations of answers, each with one rate.
const chooseAll = `
import { addressOf, answersOf, choose, failures, rates, servers, waysOut } from './web/static/choose/choose.js';
import { readFileSync } from 'node:fs';
const [strategies, matrix, figures] = ['strategies', 'web/guarantees/matrix', 'web/static/figures'].map((name) => JSON.parse(readFileSync(name + '.json', 'utf8')));
// Of failures at most two: more only exclude more.
const subsets = (list) => list.reduce((all, one) => all.flatMap((some) => [some, [...some, one]]), [[]]);
const fitting = (answers) => choose(answers, strategies, matrix, figures);
const lines = [];
for (const need of ['stock', 'lock']) for (const processes of [true, false])
  for (const have of subsets(Object.keys(servers))) for (const fails of subsets(failures).filter((some) => some.length <= 2)) {
    const answers = { need, rate: rates[lines.length % rates.length], have, processes, fails };
    if (JSON.stringify(answersOf(addressOf(answers))) !== JSON.stringify(answers)) throw new Error('lost on the way through the address: ' + JSON.stringify(answers));
    const fits = fitting(answers);
    const ways = fits.length ? [] : waysOut(answers, fitting);
    if (ways.some((way) => !way.fits.length)) throw new Error('a way out leads nowhere: ' + JSON.stringify(answers));
    lines.push(JSON.stringify({ answers, fits: fits.map((f) => f.strategy.name), ways: ways.length }));
  }
console.log(lines.join('\n'));
`

func TestChooser(t *testing.T) {
	all := strategies.All()
	answer, figures := matrix(t), salesOf(t)
	usual := ""
	for _, c := range chosenBy(t, all) {
		for _, info := range all {
			why := unfit(c, info, answer, figures[info.Name])
			if fits := slices.Contains(c.Fits, info.Name); fits != (why == "") {
				t.Fatalf("%+v: %s is recommended: %v, and what speaks against it is %q", c.Answers, info.Name, fits, why)
			}
		}
		a := c.Answers
		if a.Need == "stock" && a.Rate == 0 && a.Processes && len(a.Fails) == 0 && slices.Equal(a.Have, []string{"mysql"}) {
			usual = c.Fits[0]
		}
		if a.Need == "lock" && a.Rate == 0 && len(c.Fits) == 0 && c.Ways == 0 && len(a.Fails) < 2 {
			t.Errorf("%+v: nothing fits, and no way out is shown", a)
		}
	}
	if usual != "conditional" { // as README and chapter 12 say
		t.Errorf("the usual answers lead to %q first, want conditional", usual)
	}
}

// unfit says what speaks against a strategy, from the matrix itself.
func unfit(c chosen, info catalog.Info, answer func(strategy, question string) prove.Answer, sales float64) string {
	if info.Broken() || info.Repair != "" {
		return "it is a lesson: another strategy mends it"
	}
	must := []string{"oversell", "lost-update", "other-skus"}
	if c.Answers.Need == "lock" {
		must = append(must, "owner")
	}
	for _, q := range must {
		if a := answer(info.Name, q); a != prove.Holds {
			return fmt.Sprint(q, ": ", a)
		}
	}
	asked := slices.Clone(c.Answers.Fails)
	if c.Answers.Processes {
		asked = append(asked, "processes")
	}
	for _, q := range asked {
		if a := answer(info.Name, q); a != prove.Holds && a != prove.NotAsked {
			return fmt.Sprint(q, ": ", a)
		}
	}
	offer := map[backend.Capability][]string{backend.RowLocks: {"mysql"}, backend.Procedures: {"mysql"},
		backend.SkipLocked: {"mysql"}, backend.Redis: {"redis", "redis5"},
		backend.RedisQuorum: {"redis5"}, backend.ZooKeeper: {"zookeeper"}, backend.Etcd: {"etcd"}}
	for _, need := range info.Needs {
		if need != backend.SQL && !slices.ContainsFunc(offer[need], func(s string) bool { return slices.Contains(c.Answers.Have, s) }) {
			return "needs " + string(need)
		}
	}
	if sales < c.Answers.Rate {
		return "too slow, or not measured"
	}
	return ""
}

// salesOf are the sales per second of sales of a hot row that held.
func salesOf(t *testing.T) map[string]float64 {
	t.Helper()
	var measured struct {
		Compare struct {
			Strategies map[string]struct {
				Verdict string
				Sales   []float64 `json:"sales_per_second"`
			}
		} `json:"hot-row"`
	}
	labtest.Must(t, json.Unmarshal([]byte(page(t, "web/static/figures.json")), &measured))
	figures := map[string]float64{}
	for name, s := range measured.Compare.Strategies {
		if s.Verdict == "held" {
			figures[name] = s.Sales[0]
		}
	}
	return figures
}

// chosenBy runs the module in a folder where node takes it for one.
func chosenBy(t *testing.T, all []catalog.Info) (answered []chosen) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("node was not found; run: deploy/deps.sh --tests")
	}
	type listed struct {
		Name   string               `json:"name"`
		Family string               `json:"family"`
		Needs  []backend.Capability `json:"needs"`
		Broken bool                 `json:"broken"`
		Repair string               `json:"repair"`
	}
	var list []listed
	for _, i := range all {
		list = append(list, listed{i.Name, i.Family, append([]backend.Capability{}, i.Needs...), i.Broken(), i.Repair})
	}
	text, err := json.Marshal(list)
	labtest.Must(t, err)
	folder := t.TempDir()
	web, err := filepath.Abs(filepath.Join(root, "web"))
	if err == nil {
		err = os.Symlink(web, filepath.Join(folder, "web"))
	}
	for name, text := range map[string]string{"package.json": `{"type": "module"}`, "all.js": chooseAll, "strategies.json": string(text)} {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	labtest.Must(t, err)
	cmd := exec.CommandContext(t.Context(), node, "--preserve-symlinks", "all.js")
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
		labtest.Must(t, json.Unmarshal(lines.Bytes(), &one))
		answered = append(answered, one)
	}
	if want := 2 * 2 * 32 * (1 + 6 + 15); len(answered) != want {
		t.Fatalf("%d combinations of answers, want %d", len(answered), want)
	}
	return answered
}
