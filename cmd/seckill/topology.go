package main

import (
	"errors"

	"seckill/internal/backend"
	"seckill/internal/lab"
)

// TopologyFlag says how the servers of a backend are arranged.
type TopologyFlag struct {
	Topology string `default:"single" enum:"single,cluster" env:"SECKILL_TOPOLOGY" help:"How the servers of a lab that is started stand to each other: ${enum}. cluster: Redis is a Cluster of six."`
}

// check rejects flags that exclude each other; elsewhere says why no lab is
// started, if none is.
func (t TopologyFlag) check(elsewhere string, given backend.Config) error {
	switch {
	case t.Topology != lab.Cluster:
		return nil
	case elsewhere != "":
		return errors.New("--topology cluster is of a lab that is started, and " + elsewhere)
	case len(given.RedisAddrs) > 0:
		return errors.New("--topology cluster starts six Redis servers, and --redis-addrs names others: " +
			"leave out one of them (several --redis-addrs are used as a Cluster as they are)")
	}
	return nil
}
