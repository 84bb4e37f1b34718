//go:build verify

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"seckill/internal/chaos"
	"seckill/internal/fault"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
)

// Every fault takes effect on real servers, and what must hold does: the lock of
// a holder that stands still is told apart from one that is fenced.
func TestChaosOfEveryFault(t *testing.T) {
	tested := map[fault.Name]bool{}
	for topology, strategies := range map[string]string{
		lab.Single:    "conditional,for-update,redis-lua,redlock,zk-fenced,etcd-fenced,naive",
		lab.Ensembles: "zk-fenced,etcd-fenced,naive",
		lab.Sentinel:  "redis-counter,redis-fenced",
		lab.Ring:      "redis-lua,redis-counter-mysql",
		lab.Galera:    "conditional,lock-insert,get-lock",
	} {
		r := chaosResult(t, "--topology", topology, "--strategies", strategies)
		for _, row := range r.Rows {
			for i, c := range row.Cells {
				tested[r.Faults[i]] = tested[r.Faults[i]] || c.Tested()
				// Two hold it from the first moment on: no fault is needed.
				if row.Strategy == "get-lock" && r.Faults[i] == chaos.None && (c.Word == string(judge.Oversold)) != (topology == lab.Galera) {
					t.Errorf("get-lock with topology %s: %s", topology, c.Word)
				}
			}
		}
	}
	for _, known := range fault.All {
		if !tested[known.Name] {
			t.Errorf("%s was tested by no sale", known.Name)
		}
	}
}

func chaosResult(t *testing.T, flags ...string) (r chaos.Result) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chaos.json")
	var out, progress bytes.Buffer
	status := runProgram(t.Context(), func() {}, append([]string{"chaos", "--seed", "1", "--json", file}, flags...), &out, &progress)
	if status != loadtest.ExitHeld {
		t.Errorf("%v: exit status %d:\n%s%s", flags, status, out.String(), progress.String())
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	labtest.Must(t, err)
	return r
}
