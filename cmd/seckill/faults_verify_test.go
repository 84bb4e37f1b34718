//go:build verify

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/chaos"
	"seckill/internal/fault"
	"seckill/internal/judge"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
	"seckill/strategies"
)

// This is the sale of TestTwoServicesInTrouble over a Galera cluster, where each service writes at
// its own node. A node is killed, and until it is back, its service uses another node. A session's
// lock is not known at another node, so only the unique key protects the stock.
func TestTwoServicesInTroubleOverGalera(t *testing.T) {
	l := labtest.NewLab(t, lab.Galera, backend.NameMySQL)
	urls, processes := servicesOf(t, l, "--purchase-timeout=3s")
	cluster := labtest.Value(l.Ensemble(t.Context(), backend.NameMySQL)).Must(t)
	in := newTrouble(t, processes)
	for _, config := range labtest.Nodes(t, l) {
		in.nodes = append(in.nodes, labtest.Open(t, config).DB)
	}
	in.restartDatabase = func(ctx context.Context) error {
		killed := cluster.Nodes[in.random.IntN(len(processes))].Kill(ctx)
		_, led := cluster.FindNode(ctx, lab.AnyOne)
		return errors.Join(killed, led, cluster.Repair(ctx))
	}
	fit := slices.DeleteFunc(slices.Clone(sellers),
		func(name string) bool { return strategies.Named(name).Unfit(lab.Galera) != "" })
	in.sellFor(5*time.Minute, loadtest.Config{Targets: urls, AdminToken: l.Token(),
		Scenario: loadtest.Scenario{Stock: 400, Rate: 60, Duration: 15 * time.Second}}, fit)
}

// Every fault takes effect on real servers. What must hold does hold: strategies whose holder
// stands still have other results with fencing than without.
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
				// Over Galera, two sessions hold the lock from the start, so no fault is needed.
				if row.Strategy == "get-lock" && r.Faults[i] == chaos.None &&
					(c.Word == string(judge.Oversold)) != (topology == lab.Galera) {
					t.Errorf("get-lock with topology %s: %s", topology, c.Word)
				}
			}
		}
	}
	for _, known := range fault.All {
		labtest.Same(t, tested[known.Name], true, "a sale tested %s", known.Name)
	}
}

func chaosResult(t *testing.T, flags ...string) (r chaos.Result) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "chaos.json")
	var out, progress bytes.Buffer
	status := runProgram(t.Context(), func() {}, append([]string{"chaos", "--seed", "1", "--json", file}, flags...),
		&out, &progress)
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
