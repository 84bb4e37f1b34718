package catalog

import (
	"slices"

	"seckill/internal/backend"
)

// Arrangements of a backend's servers on which some strategies are not right, by
// the names that the lab's topologies have.
const (
	onGalera   = "galera"
	onSentinel = "sentinel"
)

// Unfit says why the strategy is not right where the servers stand to each other
// like this; "" if nothing is known against it.
func (i Info) Unfit(topology string) string {
	switch {
	case topology == onGalera && i.OneNode:
		return "its lock is local to one node of the database, and buyers come to several: two hold it at once, and it oversells"
	case topology == onSentinel && slices.Contains(i.Needs, backend.Redis) && i.Guarantees[NodeLoss] == Breaks:
		return "a failover of Redis forgets what no replica has yet: a lock is granted twice, or a count goes back"
	}
	return ""
}

// UnfitOn are the topologies on which the strategy is not right.
func (i Info) UnfitOn() []string {
	on := []string{}
	for _, topology := range []string{onGalera, onSentinel} {
		if i.Unfit(topology) != "" {
			on = append(on, topology)
		}
	}
	return on
}
