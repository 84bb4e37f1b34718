//go:build verify

package prove_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"seckill/internal/lab/labtest"
	"seckill/internal/prove"
)

// Each mutant must fail the question that the original passes. This proves that the question can fail.
func TestQuestionsCatchMutants(t *testing.T) {
	builds := [][]mutant{}
	for _, m := range mutants(t) {
		m.apply(t)
		builds = together(builds, m)
	}
	atOnce := make(chan bool, 2) // a build or a proof keeps one core busy
	for i, build := range builds {
		t.Run(fmt.Sprint("build ", i+1), func(t *testing.T) {
			t.Parallel()
			atOnce <- true
			defer func() { <-atOnce }()
			program := seckill(t, build)
			for _, m := range build {
				t.Run(m.name, func(t *testing.T) { m.prove(t, program) })
			}
		})
	}
}

// together adds a mutant to a build without a mutant of the same family. Families do not import
// each other, so their mutants cannot influence each other. A mutant of shared code is built alone.
func together(builds [][]mutant, m mutant) [][]mutant {
	for i, build := range builds {
		if m.family() != "" && !slices.ContainsFunc(build,
			func(o mutant) bool { return o.family() == "" || o.family() == m.family() }) {
			builds[i] = append(build, m)
			return builds
		}
	}
	return append(builds, []mutant{m})
}

// family returns the folder of the strategies that the mutant changes; "" if it also changes files elsewhere.
func (m *mutant) family() (folder string) {
	for _, h := range m.hunks {
		if of := filepath.Dir(h.file); filepath.Dir(of) != "strategies" || folder != "" && folder != of {
			return ""
		}
		folder = filepath.Dir(h.file)
	}
	return folder
}

// seckill builds the program with the changed files of the mutants.
func seckill(t *testing.T, mutants []mutant) (program string) {
	t.Helper()
	folder := t.TempDir()
	root := labtest.Value(filepath.Abs("../..")).Must(t)
	var names []string
	changed := map[string]string{}
	for _, m := range mutants {
		names = append(names, m.name)
		for file, text := range m.replaced {
			copied := filepath.Join(folder, fmt.Sprint(len(changed), filepath.Ext(file)))
			labtest.Must(t, os.WriteFile(copied, []byte(text), 0o600))
			changed[filepath.Join(root, file)] = copied
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": changed})
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "overlay.json"), overlay, 0o600)
	}
	labtest.Must(t, err)
	program = filepath.Join(folder, "seckill")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(folder, "overlay.json"),
		"-buildvcs=false",
		"-tags", "nomsgpack", "-ldflags=-s -w", "-o", program, "./cmd/seckill") // as make build does
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s do not build: %v\n%s", strings.Join(names, ", "), err, out)
	}
	return program
}

// prove makes the program ask the mutant's question.
func (m *mutant) prove(t *testing.T, program string) {
	ask := exec.CommandContext(t.Context(), program, "prove", "--strategies", strings.Join(m.strategies, ","),
		"--questions", m.question,
		"--schedules", m.schedules, "--workers", "1", "-q", "--json", "-", "--examples", t.TempDir())
	var said, wrong bytes.Buffer
	ask.Stdout, ask.Stderr = &said, &wrong
	ended := ask.Run() // status 10 is expected: the answer differs from the published matrix
	answers, err := prove.ReadMatrix(&said)
	if err != nil {
		t.Fatalf("%v: %v\n%s", ended, err, wrong.Bytes())
	}
	for _, r := range answers.Rows {
		if c := r.Cells[m.question]; c.Answer != prove.Breaks || m.rule != "" && !c.Breaks(m.rule) {
			t.Errorf("%s without %s passes the question %s: %s", r.Strategy, m.removed, m.question, c.Summary())
		} else {
			t.Log(r.Strategy, c.Summary())
		}
	}
}
