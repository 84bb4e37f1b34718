package main

import (
	"fmt"
	"io"

	"seckill/internal/backend"
	"seckill/internal/catalog"
	"seckill/internal/lab"
)

// TopologyFlag says how the servers of a backend are arranged.
type TopologyFlag struct {
	Topology string `default:"single" enum:"single,cluster,ensemble,sentinel,ring,ring-rehash,galera" env:"SECKILL_TOPOLOGY" help:"How the servers of a lab that is started are arranged: ${enum}."`
}

// warn tells which of the strategies are not right on the topology, and why.
func (t TopologyFlag) warn(stderr io.Writer, chosen ...catalog.Info) {
	for _, info := range chosen {
		if why := info.Unfit(t.Topology); why != "" {
			fmt.Fprintf(stderr, "Warning: %s is not right with --topology %s: %s.\n", info.Name, t.Topology, why)
		}
	}
}

// check rejects flags that exclude each other; elsewhere says why no lab is
// started, if none is.
func (t TopologyFlag) check(elsewhere string, given backend.Config) error {
	if elsewhere != "" && t.Topology != "" && t.Topology != lab.Single {
		return fmt.Errorf("--topology %s is of a lab that is started, and %s", t.Topology, elsewhere)
	}
	return lab.CheckTopology(t.Topology, given)
}
