//go:build verify

package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"seckill/internal/backend"
	"seckill/internal/lab"
	"seckill/internal/lab/labtest"
	"seckill/loadtest"
	"seckill/strategies"
)

// The same trouble while each service writes at its own node of a Galera cluster. A node
// is killed, and its service comes in by another until that node is back. No lock of a
// session counts at another node, so it is the unique key that decides.
func TestTwoServicesInTroubleOverGalera(t *testing.T) {
	l := labtest.NewLab(t, lab.Galera, backend.NameMySQL)
	urls, processes := servicesOf(t, l, "--purchase-timeout=3s")
	cluster, err := l.Ensemble(t.Context(), backend.NameMySQL)
	labtest.Must(t, err)
	in := newTrouble(t, processes)
	for _, config := range labtest.Nodes(t, l) {
		in.nodes = append(in.nodes, labtest.Open(t, config).DB)
	}
	in.restartDatabase = func(ctx context.Context) error {
		killed := cluster.Nodes[in.random.IntN(len(processes))].Kill(ctx)
		_, led := cluster.FindNode(ctx, lab.AnyOne)
		return errors.Join(killed, led, cluster.Repair(ctx))
	}
	fit := slices.DeleteFunc(slices.Clone(sellers), func(name string) bool { return strategies.Named(name).Unfit(lab.Galera) != "" })
	in.sellFor(5*time.Minute, loadtest.Config{Targets: urls, AdminToken: l.Token(),
		Scenario: loadtest.Scenario{Stock: 400, Rate: 60, Duration: 15 * time.Second}}, fit)
}
