//go:build verify && unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"seckill/internal/chaos"
	"seckill/internal/fault"
)

// Every fault takes effect on real servers, and what must hold does: the lock of
// a holder that stands still is told apart from one that is fenced.
func TestChaosOfEveryFault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "chaos.json")
	var out, progress bytes.Buffer
	status := run(t.Context(), func() {}, []string{"chaos", "--strategies", "conditional,redis-lua,zk-fenced,etcd-fenced,naive",
		"--seed", "1", "--json", file, "--html="}, &out, &progress)
	if status != chaos.ExitAsKnown {
		t.Errorf("exit status %d:\n%s%s", status, out.String(), progress.String())
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := chaos.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range fault.All {
		tested := 0
		for _, c := range r.Cells {
			if c.Fault == known.Name && c.Tested() {
				tested++
			}
		}
		if tested == 0 {
			t.Errorf("%s was tested by no sale:\n%s", known.Name, out.String())
		}
	}
}
